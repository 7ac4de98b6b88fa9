import NearbyCore
import NearbyWire

/// What comes in, from the first byte of a datagram to the machine that it is for.
extension Node {
    /// Every datagram enters here: from a link, or out of a mesh packet addressed to us.
    mutating func received(
        _ bytes: [UInt8], _ arrival: Arrival, isMulticast: Bool, _ now: Instant
    ) {
        guard let first = bytes.first else { return }
        switch DatagramKind(firstByte: first) {
        case .discovery:
            guard case .link(let endpoint) = arrival.path else {
                return drops.count(.frameWrongLink)
            }
            discoveryFrameReceived(bytes, from: endpoint, isMulticast: isMulticast, now)
        case _ where isMulticast: drops.count(.frameUnknownType)
        case .sealed: sealedFrameReceived(bytes, arrival, now)
        case .handshake: envelopeReceived(bytes, arrival, now)
        case .record:
            guard case .link = arrival.path else { return drops.count(.frameWrongLink) }
            let key = Channel.AttemptKey(path: arrival.path, attempt: nil, isClient: false)
            recordsReceived(bytes[...], key, introduction: nil, arrival, now)
        case .unknownChannel: unknownChannelHint(bytes, from: arrival.path, now)
        case .unknown: drops.count(.frameUnknownType)
        }
    }

    // MARK: Handshakes

    private mutating func envelopeReceived(
        _ bytes: [UInt8], _ arrival: Arrival, _ now: Instant
    ) {
        guard let envelope = try? HandshakeEnvelope(parsing: bytes[...]) else {
            return drops.count(.handshakeMalformed)
        }
        let key = Channel.AttemptKey(
            path: arrival.path, attempt: envelope.attempt, isClient: envelope.isFromServer)
        recordsReceived(envelope.records, key, introduction: envelope.introduction, arrival, now)
    }

    private mutating func recordsReceived(
        _ records: ArraySlice<UInt8>, _ key: Channel.AttemptKey,
        introduction: HandshakeEnvelope.Introduction?, _ arrival: Arrival, _ now: Instant
    ) {
        var isExpected = false
        if !key.isClient, !channels.isKnown(key) {
            if let reason = refusal(ofHandshakeOver: key.path) { return drops.count(reason) }
            let known = introduction.flatMap { discovery.sighting(of: $0.peer) }?.endpoints ?? []
            isExpected = key.path.endpoint.map(known.contains) ?? false
        }
        tellChannels(
            .handshake(
                records, key, introduction, firstHop: arrival.firstHop, isExpected: isExpected),
            now)
    }

    /// Why a handshake that comes out of the mesh is not answered; nil for those that are.
    ///
    /// Agents and relays call collectors and viewers, and nobody calls them. Whoever stands between
    /// can invent callers: each first hop fills a share of the table.
    private func refusal(ofHandshakeOver path: Path) -> DropReason? {
        guard case .mesh(let source) = path else { return nil }
        guard configuration.role.collects else { return .invitationOverMesh }
        guard channels.count >= Limits.channelShareMax else { return nil }
        let hop = routing.nextHop(to: source)
        let share = channels.count { channel in
            guard case .mesh(let other) = channel.key.path else { return false }
            return routing.nextHop(to: other) == hop
        }
        return share < Limits.channelShareMax ? nil : .channelShareFull
    }

    // MARK: Sealed frames

    private mutating func sealedFrameReceived(
        _ bytes: [UInt8], _ arrival: Arrival, _ now: Instant
    ) {
        switch channels.open(bytes, now: now) {
        case .frame(let payload, let channel, let header):
            var arrival = arrival
            arrival.counter = header.counter
            arrival.priority = header.priority
            received(payload, on: channel, arrival, now)
        case .unknownChannel(let index):
            drops.count(.frameUnknownChannel)
            unknownChannel(index, from: arrival.path, now)
        case .refused(let reason): drops.count(reason)
        case .early: break
        }
    }

    /// One frame, opened: `payload` begins with its kind.
    mutating func received(
        _ payload: ArraySlice<UInt8>, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        let frame: Frame
        do throws(Frame.Refusal) {
            frame = try Frame(parsing: payload)
        } catch {
            return drops.count(error.reason)
        }
        switch frame {
        case .channel(let frame): received(frame, on: channel, arrival, now)
        case _ where channel.peerTerms == nil || channel.stage == .admitting && !channel.isClient:
            drops.count(.frameNotAdmitted)
        case _ where channel.stage == .admitting:
            // The server sends traffic only once it has accepted: its decision was lost.
            let decision = DecisionFrame(verdict: .accepted, retryAfter: .zero)
            tellChannels(.admission(.decision(decision), channel), now)
            guard channel.stage == .open else { return drops.count(.frameNotAdmitted) }
            // Once the channel is in use.
            work.add(.frame(payload, on: channel, arrival))
        case .hop(let frame): received(frame, on: channel, arrival, now)
        case .endToEnd(let frame): received(frame, on: channel, arrival, now)
        }
    }

    private mutating func received(
        _ frame: ChannelFrame, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        switch frame {
        case .admit(let frame): tellChannels(.admission(.admit(frame), channel), now)
        case .invite(let frame): tellChannels(.admission(.invite(frame), channel), now)
        case .decision(let frame): tellChannels(.admission(.decision(frame), channel), now)
        case .close(let frame): closeReceived(frame, on: channel, now)
        case .path(let frame) where frame.isResponse:
            pathResponse(frame, on: channel, from: arrival.path, now)
        case .path(let frame):
            if let endpoint = arrival.path.endpoint, let association = peers[over: channel],
                let neighbour = peers.neighbour(association.peer)
            {
                tell(neighbour, .heard(way(to: endpoint)), now)
            }
            let response = PathFrame(isResponse: true, token: frame.token)
            send(response.bytes, on: channel, over: arrival.path, now)
        }
    }

    private mutating func received(
        _ frame: HopFrame, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        // A hop counts only on a link between the two: never out of a mesh packet.
        guard case .link(let endpoint) = arrival.path, let peer = channel.peer else {
            return drops.count(.frameWrongLink)
        }
        guard let neighbour = peers.neighbour(peer) else {
            return challenge(channel, at: endpoint, now)
        }
        let way = way(to: endpoint)
        tell(neighbour, .heard(way), now)
        switch frame {
        case .liveness(let frame): tell(neighbour, .received(frame, from: way), now)
        case .empty: tell(neighbour, .frameReceived(isData: false), now)
        case .routing(let message):
            tell(neighbour, .frameReceived(isData: true), now)
            work.add(
                .routingReceived(message, from: peer, on: channel, counter: arrival.counter))
        case .packet(let packet):
            tell(neighbour, .frameReceived(isData: true), now)
            packetReceived(packet, from: peer, now)
        case .bundle(let bundle):
            tell(neighbour, .frameReceived(isData: true), now)
            for frame in bundle.frames { work.add(.frame(frame, on: channel, arrival)) }
        }
    }

    private mutating func received(
        _ frame: EndToEndFrame, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        guard let peer = channel.peer, let association = peers[peer] else {
            return drops.count(.frameNotAdmitted)
        }
        if case .link(let endpoint) = arrival.path {
            if let neighbour = peers.neighbour(peer) {
                tell(neighbour, .heard(way(to: endpoint)), now)
                tell(neighbour, .frameReceived(isData: true), now)
            } else {
                challenge(channel, at: endpoint, now)
            }
        }
        book.heard(peer, hops: arrival.hops)
        // A frame that was under way on the replaced channel belongs to the old session.
        guard association.token == channel.token || frame.isMessage else { return }
        tell(association, .received(frame), hops: arrival.hops, now)
    }
}

extension Frame.Refusal {
    var reason: DropReason {
        switch self {
        case .unknownKind: .frameUnknownType
        case .malformed(.routing): .routingMalformed
        case .malformed(.packet): .packetMalformed
        case .malformed(.segment), .malformed(.acknowledgement): .messageMalformed
        case .malformed: .frameMalformed
        }
    }
}

extension Limits {
    /// Channels over the mesh whose frames leave by the same neighbour: half of all.
    static let channelShareMax = channelsMax / 2
}

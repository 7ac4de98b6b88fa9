import NearbyCore
import NearbyWire

/// Datagrams, and what becomes of channels.
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
            let known = introduction.flatMap { sightings[$0.peer] }?.endpoints ?? []
            isExpected = key.path.endpoint.map(known.contains) ?? false
        }
        interpret(
            channels.handle(
                .handshake(
                    records, key, introduction, firstHop: arrival.firstHop,
                    isExpected: isExpected), now: now), now)
    }

    /// Begins a handshake with a peer at one of its addresses, or over the mesh.
    mutating func beginHandshake(
        with peer: PeerID, over path: Path, attemptNumber: UInt16, _ now: Instant
    ) {
        let nonce = UInt32(truncatingIfNeeded: random.next())
        interpret(
            channels.handle(
                .invite(peer, over: path, attempt: attemptNumber, nonce: nonce), now: now), now)
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
            payloadReceived(payload, on: channel, arrival, now)
        case .unknownChannel(let index):
            drops.count(.frameUnknownChannel)
            unknownChannel(index, from: arrival.path, now)
        case .refused(let reason): drops.count(reason)
        case .early: break
        }
    }

    /// One frame, opened: `payload` begins with its kind.
    mutating func payloadReceived(
        _ payload: ArraySlice<UInt8>, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        do throws(Frame.Refusal) {
            received(try Frame(parsing: payload), on: channel, arrival, now)
        } catch {
            drops.count(error.reason)
        }
    }

    private mutating func received(
        _ frame: Frame, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        switch frame {
        case .channel(let frame): channelFrameReceived(frame, on: channel, arrival, now)
        case _ where channel.peerTerms == nil || channel.stage == .admitting && !channel.isClient:
            drops.count(.frameNotAdmitted)
        case _ where channel.stage == .admitting:
            // The server sends traffic only once it has accepted: its decision was lost.
            let decision = DecisionFrame(verdict: .accepted, retryAfter: .zero)
            advance(channel, .decision(decision), now)
            guard channel.stage == .open else { return drops.count(.frameNotAdmitted) }
            received(frame, on: channel, arrival, now)
        case .hop(let frame): hopFrameReceived(frame, on: channel, arrival, now)
        case .endToEnd(let frame): sessionFrameReceived(frame, on: channel, arrival, now)
        }
    }

    private mutating func channelFrameReceived(
        _ frame: ChannelFrame, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        switch frame {
        case .admit(let frame): advance(channel, .admit(frame), now)
        case .invite(let frame): advance(channel, .invite(frame), now)
        case .decision(let frame): advance(channel, .decision(frame), now)
        case .close(let frame): closeReceived(frame, on: channel, now)
        case .path(let frame) where frame.isResponse:
            pathResponse(frame, on: channel, from: arrival.path, now)
        case .path(let frame):
            if let endpoint = arrival.path.endpoint, let association = association(over: channel),
                let neighbour = neighbours[association.peer]
            {
                heard(neighbour, at: endpoint, now)
            }
            let response = PathFrame(isResponse: true, token: frame.token)
            send(response.bytes, on: channel, over: arrival.path, now)
        }
    }

    /// Seals a frame on this very channel and sends it over a path of its own, past all queues.
    mutating func send(_ payload: [UInt8], on channel: Channel, over path: Path, _ now: Instant) {
        guard let datagram = seal(payload, on: channel, .control, now) else { return }
        transmit(datagram, over: path, now)
    }

    /// A datagram on its way: straight out on a link, or into a mesh packet at control priority.
    mutating func transmit(_ datagram: [UInt8], over path: Path, _ now: Instant) {
        switch path {
        case .link(let endpoint): transmit(.unicast(datagram, to: endpoint))
        case .mesh(let destination): originate(datagram, to: destination, .control, now)
        }
    }

    // MARK: What becomes of channels

    private mutating func advance(
        _ channel: Channel, _ input: AdmissionMachine.Input, _ now: Instant
    ) {
        interpret(channels.handle(.admission(input, channel), now: now), now)
    }

    mutating func interpret(_ steps: [ChannelMachine.Output], _ now: Instant) {
        for step in steps {
            switch step {
            case .transmit(let datagram, let path): transmit(datagram, over: path, now)
            case .connecting(let peer):
                if associations[peer] == nil, peer != own { tell(.peer(peer, .connecting)) }
            case .progress(let peer, let attempt):
                interpret(invitation.handle(.progress(peer, attempt), now: now), now)
            case .handshakeSeen(let introduction):
                interpret(
                    invitation.handle(
                        .handshakeSeen(
                            from: introduction.peer, run: introduction.run,
                            attempt: introduction.attempt),
                        now: now), now)
            case .keyed(let channel): keyed(channel, now)
            case .invited(let channel):
                advance(channel, .decide(verdict(for: channel, now)), now)
            case .opened(let channel): opened(channel, now)
            case .declined(let channel, let decision): declined(channel, decision, now)
            case .failed(let channel, let reason, let text): failed(channel, reason, text, now)
            case .ownIdentity(let endpoint): tell(.notice(.ownIdentityElsewhere(endpoint)))
            case .drop(let reason): drops.count(reason)
            case .drops(let counters): drops.add(counters)
            }
        }
    }

    private mutating func keyed(_ channel: Channel, _ now: Instant) {
        if let peer = channel.peer, let holder = peersByShortID[peer.short], holder != peer {
            return interpret(
                channels.fail(
                    channel, .admissionShortIDTaken, "\(holder) has the same first 8 bytes"), now)
        }
        interpret(
            channels.admit(
                channel, hasRoute: hasRouteToCollector, neighbourCount: neighbours.count, now: now),
            now)
    }

    private mutating func failed(
        _ channel: Channel, _ reason: DropReason, _ text: String, _ now: Instant
    ) {
        let peer = channel.peer ?? channel.expectedPeer
        if let peer, let endpoint = channel.path.endpoint, let cause = RefusedNode.Cause(reason) {
            refuse(peer, at: endpoint, cause, now)
        } else {
            tell(.notice(.refused(peer, reason, at: channel.path.endpoint, text: text)))
        }
        guard let peer else { return }
        if associations[peer] == nil { tell(.peer(peer, .notConnected)) }
        if channel.isClient, channel.key.path.endpoint != nil {
            interpret(invitation.handle(.failed(peer, channel.attemptNumber), now: now), now)
        }
    }

    /// A neighbour needs a place in our table; over the mesh only collectors and viewers are
    /// called.
    private mutating func verdict(for channel: Channel, _ now: Instant) -> DecisionFrame {
        guard let peer = channel.peer, let terms = channel.peerTerms, channel.path.endpoint != nil,
            neighbours[peer] == nil
        else { return DecisionFrame(verdict: .accepted, retryAfter: .zero) }
        let (routing, collectors) = (routing, configuration.collectors)
        let (decision, steps) = invitation.decision(
            forInvitationFrom: peer, hasRoute: terms.hasRoute,
            neighbourCount: Int(terms.neighbourCount),
            reach: { routing.reach(via: $0, collectors: collectors) }, now: now)
        interpret(steps, now)
        return decision
    }

    private mutating func declined(_ channel: Channel, _ decision: DecisionFrame, _ now: Instant) {
        guard let peer = channel.peer else { return }
        if associations[peer] == nil { tell(.peer(peer, .notConnected)) }
        guard channel.isClient, channel.path.endpoint != nil else { return }
        interpret(
            invitation.handle(
                .declined(peer, channel.attemptNumber, retryAfter: decision.retryAfter), now: now),
            now)
    }

    private mutating func opened(_ channel: Channel, _ now: Instant) {
        guard let peer = channel.peer, let terms = channel.peerTerms else { return }
        peersByShortID[peer.short] = peer
        refused.remove(peer)
        book.met(peer, terms, now: now)
        guard channel.path.endpoint != nil else { return use(channel, now) }
        interpret(
            invitation.handle(
                .admitted(
                    channel.token, peer: peer, run: terms.run, attempt: channel.attemptNumber,
                    weAreClient: channel.isClient),
                now: now), now)
    }

    // MARK: Which channel is in use

    /// From now on the peer's traffic goes over this channel; what was unacknowledged goes again.
    mutating func use(_ channel: Channel, _ now: Instant) {
        guard let peer = channel.peer else { return }
        let previous = associations[peer]
        if previous?.token == channel.token { return }
        if let previous, let current = channels[previous.token],
            outlasts(current, previous, channel, now)
        {
            channel.stage = .closing(at: now + Limits.replacedChannelTime)
            return
        }
        if let previous, channels[previous.token]?.peerTerms?.run != channel.peerTerms?.run {
            forgetNeighbour(peer, now)
        }
        let association = Association(
            peer: peer, token: channel.token, session: SessionMachine(),
            rekeyAt: now + configuration.rekeyAfter, timers: timers, now: now)
        associations[peer] = association
        remember(peer, run: channel.peerTerms?.run)
        calls[peer]?.nextAttempt = nil
        calls[peer]?.attempts = 0
        association.firstHop =
            neighbours[peer] == nil ? routing.nextHop(to: peer.short) : peer
        if let endpoint = channel.path.endpoint {
            adopt(peer, at: endpoint, channel, now, isNew: true)
        }
        if let previous {
            for message in previous.session.takeUnacknowledged() {
                sendNumbered(message, to: peer, now)
            }
            if let old = channels[previous.token] {
                old.stage = .closing(at: now + Limits.replacedChannelTime)
            }
        } else {
            tell(.peer(peer, .connected))
        }
        checkRole(of: peer, now)
        announceAddressees(now)
    }

    /// The numbering of reliable messages outlives channels; a full table forgets those that are
    /// gone.
    private mutating func remember(_ peer: PeerID, run: RunID?) {
        if reliableNumbers.count >= Limits.channelsMax {
            reliableNumbers = reliableNumbers.filter { associations[$0.key] != nil }
        }
        if let run { reliableNumbers[peer, default: ReliableNumbers()].connected(to: run) }
    }

    /// A channel that began on a link and one that began over the mesh at the same time: both sides
    /// keep the former, in whatever order they were opened. Not one that the other side said it has
    /// lost: the new channel is our answer to that.
    private func outlasts(
        _ current: Channel, _ association: Association, _ new: Channel, _ now: Instant
    ) -> Bool {
        if let renewedAt = calls[association.peer]?.renewedAt, renewedAt >= association.openedAt {
            return false
        }
        return current.stage == .open && current.key.path.endpoint != nil
            && new.key.path.endpoint == nil && current.peerTerms?.run == new.peerTerms?.run
            && now - association.openedAt < Limits.invitationTimeout
    }

    mutating func close(_ channel: Channel, _ reason: CloseFrame.Reason, _ now: Instant) {
        if channel.seal != nil {
            send(CloseFrame(reason: reason).bytes, on: channel, over: channel.path, now)
        }
        channels.remove(channel)
        if let peer = channel.peer, associations[peer]?.token == channel.token {
            dissociate(peer, now)
        }
    }

    private mutating func closeReceived(_ frame: CloseFrame, on channel: Channel, _ now: Instant) {
        switch channel.stage {
        case .handshaking, .admitting:
            let reason = frame.reason.dropReason
            interpret(
                channels.fail(
                    channel, reason, "the other side refused: \(reason.explanation)"), now)
        case .open, .closing:
            channels.remove(channel)
            interpret(invitation.handle(.channelClosed(channel.token), now: now), now)
            if let peer = channel.peer, associations[peer]?.token == channel.token {
                dissociate(peer, now)
            }
        }
    }

    /// The peer is gone: its hop, its session and its state in the tie-break.
    mutating func dissociate(_ peer: PeerID, _ now: Instant) {
        guard associations.removeValue(forKey: peer) != nil else { return }
        if neighbours[peer] != nil { neighbourLost(peer, now) }
        peersByShortID[peer.short] = nil
        tell(.peer(peer, .notConnected))
        announceAddressees(now)
        callAgain(peer, now)
    }

    mutating func channelDeadlineReached(_ token: ChannelToken, _ now: Instant) {
        guard let channel = channels[token] else { return }
        let peer = channel.isClient && !channel.isAnswered ? channel.expectedPeer : nil
        let steps = channels.handle(
            .deadlineReached(token, reachable: peer.map { reachable($0) } ?? []), now: now)
        interpret(steps, now)
    }

    /// A frame for a channel that we do not have: its sender believes in a peer that restarted. It
    /// is told: over a link by a nudge, over the mesh each in its turn.
    private mutating func unknownChannel(_ index: UInt32, from path: Path, _ now: Instant) {
        switch path {
        case .link(let endpoint):
            nudge(endpoint, attempt: nil, now)
        case .mesh(let source):
            guard unknownChannels.mayTell(source, now: now) else { return }
            originate(UnknownChannelHint(index: index).bytes, to: source, .control, now)
        }
    }
}

extension CloseFrame.Reason {
    var dropReason: DropReason {
        switch self {
        case .wrongSecret, .notAdmitted: .admissionSecret
        case .version: .admissionVersion
        case .preference: .admissionPreference
        case .shortIDTaken: .admissionShortIDTaken
        case .leaving, .replaced, .dropped: .handshakeFailed
        }
    }
}

extension DropReason {
    /// What to do about a refusal, for people.
    var explanation: String {
        switch self {
        case .admissionSecret: "the network secrets differ: put the same secret on both nodes"
        case .admissionVersion: "no common wire version: update the older node"
        case .admissionPreference: "one side requires encryption, the other refuses it"
        case .admissionTimeout: "the handshake was right, but no proof of the network secret came"
        case .invitationTimeout: "the invitation was not answered in time"
        case .admissionShortIDTaken: "another peer has the same first 8 bytes of its PeerID"
        default: rawValue
        }
    }
}

extension Limits {
    public static let invitationTimeout = Duration.seconds(30)
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

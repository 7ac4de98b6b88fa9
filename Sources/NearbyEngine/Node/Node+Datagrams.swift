import NearbyCore
import NearbyWire

/// What comes in, from the first byte of a datagram to the machine that it is for.
extension Node {
    /// Every datagram enters here: from a link, or out of a mesh packet addressed to us.
    func received(_ bytes: [UInt8], _ arrival: Arrival, isMulticast: Bool, _ now: Instant) {
        guard let first = bytes.first else { return }
        switch DatagramKind(firstByte: first) {
        case .discovery:
            guard case .link(let endpoint) = arrival.path else {
                return outbox.drop(.frameWrongLink)
            }
            tellRendezvous(.datagram(bytes, from: endpoint, isMulticast: isMulticast), now)
        case _ where isMulticast: outbox.drop(.frameUnknownType)
        case .sealed: sealedFrameReceived(bytes, arrival, now)
        case .handshake: tellChannels(.handshake(bytes, arrival, isBare: false), now)
        case .record: tellChannels(.handshake(bytes, arrival, isBare: true), now)
        case .unknownChannel: unknownChannelHint(bytes, from: arrival.path, now)
        case .echo, .unknown: outbox.drop(.frameUnknownType)
        }
    }

    // MARK: Sealed frames

    private func sealedFrameReceived(_ bytes: [UInt8], _ arrival: Arrival, _ now: Instant) {
        switch open(bytes, now) {
        case .frame(let payload, let channel, let header):
            var arrival = arrival
            arrival.counter = header.counter
            arrival.priority = header.priority
            received(payload, on: channel, arrival, now)
        case .unknownChannel(let index):
            outbox.drop(.frameUnknownChannel)
            unknownChannel(index, from: arrival.path, now)
        case .refused(let reason): outbox.drop(reason)
        case .early: break
        }
    }

    /// One frame, opened: `payload` begins with its kind.
    func received(
        _ payload: ArraySlice<UInt8>, on channel: PeerChannel, _ arrival: Arrival, _ now: Instant
    ) {
        let frame: Frame
        do throws(Frame.Refusal) {
            frame = try Frame(parsing: payload)
        } catch {
            return outbox.drop(error.reason)
        }
        switch frame {
        case .channel(let frame): received(frame, on: channel, arrival, now)
        case _ where channel.peerTerms == nil || channel.stage == .admitting && !channel.isClient:
            outbox.drop(.frameNotAdmitted)
        case _ where channel.stage == .admitting:
            // The server sends traffic only once it has accepted: its decision was lost.
            let decision = DecisionFrame(verdict: .accepted, retryAfter: .zero)
            tellChannels(.admission(.decision(decision), channel), now)
            guard channel.stage == .open else { return outbox.drop(.frameNotAdmitted) }
            // Once the channel is in use.
            work.add(.frame(payload, on: channel, arrival))
        case .hop(let frame):
            tell(.hopFrame(frame, on: channel, arrival), now)
            // Not by way of an output: a twentieth of a relay's instructions.
            if case .packet(let packet) = frame, let hop = peers.hop(of: channel, arrival) {
                packetReceived(packet, from: hop.peer, now)
            }
        case .endToEnd(let frame): tell(.endToEndFrame(frame, on: channel, arrival), now)
        }
    }

    private func received(
        _ frame: ChannelFrame, on channel: PeerChannel, _ arrival: Arrival, _ now: Instant
    ) {
        switch frame {
        case .admit(let frame): tellChannels(.admission(.admit(frame), channel), now)
        case .invite(let frame): tellChannels(.admission(.invite(frame), channel), now)
        case .decision(let frame): tellChannels(.admission(.decision(frame), channel), now)
        case .close(let frame): tellChannels(.closeReceived(frame, channel), now)
        case .path(let frame) where echoes.awaits(frame, by: channel.peer):
            tellEchoes(.answered(frame, by: channel.peer, hops: arrival.hops), now)
        case .path(let frame): tell(.pathFrame(frame, on: channel, arrival), now)
        }
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

import NearbyCore
import NearbyWire

/// From keys to an open channel, and the frames that a channel sends for itself.
extension ChannelMachine {
    /// Says what we are to a peer whose handshake is finished.
    mutating func admit(
        _ channel: Channel, hasRoute: Bool, neighbourCount: Int, now: Instant
    ) -> [Output] {
        guard let peer = channel.peer else { return [] }
        var terms = terms
        terms.hasRoute = hasRoute
        terms.neighbourCount = UInt8(clamping: neighbourCount)
        channel.admission = AdmissionMachine(
            .init(own: own, peer: peer, isClient: channel.isClient, binding: channel.binding),
            terms: terms,
            invitation: InviteFrame(timeout: Limits.invitationTimeout, context: []),
            cryptography: cryptography)
        channel.binding = []
        return advance(channel, .start, now)
    }

    mutating func advance(
        _ channel: Channel, _ input: AdmissionMachine.Input, _ now: Instant
    ) -> [Output] {
        guard let steps = channel.admission?.handle(input, now: now) else { return [] }
        return steps.flatMap { step in
            switch step {
            case .send(let frame): return send(frame, on: channel)
            case .admitted(let terms, let isEncrypted):
                admitted(channel, terms, isEncrypted: isEncrypted)
                return []
            case .invited: return [.invited(channel)]
            case .accepted:
                channel.stage = .open
                return [.opened(channel)]
            case .declined(let decision):
                remove(channel)
                return [.declined(channel, decision)]
            case .refused(let reason, let tell):
                let close = tell.map { send(CloseFrame(reason: $0).bytes, on: channel) } ?? []
                return close + fail(channel, reason, reason.explanation)
            }
        }
    }

    /// Sealed at control priority, over the channel's own path.
    private func send(_ payload: [UInt8], on channel: Channel) -> [Output] {
        guard let datagram = channel.seal?.seal(payload, priority: .control) else {
            return [.drop(.sealExhausted)]
        }
        return [.transmit(datagram, over: channel.path)]
    }
}

import NearbyCore
import NearbyWire

/// Messages end to end.
extension Node {
    mutating func sendUnreliable(
        _ message: [UInt8], to peer: PeerID, _ priority: Priority, _ now: Instant
    ) {
        guard let association = associations[peer] else { return drops.count(.packetNoRoute) }
        interpret(
            association.session.handle(.sendUnreliable(message, priority), now: now),
            of: association, now)
    }

    mutating func sendReliable(_ message: [UInt8], to peer: PeerID, _ now: Instant) {
        guard associations[peer] != nil else { return drops.count(.packetNoRoute) }
        sendNumbered(
            reliableNumbers[peer, default: ReliableNumbers()].numbered(message), to: peer, now)
    }

    /// A message that has its number, also one that was under way on a replaced channel.
    mutating func sendNumbered(_ message: [UInt8], to peer: PeerID, _ now: Instant) {
        guard let association = associations[peer] else { return }
        interpret(
            association.session.handle(.sendReliable(message), now: now), of: association, now)
    }

    mutating func sessionFrameReceived(
        _ frame: EndToEndFrame, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        guard let peer = channel.peer, let association = associations[peer] else {
            return drops.count(.frameNotAdmitted)
        }
        if case .link(let endpoint) = arrival.path {
            if let neighbour = neighbours[peer] {
                heard(neighbour, at: endpoint, now)
                heard(neighbour, carriesData: true, now)
            } else {
                challenge(channel, at: endpoint, now)
            }
        }
        book.heard(peer, hops: arrival.hops)
        // A frame that was under way on the replaced channel belongs to the old session.
        guard association.token == channel.token || frame.isMessage else { return }
        interpret(
            association.session.handle(.received(frame), now: now), of: association,
            hops: arrival.hops, now)
    }

    /// - Parameter hops: links that what is delivered has crossed.
    private mutating func interpret(
        _ steps: [SessionMachine.Output], of association: Association, hops: Int = 1,
        _ now: Instant
    ) {
        for step in steps {
            switch step {
            case .frame(let payload, let priority):
                enqueue(payload, to: association.peer, priority, now)
            case .delivered(let message, let isReliable):
                deliver(message, from: association.peer, isReliable: isReliable, hops: hops)
            case .drop(let reason): drops.count(reason)
            case .broken:
                if let channel = channels[association.token] { close(channel, .dropped, now) }
            }
        }
    }

    /// That whose traffic this channel carries.
    func association(over channel: Channel) -> Association? {
        guard let peer = channel.peer, let association = associations[peer],
            association.token == channel.token
        else { return nil }
        return association
    }

    /// What was measured on the old way says nothing of the new one.
    mutating func wayChanged(of association: Association, to hop: PeerID?, _ now: Instant) {
        guard let hop, hop != association.firstHop else { return }
        let isFirst = association.firstHop == nil
        association.firstHop = hop
        guard !isFirst else { return }
        interpret(association.session.handle(.pathReset, now: now), of: association, now)
    }

    private mutating func deliver(
        _ message: [UInt8], from peer: PeerID, isReliable: Bool, hops: Int
    ) {
        var message = message
        if isReliable {
            switch reliableNumbers[peer, default: ReliableNumbers()].delivered(message) {
            case .success(let plain): message = plain
            case .failure(let refusal): return drops.count(refusal.reason)
            }
        }
        tell(.message(message, from: peer, isReliable: isReliable, hops: hops))
    }

    mutating func associationDeadlineReached(_ peer: PeerID, _ now: Instant) {
        guard let association = associations[peer] else { return }
        interpret(association.session.handle(.deadlineReached, now: now), of: association, now)
        if now >= association.rekeyAt { renewKeys(association, now) }
        if now >= association.silenceCheckAt { checkSilence(of: association, now) }
        guard let since = association.unreachableSince, now >= since + Limits.unreachableTime,
            let channel = channels[association.token]
        else { return }
        close(channel, .leaving, now)
    }
}

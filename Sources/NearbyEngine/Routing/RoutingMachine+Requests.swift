import NearbyCore
import NearbyWire

/// Requests for newer seqnos (RFC 8966 §3.8), ours and those of others.
extension RoutingMachine {
    /// A request for a newer route (RFC 8966 §3.8.1.2): answered by the node that it names, or by
    /// one that has such a route; otherwise passed on once.
    mutating func requested(
        _ id: PeerID, _ seqno: UInt32, _ hopLimit: UInt8, by peer: PeerID, _ now: Instant
    ) {
        if id == .wildcard {
            guard now >= neighbours[peer]?.fullUpdateFrom ?? now else { return }
            neighbours.change(peer) {
                $0.fullUpdateFrom = now + Limits.fullUpdateInterval
                $0.resync(destinations.ids.union([own]))
            }
            return
        }
        if id.short == own.short {
            if ownSeqno.value.isAtLeast(seqno) { neighbours.change(peer) { $0.announce(own) } }
            return follow(ownSeqno.raise(to: seqno, now: now))
        }
        let id = destinations.known(as: id)
        guard let destination = destinations[id] else { return }
        let selected = destination.selected
        if selected.hop != nil, selected.seqno.isAtLeast(seqno) {
            neighbours.change(peer) { $0.announce(id) }
            return
        }
        // A seqno that all are told of later may do for who asks for more.
        if neighbours.isHolding(id) { neighbours.change(peer) { $0.announce(id) } }
        let isToHopAlone = neighbours.hopToAsk(for: destination, except: peer) != nil
        guard hopLimit > 1,
            requests.add(
                id, seqno: seqno, hopLimit: hopLimit - 1, isUrgent: selected.isUrgent,
                isToHopAlone: isToHopAlone, by: peer, now: now)
        else { return }
        neighbours.ask(for: destination, seqno, hopLimit: hopLimit - 1, except: peer)
    }

    /// Asks for a newer seqno, unless that was just done: of a plain node `neighbour`, which offers
    /// the route that would then be feasible.
    mutating func request(
        _ id: PeerID, _ seqno: UInt32, of neighbour: PeerID? = nil, _ now: Instant
    ) {
        guard let destination = destinations[id],
            requests.add(
                id, seqno: seqno, isRouteless: destination.selected.hop == nil, now: now)
        else { return }
        neighbours.ask(
            for: destination, seqno, hopLimit: Limits.requestHopLimit, alone: neighbour)
    }
}

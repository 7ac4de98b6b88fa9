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
        guard let selected = destinations[id]?.selected else { return }
        if selected.hop != nil, selected.seqno.isAtLeast(seqno) {
            neighbours.change(peer) { $0.announce(id) }
            return
        }
        guard hopLimit > 1,
            requests.add(
                id, seqno: seqno, hopLimit: hopLimit - 1, isUrgent: selected.isUrgent, by: peer,
                now: now)
        else { return }
        ask(for: id, seqno, hopLimit: hopLimit - 1, except: peer)
    }

    /// Asks the neighbours for a newer seqno, unless they were asked just now.
    mutating func request(_ id: PeerID, _ seqno: UInt32, _ now: Instant) {
        guard destinations[id] != nil, requests.add(id, seqno: seqno, now: now) else { return }
        ask(for: id, seqno, hopLimit: Limits.requestHopLimit, except: nil)
    }

    /// Asks the next hop for a newer seqno if there is one (RFC 8966 §3.8.1.2), or all would know
    /// of each request; otherwise, and for collectors and viewers, all neighbours but who asked us
    /// (§3.8.2). Where they are many that is the next hop, or those that have offers.
    private mutating func ask(
        for id: PeerID, _ seqno: UInt32, hopLimit: UInt8, except: PeerID?
    ) {
        guard let destination = destinations[id] else { return }
        let isForAll = destination.selected.isUrgent && !neighbours.areMany
        let hop = isForAll || destination.selected.hop == except ? nil : destination.selected.hop
        for peer in neighbours.sortedPeers where peer != except && peer == hop ?? peer {
            if neighbours.areMany, destination.candidates[peer] == nil { continue }
            let request = RoutingNeighbour.Request(
                seqno: seqno, hopLimit: hopLimit, isUrgent: destination.selected.isUrgent)
            neighbours.change(peer) { $0.request(id, request) }
        }
    }
}

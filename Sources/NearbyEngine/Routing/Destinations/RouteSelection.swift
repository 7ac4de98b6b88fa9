import NearbyCore
import NearbyWire

/// The route to use, of those that are offered.
struct RouteSelection: Equatable, Sendable {
    var hop: PeerID
    /// What the next hop offers, and our cost to it (RFC 8966 §3.5.2).
    var metric: UInt16
    var candidate: Destination.Candidate
    /// It is believed only because nothing else is feasible.
    var isLeap = false

    /// The cheaper; of equals that with the lower next hop.
    fileprivate func isBetter(than other: RouteSelection?) -> Bool {
        guard let other else { return true }
        return (metric, hop) <= (other.metric, other.hop)
    }
}

/// What a destination's candidates come to. All of it depends on the destination and on what our
/// neighbours cost: infinite for one that is not there or suspect.
extension Destination {
    /// Route selection (RFC 8966 §3.6): the cheapest feasible one; the one in use stays unless
    /// another is cheaper by a tenth. A leap is believed only where nothing else is feasible, and
    /// once in a while.
    func selection(now: Instant, cost: (PeerID) -> UInt16) -> RouteSelection? {
        let directSeqno = directSeqno(cost: cost)
        var best: RouteSelection?
        var leap: RouteSelection?
        var current: RouteSelection?
        for (hop, candidate) in candidates {
            let metric = candidate.metric.adding(cost(hop))
            guard metric != RoutingMessage.metricInfinite else { continue }
            var offer = RouteSelection(hop: hop, metric: metric, candidate: candidate)
            switch feasibility(of: candidate, from: hop, directSeqno: directSeqno) {
            case .infeasible: break
            case .leap:
                offer.isLeap = true
                if offer.isBetter(than: leap) { leap = offer }
            case .feasible:
                if offer.isBetter(than: best) { best = offer }
                if hop == selected.hop { current = offer }
            }
        }
        guard let best else { return acceptsLeaps(now) ? leap : nil }
        guard let current, !best.metric.isClearlyCheaper(than: current.metric) else { return best }
        return current
    }

    /// The seqno to ask for, if any: where every route that is offered may be a loop (RFC 8966
    /// §3.8.2.1, avoiding starvation). Whoever has a route that does not lead through us has told
    /// us of it: where all who offer one are suspect, nobody is asked, or a collector would ask
    /// hundreds for each that is slow.
    func seqnoToRequest(cost: (PeerID) -> UInt16) -> UInt32? {
        guard let distance = source.distance, selected.hop == nil else { return nil }
        let isOffered = candidates.contains { hop, candidate in
            candidate.metric.adding(cost(hop)) != RoutingMessage.metricInfinite
        }
        return isOffered ? distance.seqno &+ 1 : nil
    }

    /// The seqno to ask for, if any, where only the feasibility distance keeps us from a far
    /// cheaper route (RFC 8966 §3.8.2.2). An offer with an older seqno is about to be renewed.
    func seqnoForCheaper(cost: (PeerID) -> UInt16) -> SeqnoWish? {
        guard let distance = source.distance, selected.hop != nil else { return nil }
        var best: (metric: UInt16, hop: PeerID)?
        for (hop, candidate) in candidates where candidate.seqno == distance.seqno {
            let metric = candidate.metric.adding(cost(hop))
            guard metric.isWorthSeqno(insteadOf: selected.metric),
                best.map({ (metric, hop) < ($0.metric, $0.hop) }) ?? true,
                feasibility(of: candidate, from: hop, directSeqno: directSeqno(cost: cost))
                    == .infeasible
            else { continue }
            best = (metric, hop)
        }
        return best.map { SeqnoWish(seqno: distance.seqno &+ 1, offeredBy: $0.hop) }
    }

    /// Whether the neighbour's offer may be used (RFC 8966 §3.5.1).
    func feasibility(of neighbour: PeerID, cost: (PeerID) -> UInt16) -> SourceEntry.Feasibility {
        guard let candidate = candidates[neighbour] else { return .infeasible }
        return feasibility(of: candidate, from: neighbour, directSeqno: directSeqno(cost: cost))
    }

    /// - Parameter directSeqno: beside it nobody is believed to know a newer seqno.
    private func feasibility(
        of candidate: Candidate, from neighbour: PeerID, directSeqno: UInt32?
    ) -> SourceEntry.Feasibility {
        if neighbour == candidate.peer { return .feasible }
        if let directSeqno, candidate.peer != peer || !directSeqno.isAtLeast(candidate.seqno) {
            return .infeasible
        }
        return source.feasibility(seqno: candidate.seqno, metric: candidate.metric)
    }

    /// The seqno that the destination told us itself, while it is a neighbour that answers.
    private func directSeqno(cost: (PeerID) -> UInt16) -> UInt32? {
        cost(peer) == RoutingMessage.metricInfinite ? nil : candidates[peer]?.seqno
    }
}

/// A seqno to ask for, and who offers the route that would be feasible with it.
struct SeqnoWish: Equatable, Sendable {
    var seqno: UInt32
    var offeredBy: PeerID
}

extension RoutingNeighbourTable {
    /// The seqno to ask for where a far cheaper route is not feasible.
    @inline(never)
    func seqnoForCheaper(to destination: Destination) -> SeqnoWish? {
        destination.seqnoForCheaper { cost(of: $0) }
    }
}

extension UInt16 {
    /// The sum of two metrics; infinity absorbs.
    func adding(_ other: UInt16) -> UInt16 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? RoutingMessage.metricInfinite : sum
    }

    /// By a fifth: a new seqno is told to every node by every node.
    fileprivate func isWorthSeqno(insteadOf other: UInt16) -> Bool {
        UInt32(self) * 5 <= UInt32(other) * 4
    }

    /// By a tenth: what goes up and down by less changes no route.
    fileprivate func isClearlyCheaper(than other: UInt16) -> Bool {
        UInt32(self) * 10 <= UInt32(other) * 9
    }
}

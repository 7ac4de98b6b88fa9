import NearbyCore

/// What a peer says of itself that asks a full node for a place, and who makes room for it.
struct PlaceRequest: Sendable, Hashable {
    /// Over which it asks.
    var link: LinkID
    var hasRoute: Bool
    /// The way over us would be far cheaper than its own.
    var seeksShortcut: Bool
    var neighbourCount: Int
}

extension PairTable {
    /// A neighbour that can do without us. For a peer that has no route to a collector, or fewer
    /// than two neighbours, or is on a link on which we have nobody, one that seems to; for one
    /// that only has a far longer way otherwise, one that certainly can.
    func dispensable(
        for request: PlaceRequest, of reaches: [NeighbourReach], besides dialed: Set<PeerID>
    ) -> PeerID? {
        if !request.hasRoute || request.neighbourCount < 2 || isBare(request.link) {
            return dispensable(of: reaches, besides: dialed)
        }
        guard request.seeksShortcut else { return nil }
        return dispensable(of: reaches.filter(\.leadsToCollector), besides: dialed)
    }

    /// A neighbour that reaches at least three others by other routes and is no way of ours, those
    /// that lead to a collector last.
    func dispensable(of reaches: [NeighbourReach], besides dialed: Set<PeerID>) -> PeerID? {
        let dispensable = reaches.filter {
            $0.others >= 3 && !$0.isOurWay && !dialed.contains($0.neighbour)
                && !isAloneOnLink($0.neighbour)
        }
        return dispensable.min {
            ($0.usefulness, $0.neighbour) < ($1.usefulness, $1.neighbour)
        }?.neighbour
    }
}

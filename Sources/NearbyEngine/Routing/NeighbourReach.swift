import NearbyCore

/// What one neighbour offers routes to, routes through ourselves left out.
public struct NeighbourReach: Hashable, Sendable {
    public let neighbour: PeerID
    public var others: Int
    public var leadsToCollector: Bool
    /// Our own route to a collector leads over it.
    public var isOurWay: Bool

    public init(
        _ neighbour: PeerID, others: Int, leadsToCollector: Bool, isOurWay: Bool = false
    ) {
        self.neighbour = neighbour
        self.others = others
        self.leadsToCollector = leadsToCollector
        self.isOurWay = isOurWay
    }

    /// For dropping: who reaches many without us and leads to no collector is missed least.
    var usefulness: Int { (leadsToCollector ? 1 << 20 : 0) - others }
}

extension DestinationTable {
    /// What a neighbour has routes to that do not lead through us.
    ///
    /// - Parameter collectors: those that count as such; empty: all.
    func reach(via neighbour: PeerID, collectors: Set<PeerID>) -> NeighbourReach {
        var reach = NeighbourReach(neighbour, others: 0, leadsToCollector: false)
        for destination in all.values {
            guard let candidate = destination.candidates[neighbour] else { continue }
            if destination.peer != neighbour { reach.others += 1 }
            if candidate.kind == .collector,
                collectors.isEmpty || collectors.contains(destination.peer)
            {
                reach.leadsToCollector = true
                // While it is suspect there is none.
                if destination.selected.hop ?? neighbour == neighbour { reach.isOurWay = true }
            }
        }
        return reach
    }
}

extension RoutingMachine {
    /// What a neighbour has routes to that do not lead through us.
    public func reach(via neighbour: PeerID, collectors: Set<PeerID> = []) -> NeighbourReach {
        destinations.reach(via: neighbour, collectors: collectors)
    }
}

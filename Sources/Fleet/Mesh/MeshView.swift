import NearbyCore

/// What one node knows of its network without asking.
public struct MeshView: Hashable, Sendable {
    public struct MeshNeighbour: Hashable, Sendable {
        public var peer: PeerID
        /// As `FleetNode.link`.
        public var link: String
        public var cost: UInt32
        public var lossPercent: Double

        public init(peer: PeerID, link: String, cost: UInt32, lossPercent: Double) {
            self.peer = peer
            self.link = link
            self.cost = cost
            self.lossPercent = lossPercent
        }
    }

    public var own = PeerID(high: 0, low: 0)
    /// In the order of their PeerIDs.
    public var neighbours: [MeshNeighbour] = []
    /// Of the routes to all that are in reach.
    public var costs: [PeerID: UInt32] = [:]
    /// The neighbour on the way to each of them; itself for a neighbour.
    public var ways: [PeerID: PeerID] = [:]

    public init() {}

    /// Those that are in reach over others, in order.
    var behind: [PeerID] {
        let near = Set(neighbours.map(\.peer))
        return costs.keys.filter { !near.contains($0) && $0 != own }.sorted()
    }

    /// The tree from this node outwards. A finding counts where it leads nearer; a node of which
    /// nothing was found hangs on the neighbour on the way, somewhere behind it.
    func links(_ findings: [PeerID: MeshSurvey.Finding]) -> [FleetLink] {
        var links = neighbours.map {
            FleetLink(
                from: own, to: $0.peer, link: $0.link, cost: $0.cost,
                lossPercent: $0.lossPercent)
        }
        var known: [ShortID: PeerID] = [own.short: own]
        for peer in costs.keys { known[peer.short] = peer }
        let tree = MeshTree(
            own: own, neighbours: Set(neighbours.map(\.peer)),
            findings: findings.mapValues {
                MeshTree.Finding(parent: known[$0.parent], hops: $0.hops)
            })
        for peer in behind {
            let parent = tree.parent(of: peer, way: ways[peer]) { costs[$0] != nil }
            let finding = parent.isCertain ? findings[peer] : nil
            let (whole, part) = (costs[peer] ?? 0, costs[parent.peer] ?? 0)
            var link = FleetLink(
                from: parent.peer, to: peer, link: finding?.link ?? "",
                cost: whole > part ? whole - part : 0, lossPercent: finding?.lossPercent)
            link.isDirect = parent.isCertain
            links.append(link)
        }
        return links
    }
}

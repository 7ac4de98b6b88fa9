import NearbyCore

/// What one node knows of its network without asking.
public struct MeshView: Hashable, Sendable {
    public struct Neighbour: Hashable, Sendable {
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
    public var neighbours: [Neighbour] = []
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
        for peer in behind {
            let finding = findings[peer]
            let parent = finding.flatMap { known[$0.parent] }.flatMap {
                isNearer($0, than: peer, findings) ? $0 : nil
            }
            guard let before = parent ?? ways[peer], before != peer else { continue }
            let (whole, part) = (costs[peer] ?? 0, costs[before] ?? 0)
            var link = FleetLink(
                from: before, to: peer, link: parent == nil ? "" : finding?.link ?? "",
                cost: whole > part ? whole - part : 0,
                lossPercent: parent == nil ? nil : finding?.lossPercent)
            link.isDirect = parent != nil
            links.append(link)
        }
        return links
    }

    private func isNearer(
        _ parent: PeerID, than peer: PeerID, _ findings: [PeerID: MeshSurvey.Finding]
    ) -> Bool {
        guard parent != peer, let hops = findings[peer]?.hops else { return false }
        if parent == own || neighbours.contains(where: { $0.peer == parent }) { return true }
        return findings[parent].map { $0.hops < hops } ?? false
    }
}

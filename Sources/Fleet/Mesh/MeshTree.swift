import NearbyCore

/// On whom each node of a network hangs, as one node knows it: a tree, whatever was found.
///
/// A distance vector tells the next hop to each node and nothing of what lies behind it. Who asked
/// knows of some nodes which stands before them; of the others only the neighbour on the way is
/// known, somewhere behind which they are.
public struct MeshTree: Sendable {
    /// What was found of a node that is no neighbour.
    public struct Finding: Hashable, Sendable {
        /// Nil: nobody answered there.
        public var parent: PeerID?
        /// Links between the node and the one that asked.
        public var hops: Int

        public init(parent: PeerID?, hops: Int) {
            self.parent = parent
            self.hops = hops
        }
    }

    public struct Parent: Hashable, Sendable {
        public var peer: PeerID
        /// Whether it is the very node before it.
        public var isCertain: Bool
    }

    private let own: PeerID
    private let neighbours: Set<PeerID>
    private let findings: [PeerID: Finding]

    public init(own: PeerID, neighbours: Set<PeerID>, findings: [PeerID: Finding]) {
        self.own = own
        self.neighbours = neighbours
        self.findings = findings
    }

    /// A finding counts where its parent is in reach and nearer than the node, so that there is no
    /// circle.
    ///
    /// - Parameters:
    ///   - way: the neighbour on the way to the node; nil if that is unknown.
    ///   - isInReach: whether a route leads to a node.
    public func parent(of peer: PeerID, way: PeerID?, isInReach: (PeerID) -> Bool) -> Parent {
        if neighbours.contains(peer) || way == peer { return Parent(peer: own, isCertain: true) }
        if let finding = findings[peer], let parent = finding.parent,
            parent == own || isInReach(parent), hops(parent) < finding.hops
        {
            return Parent(peer: parent, isCertain: true)
        }
        if let way, neighbours.contains(way) { return Parent(peer: way, isCertain: false) }
        return Parent(peer: own, isCertain: false)
    }

    private func hops(_ peer: PeerID) -> Int {
        if peer == own { return 0 }
        return neighbours.contains(peer) ? 1 : findings[peer]?.hops ?? .max
    }
}

import Fleet
import NearbyCore
import NodeShell

/// Who reaches whom over what, as far as one node knows it: its neighbours, its routes, and what
/// the nodes on these answered.
///
/// A distance vector tells the next hop to each node and nothing of what lies behind; so the node
/// before the last one is asked for (`probe`), and where it does not answer, the node hangs on the
/// neighbour on the way, as one that is somewhere behind it.
public struct Topology {
    /// What was found of a node that is no neighbour.
    public struct Finding: Equatable, Sendable {
        /// The node before it; nil: nobody answered there.
        public var parent: PeerID?
        public var hops: Int
        /// What the two meet on, as the node says.
        public var link: String?
        public var nanoseconds: Int64?

        public init(parent: PeerID?, hops: Int, link: String?, nanoseconds: Int64?) {
            self.parent = parent
            self.hops = hops
            self.link = link
            self.nanoseconds = nanoseconds
        }
    }

    /// A node in the tree.
    public struct Branch {
        public var member: NetworkMap.MappedNode
        /// Whether it hangs on the very node before it.
        public var isCertain: Bool
        public var link: String?
        public var interface: String?
        /// Of the route to it; of the last link of that, where both routes are one.
        public var cost: Int?
        public var linkCost: Int?
        public var lossPercent: Int?
        public var hops: Int?
        public var nanoseconds: Int64?
        public var children: [Branch] = []
    }

    public let map: NetworkMap
    public let root: Branch
    /// Those out of reach, the last seen first.
    public let gone: [NetworkMap.MappedNode]

    public init(_ map: NetworkMap, findings: [PeerID: Finding]) {
        self.map = map
        gone = map.members.filter { !$0.isOnline }.sorted {
            ($0.ageSeconds, $0.peer) < ($1.ageSeconds, $1.peer)
        }
        let parents = Self.parents(map, findings)
        var children: [PeerID: [PeerID]] = [:]
        for (peer, parent) in parents { children[parent.peer, default: []].append(peer) }
        func branch(_ member: NetworkMap.MappedNode) -> Branch {
            let finding = findings[member.peer]
            let link = map.links[member.peer]
            let parent = parents[member.peer]
            let before = parent.flatMap { map[$0.peer]?.cost } ?? 0
            let last = (member.cost ?? 0) - before
            var branch = Branch(
                member: member, isCertain: parent?.isCertain ?? true,
                link: link?.kind ?? finding?.link, interface: link?.interface, cost: member.cost,
                linkCost: link?.cost ?? (member.cost != nil && last > 0 ? last : nil),
                lossPercent: link?.lossPercent, hops: finding?.hops ?? member.hops,
                nanoseconds: finding?.nanoseconds)
            branch.children = (children[member.peer] ?? []).compactMap { map[$0] }
                .sorted { ($0.name, $0.peer) < ($1.name, $1.peer) }.map(branch(_:))
            return branch
        }
        root = branch(map.own)
    }

    private static func parents(
        _ map: NetworkMap, _ findings: [PeerID: Finding]
    ) -> [PeerID: MeshTree.Parent] {
        let tree = MeshTree(
            own: map.own.peer, neighbours: Set(map.links.keys),
            findings: findings.mapValues {
                MeshTree.Finding(parent: $0.parent, hops: $0.hops)
            })
        var parents: [PeerID: MeshTree.Parent] = [:]
        for member in map.members where member.isOnline {
            parents[member.peer] = tree.parent(of: member.peer, way: member.via) {
                map[$0]?.isOnline == true
            }
        }
        return parents
    }

    // MARK: Asking

    /// Asks through `ask` (a node, and after how many links; nil: the node itself) what the map
    /// does not say. At most a few questions for each node.
    public static func probe(
        _ map: NetworkMap, ask: (PeerID, Int?) throws -> EchoReply
    ) rethrows -> [PeerID: Finding] {
        var findings: [PeerID: Finding] = [:]
        for member in map.members where member.isOnline {
            if map.links[member.peer] != nil {
                let echo = try ask(member.peer, nil).echo
                findings[member.peer] = Finding(
                    parent: map.own.peer, hops: 1, link: nil, nanoseconds: echo?.nanoseconds)
            } else if let finding = try find(member, map, ask) {
                findings[member.peer] = finding
            }
        }
        return findings
    }

    /// The last hop of a route, and who is before it.
    private static func find(
        _ member: NetworkMap.MappedNode, _ map: NetworkMap,
        _ ask: (PeerID, Int?) throws -> EchoReply
    ) rethrows -> Finding? {
        guard let whole = try ask(member.peer, EchoReply.hopLimitMax).echo else { return nil }
        // The route back may differ from the route there.
        var hops = max(2, whole.hops)
        var finding = Finding(
            parent: nil, hops: hops, link: whole.link, nanoseconds: whole.nanoseconds)
        for _ in 0..<hopsTried where hops > 1 {
            guard let before = try ask(member.peer, hops - 1).echo else { return finding }
            if before.isOf(member.peer) {
                hops -= 1
            } else if try ask(member.peer, hops).echo?.isOf(member.peer) == true {
                finding.hops = hops
                finding.parent = before.member(map)?.peer
                return finding
            } else {
                hops += 1
            }
        }
        return finding
    }

    private static let hopsTried = 4
}

extension EchoReply {
    /// As far as any packet goes.
    public static let hopLimitMax = 64
}

import NearbyCore
import NodeShell

/// What a running node knows of its network: its status, read.
public struct NetworkMap: Sendable {
    /// A node of the network, in reach or gone.
    public struct MappedNode: Equatable, Sendable {
        public var peer: PeerID
        /// As it calls itself, not fit for a terminal; empty: not known.
        public var name: String
        public var role: String
        public var isOnline = true
        /// Since it was in reach.
        public var ageSeconds: Int64 = 0
        /// The neighbour on the way to it, or on the last one: itself if it is a neighbour.
        public var via: PeerID?
        public var hops: Int?
        /// Of the route to it.
        public var cost: Int?
        public var hasChannel = false

        public init(peer: PeerID, name: String, role: String) {
            self.peer = peer
            self.name = name
            self.role = role
        }
    }

    /// The hop to a neighbour.
    public struct Link: Equatable, Sendable {
        /// nil: the node is of a version that does not say.
        public var kind: String?
        public var interface: String
        public var cost: Int
        public var lossPercent: Int?
    }

    public var own: MappedNode
    public var network: String
    /// All others, in the order of their PeerIDs.
    public var members: [MappedNode] = []
    /// Of neighbours.
    public var links: [PeerID: Link] = [:]

    public init(own: MappedNode, network: String) {
        self.own = own
        self.network = network
    }

    /// Takes the status of a node (`rivulet status --json`). Members that are not known are
    /// skipped.
    public init(status text: String) throws(SurveyError) {
        guard let status = JSONReader.value(text), let peer = status["peer"].peer,
            let role = status["role"].string
        else { throw .tooOld }
        self.init(
            own: MappedNode(peer: peer, name: status["name"].string ?? "", role: role),
            network: status["network"].string ?? "")
        var costs: [PeerID: Int64] = [:]
        for route in status["routes"].items {
            if let peer = route["destination"].peer { costs[peer] = route["metric"].integer }
        }
        let channels = Set(status["peers"].items.compactMap { $0["peer"].peer })
        for node in status["nodes"].items {
            guard var member = MappedNode(node) else { continue }
            member.cost = costs[member.peer].map { Int(clamping: $0) }
            member.hasChannel = channels.contains(member.peer)
            members.append(member)
        }
        members.sort { $0.peer < $1.peer }
        for neighbour in status["neighbours"].items {
            if let peer = neighbour["peer"].peer { links[peer] = Link(neighbour) }
        }
    }

    public subscript(peer: PeerID) -> MappedNode? {
        peer == own.peer ? own : members.first { $0.peer == peer }
    }
}

extension NetworkMap.MappedNode {
    fileprivate init?(_ node: JSONValue) {
        guard let peer = node["peer"].peer else { return nil }
        self.init(peer: peer, name: node["name"].string ?? "", role: node["role"].string ?? "")
        isOnline = node["online"].flag
        ageSeconds = node["lastSeenSeconds"].integer ?? 0
        via = node["via"].peer ?? (node["neighbour"].flag ? peer : nil)
        hops = node["hops"].integer.map { Int(clamping: $0) }
    }
}

extension NetworkMap.Link {
    fileprivate init(_ neighbour: JSONValue) {
        self.init(
            kind: neighbour["link"].string, interface: neighbour["interface"].string ?? "",
            cost: Int(clamping: neighbour["cost"].integer ?? 0),
            lossPercent: neighbour["lossPercent"].integer.map { Int(clamping: $0) })
    }
}

extension JSONValue {
    var peer: PeerID? { string.flatMap { PeerID(text: $0) } }
}

/// Why a node could not be asked what a command wants to know, as a sentence.
public enum SurveyError: Error, Equatable, CustomStringConvertible, Sendable {
    case tooOld
    /// It collects nothing.
    case noFleet
    case unknown(String, advice: String)
    case ambiguous(String, [String])
    case own(String)
    case noRoute(String, why: String)

    public var description: String {
        switch self {
        case .tooOld:
            "the node that runs here is of an older version, which cannot say this: restart it"
        case .noFleet:
            "the node that was asked is not a collector, or runs an older version: `rivulet top` "
                + "looks at the network through a running `rivulet collect` of this machine"
        case .unknown(let name, let advice): "no node \(name) is known here; \(advice)"
        case .ambiguous(let name, let nodes):
            "\(nodes.count) nodes are called \(name); give the PeerID:\n"
                + nodes.map { "  " + $0 }.joined(separator: "\n")
        case .own(let name): "\(name) is the node that was asked"
        case .noRoute(let name, let why): "there is no route to \(name): \(why)"
        }
    }
}

import Configuration
import NearbyCore
import NearbyEngine

/// The network's nodes in the order in which they are listed: those in reach by name, then those
/// that are gone, the last seen first; those that were not seen since the start come last.
struct NodeListing {
    /// Those that are known since the start, in any order.
    let nodes: [KnownNode]
    /// Those of before this start, in their order.
    var former: [FormerNode] = []
    /// What a node is called; nil: only its PeerID is known.
    let name: (PeerID) -> String?
    /// Over which interface a node is a neighbour; nil: it is none.
    let interface: (PeerID) -> String?
    let now: Instant

    /// For people.
    var rows: [NodeTable.Row] { ordered.map(row) + former.map(\.row) }

    /// For programs.
    var json: JSONValue { .array(ordered.map(member) + former.map(\.member)) }

    private var ordered: [KnownNode] {
        // Of those in reach the age is the same.
        let keyed = nodes.map { node in
            (
                gone: node.isReachable ? Int64.min : -node.lastReachable.nanoseconds,
                name: name(node.peer) ?? node.peer.shortText, node: node
            )
        }
        return keyed.sorted {
            ($0.gone, $0.name, $0.node.peer) < ($1.gone, $1.name, $1.node.peer)
        }.map(\.node)
    }

    private func row(_ node: KnownNode) -> NodeTable.Row {
        NodeTable.Row(
            name: name(node.peer).map(PlainText.shown) ?? "-", peer: node.peer.shortText,
            role: node.roleWord, reached: reached(node),
            seen: node.isReachable
                ? "online" : "\(AgeText.text(now - node.lastReachable)) ago",
            version: node.software.isEmpty ? "-" : node.software)
    }

    private func reached(_ node: KnownNode) -> String {
        guard let hop = node.nextHop else { return "-" }
        let was = node.isReachable ? "" : "was "
        guard hop != node.peer else {
            return was + "direct" + (interface(node.peer).map { " \($0)" } ?? "")
        }
        let hops = hops(of: node).map { ", \($0) hops" } ?? ""
        return "\(was)via \(PlainText.shown(name(hop) ?? hop.shortText))\(hops)"
    }

    private func member(_ node: KnownNode) -> JSONValue {
        let isNeighbour = node.isReachable && node.nextHop == node.peer
        let hop = node.nextHop.flatMap { $0 == node.peer ? nil : $0 }
        let age = node.isReachable ? .zero : now - node.lastReachable
        return .object([
            ("peer", .string(node.peer.description)),
            ("name", .text(name(node.peer))),
            ("role", .string(node.roleWord)),
            ("online", .flag(node.isReachable)),
            ("lastSeenSeconds", .integer(age.milliseconds / 1_000)),
            ("neighbour", .flag(isNeighbour)),
            ("interface", .text(isNeighbour ? interface(node.peer) : nil)),
            ("via", .text(hop?.description)),
            ("viaName", .text(hop.map { name($0) ?? $0.shortText })),
            ("hops", hops(of: node).map { .integer($0) } ?? .null),
            ("version", .text(node.software.isEmpty ? nil : node.software)),
        ])
    }

    /// As its last message came; that of a time before it was behind others says nothing.
    private func hops(of node: KnownNode) -> Int? {
        guard node.isReachable else { return nil }
        if node.nextHop == node.peer { return 1 }
        return node.hops.flatMap { $0 > 1 ? $0 : nil }
    }
}

extension NodeProgram {
    /// The nodes that this one knows.
    func nodeListing(now: Instant) -> NodeListing {
        let (runner, node) = (runner, runner.node)
        return NodeListing(
            nodes: node.knownNodes,
            former: additions.formerNodes?({ node.knownNode($0) == nil }) ?? [],
            name: runner.distinctName,
            interface: { peer in
                node.neighbourStatus.first { $0.peer == peer }.map {
                    runner.name(of: $0.endpoint.link)
                }
            }, now: now)
    }
}

extension KnownNode {
    /// What it is for, as far as that is known.
    package var roleWord: String {
        if let role { return "\(role)" }
        switch kind {
        case .collector: return "collector"
        case .viewer: return "viewer"
        case .node: return "node"
        }
    }
}

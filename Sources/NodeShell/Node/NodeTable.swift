import Configuration
import NearbyCore
import NearbyEngine
import NearbyWire

/// The network's nodes as `rivulet status` lists them, a line each.
package struct NodeTable {
    package struct Row {
        var name: String
        var peer: String
        var role: String
        /// `direct eth0`, `via relay, 2 hops`.
        var reached: String
        var seen: String
        var version: String

        package init(
            name: String, peer: String, role: String, reached: String, seen: String,
            version: String
        ) {
            self.name = name
            self.peer = peer
            self.role = role
            self.reached = reached
            self.seen = seen
            self.version = version
        }
    }

    /// In the order of the lines.
    var rows: [Row]

    var lines: [String] {
        let head = Row(
            name: "NODE", peer: "PEER", role: "ROLE", reached: "REACHED", seen: "SEEN",
            version: "VERSION")
        let cells = ([head] + rows).map {
            [$0.name, $0.peer, $0.role, $0.reached, $0.seen, $0.version]
        }
        let widths = (0..<6).map { column in
            cells.map { TextWidth.columns($0[column]) }.max() ?? 0
        }
        return cells.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                guard column < row.count - 1 else { break }
                line += String(repeating: " ", count: widths[column] - TextWidth.columns(cell) + 2)
            }
            return line
        }
    }
}

extension NodeProgram {
    /// This node, then those in reach by name, then those that are gone, the last seen first; those
    /// that were not seen since the start come last.
    func nodeTable(now: Instant) -> NodeTable {
        let own = NodeTable.Row(
            name: shown(settings.name), peer: runner.node.ownPeer.shortText,
            role: settings.role.rawValue, reached: "this node", seen: "online",
            version: ProgramVersion.text)
        let rows = orderedNodes.map { row($0, now) }
        return NodeTable(rows: [own] + rows + formerNodes.map(\.row))
    }

    /// The same for programs.
    func nodeStatus(now: Instant) -> JSONValue {
        .array(orderedNodes.map { node in member(node, now) } + formerNodes.map(\.member))
    }

    private var formerNodes: [FormerNode] {
        let node = runner.node
        return additions.formerNodes?({ node.knownNode($0) == nil }) ?? []
    }

    private var orderedNodes: [KnownNode] {
        // Of those in reach the age is the same.
        let nodes = runner.node.knownNodes.map { node in
            (
                gone: node.isReachable ? Int64.min : -node.lastReachable.nanoseconds,
                name: runner.name(of: node.peer), node: node
            )
        }
        return nodes.sorted {
            ($0.gone, $0.name, $0.node.peer) < ($1.gone, $1.name, $1.node.peer)
        }.map(\.node)
    }

    private func row(_ node: KnownNode, _ now: Instant) -> NodeTable.Row {
        let name = runner.name(of: node.peer)
        return NodeTable.Row(
            name: name == node.peer.shortText ? "-" : shown(name), peer: node.peer.shortText,
            role: node.roleWord, reached: reached(node),
            seen: node.isReachable
                ? "online" : "\(AgeText.text(now - node.lastReachable)) ago",
            version: node.software.isEmpty ? "-" : node.software)
    }

    private func member(_ node: KnownNode, _ now: Instant) -> JSONValue {
        let hop = node.nextHop
        let isNeighbour = node.isReachable && hop == node.peer
        let name = runner.name(of: node.peer)
        return .object([
            ("peer", .string(node.peer.description)),
            ("name", .text(name == node.peer.shortText ? nil : name)),
            ("role", .string(node.roleWord)),
            ("online", .flag(node.isReachable)),
            (
                "lastSeenSeconds",
                .integer(
                    node.isReachable ? 0 : (now - node.lastReachable).milliseconds / 1_000)
            ),
            ("neighbour", .flag(isNeighbour)),
            ("interface", .text(isNeighbour ? interface(of: node.peer) : nil)),
            ("via", .text(hop.flatMap { $0 == node.peer ? nil : $0.description })),
            ("viaName", .text(hop.flatMap { $0 == node.peer ? nil : runner.name(of: $0) })),
            ("hops", hops(of: node).map { .integer($0) } ?? .null),
            ("version", .text(node.software.isEmpty ? nil : node.software)),
        ])
    }

    private func reached(_ node: KnownNode) -> String {
        guard let hop = node.nextHop else { return "-" }
        let was = node.isReachable ? "" : "was "
        guard hop != node.peer else {
            return was + "direct" + (interface(of: node.peer).map { " \($0)" } ?? "")
        }
        let hops = hops(of: node).map { ", \($0) hops" } ?? ""
        return "\(was)via \(shown(runner.name(of: hop)))\(hops)"
    }

    /// As its last message came; that of a time before it was behind others says nothing.
    private func hops(of node: KnownNode) -> Int? {
        guard node.isReachable else { return nil }
        if node.nextHop == node.peer { return 1 }
        return node.hops.flatMap { $0 > 1 ? $0 : nil }
    }

    private func interface(of peer: PeerID) -> String? {
        runner.node.neighbourStatus.first { $0.peer == peer }.map {
            runner.name(of: $0.endpoint.link)
        }
    }

    /// Names are others' words: no control characters reach a terminal.
    func shown(_ name: String) -> String { PlainText.shown(name) }
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

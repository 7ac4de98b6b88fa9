import Configuration
import NearbyCore
import NearbyEngine
import NearbyLinux

/// What `rivulet status` shows people of a node at one moment: this node, what is wrong, and the
/// network's nodes.
struct NodeSummary {
    private let program: NodeProgram
    private let now = MonotonicClock.now()
    private var runner: NodeRunner { program.runner }
    private var node: Node { program.runner.node }

    init(_ program: NodeProgram) { self.program = program }

    /// - Parameter isVerbose: with addresses and the counters of drops.
    func lines(isVerbose: Bool) -> [String] {
        let settings = program.settings
        var lines = [
            "\(settings.name) (\(settings.role.rawValue)) in network \(settings.network), up "
                + AgeText.text(program.uptime(now)),
            "peer       \(node.ownPeer)\(runner.identity.ephemeral ? " (ephemeral)" : "")",
        ]
        // A collector has none.
        if settings.role == .agent || settings.role == .relay {
            let name = node.collector.map { PlainText.shown(runner.name(of: $0)) }
            lines.append("collector  \(name ?? "none in reach")")
        }
        if let line = program.additions.summary?() { lines.append(line) }
        lines += program.additions.lines?() ?? []
        for (link, heard) in runner.links.memberships where !heard.ipv4 && !heard.ipv6 {
            lines.append("multicast  not heard on \(runner.name(of: link))")
        }
        if let avahi = program.avahi { lines.append(avahi.summaryLine) }
        if let line = runner.bluetooth.summaryLine { lines.append(line) }
        for refused in node.refusedNodes(now: now) {
            lines.append("refused    \(shown(whole: runner.text(refused)))")
        }
        if node.omittedRefusals > 0 {
            lines.append("refused    others too, \(node.omittedRefusals) times")
        }
        lines += [""] + table.lines
        return isVerbose ? lines + [""] + details : lines
    }

    private var table: NodeTable {
        let settings = program.settings
        let own = NodeTable.Row(
            name: PlainText.shown(settings.name), peer: node.ownPeer.shortText,
            role: settings.role.rawValue, reached: "this node", seen: "online",
            version: ProgramVersion.text)
        return NodeTable(rows: [own] + program.nodeListing(now: now).rows)
    }

    private var details: [String] {
        let neighbours = node.neighbourStatus.map { neighbour in
            "neighbour  \(PlainText.shown(neighbour.name)) at \(runner.text(neighbour.endpoint)), "
                + "\(runner.name(of: neighbour.endpoint.link)), cost \(neighbour.cost)"
        }
        let dropped = program.allDrops.all.filter { $0.count > 0 }.map {
            "dropped    \($0.reason.rawValue): \($0.count)"
        }
        return neighbours + dropped
    }

    /// A line without control characters, at its whole length.
    private func shown(whole line: String) -> String {
        PlainText.isPrintable(line) ? line : PlainText.shown(line)
    }
}

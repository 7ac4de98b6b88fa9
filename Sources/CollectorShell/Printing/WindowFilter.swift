import Collector
import Fleet

/// What of each window is shown: the nodes and channels that the command line names.
struct WindowFilter {
    /// By name or PeerID; empty: all.
    private let nodes: [Glob]
    private let channels: [Glob]
    /// Whether anything was shown, or it was told that all is filtered out.
    private var isSettled = false

    init(nodes: [Glob], channels: [Glob]) {
        self.nodes = nodes
        self.channels = channels
    }

    func shown(_ window: Window) -> Window {
        guard !nodes.isEmpty || !channels.isEmpty else { return window }
        var window = window
        window.rows.removeAll { !isNode($0) || !channels.allow($0.channel.name) }
        return window
    }

    /// Readings come, and the filter leaves none of them: told once, unless something was shown.
    mutating func warning(on whole: Window, shown: Window) -> String? {
        guard !isSettled, !whole.rows.isEmpty else { return nil }
        isSettled = true
        guard shown.rows.isEmpty else { return nil }
        let hasNode = whole.rows.contains(where: isNode)
        let option = hasNode ? "--channel" : "--node"
        let known = hasNode ? whole.rows.map(\.channel.name) : whole.rows.map(\.node.name)
        let names = Set(known).sorted(by: NaturalOrder.isBefore)
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "nothing is shown: \(option) matches none of those received ("
            + names.prefix(5).joined(separator: ", ") + more + ")"
    }

    private func isNode(_ row: Window.Row) -> Bool {
        nodes.allow(row.node.name) || nodes.allow(row.peer.description)
    }
}

import Collector
import Fleet

/// What of each window is shown: the nodes and channels that the command line names.
struct WindowFilter {
    /// By name or PeerID; empty: all.
    private let nodes: [Glob]
    private let channels: [Glob]
    /// Whether anything was shown, or it was told that all is filtered out.
    private var isSettled = false
    /// The rows of the first window with readings, where none was shown.
    private var missed: [Window.Row] = []

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
    /// Of the first window with readings nothing is said: it may have a node in part only.
    mutating func warning(on whole: Window, shown: Window) -> String? {
        guard !isSettled, !whole.rows.isEmpty else { return nil }
        guard shown.rows.isEmpty else {
            (isSettled, missed) = (true, [])
            return nil
        }
        guard !missed.isEmpty else {
            missed = whole.rows
            return nil
        }
        return settle(missed + whole.rows)
    }

    /// At the end, where there was but one such window.
    mutating func lastWarning() -> String? {
        isSettled || missed.isEmpty ? nil : settle(missed)
    }

    private mutating func settle(_ rows: [Window.Row]) -> String {
        (isSettled, missed) = (true, [])
        let hasNode = rows.contains(where: isNode)
        let option = hasNode ? "--channel" : "--node"
        let known = hasNode ? rows.map(\.channel.name) : rows.map(\.node.name)
        let names = Set(known).sorted(by: NaturalOrder.isBefore)
        let more = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "nothing is shown: \(option) matches none of those received ("
            + names.prefix(5).joined(separator: ", ") + more + ")"
    }

    private func isNode(_ row: Window.Row) -> Bool {
        nodes.allow(row.node.name) || nodes.allow(row.peer.description)
    }
}

import Collector
import NearbyCore
import Telemetry

extension Limits {
    /// Channels whose words are remembered from one window to the next.
    static let shownSeriesMax = 65_536
}

/// Windows in the words of a fleet.
public struct ShownWindows: Sendable {
    private struct Key: Hashable {
        var peer: PeerID
        var run: RunID
        var number: UInt16
    }

    private struct Shown {
        var node: NodeDescription
        var channel: Channel
        var map: ValueMap
        /// As the agent said it; where it says something else, this is made anew.
        var source: (node: NodeDescription, channel: Channel)
    }

    public var words: FleetWords {
        didSet { known = [:] }
    }
    private var known: [Key: Shown] = [:]

    public init(words: FleetWords) { self.words = words }

    public mutating func shown(_ window: Window) -> Window {
        guard !words.isEmpty else { return window }
        var window = window
        if known.count > Limits.shownSeriesMax { known = [:] }
        for index in window.rows.indices {
            let row = window.rows[index]
            let shown = shown(row)
            window.rows[index].node = shown.node
            window.rows[index].channel = shown.channel
            window.rows[index].last = shown.map(row.last)
            window.rows[index].statistics = shown.map(row.statistics)
        }
        return window
    }

    private mutating func shown(_ row: Window.Row) -> Shown {
        let key = Key(peer: row.peer, run: row.run, number: row.channel.number)
        if let held = known[key], held.source.node == row.node, held.source.channel == row.channel {
            return held
        }
        let channel = words.channel(
            of: row.peer, named: row.node.name, row.channel.name, row.channel.unit,
            scale: row.channel.scale)
        let description = ChannelDescription(
            name: channel.name, unit: channel.unit, scale: channel.scale)
        let shown = Shown(
            node: words.description(of: row.peer, row.node),
            channel: Channel(
                number: row.channel.number, description: description ?? row.channel.description,
                isRetired: row.channel.isRetired),
            map: channel.map, source: (row.node, row.channel))
        known[key] = shown
        return shown
    }
}

extension FleetWords {
    /// A node as it is called here. More labels than one may have are left out, its own first.
    func description(of peer: PeerID, _ node: NodeDescription) -> NodeDescription {
        let name = name(of: peer, named: node.name)
        let labels = labels(of: peer, named: node.name, node.labels)
        let own = Set(node.labels)
        for kept in [labels, labels.filter { !own.contains($0) }, node.labels] {
            if let made = try? NodeDescription(name: name, labels: kept, board: node.board) {
                return made
            }
        }
        return node
    }
}

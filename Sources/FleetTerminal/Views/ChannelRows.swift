import Collector
import Fleet
import NearbyCore
import Telemetry

struct ChannelRows: TopRows {
    static let columns = [
        TopColumn("NODE", 6, 32),
        TopColumn("CHANNEL", 8, 40),
        TopColumn("VALUE", 9, 14, isRight: true),
        TopColumn("UNIT", 5, 8, rank: 1),
        TopColumn("AGE", 3, isRight: true, rank: 2),
        TopColumn("HOP", 3, isRight: true, rank: 4),
        TopColumn("HISTORY", 8, 240, rank: 3),
    ]
    /// Where a node is followed.
    static let ofOneNode = Array(columns.dropFirst())

    private let nodes: [FleetNode]
    private let places: [(node: Int, channel: Int)]
    private let names: TopNames
    private let history: TopHistory
    private let utc: Int64
    /// Whether the column of nodes is left out.
    private let isOfOneNode: Bool

    /// - Parameter peer: of one node; nil: all.
    init(
        _ snapshot: FleetSnapshot, _ names: TopNames, _ history: TopHistory, of peer: PeerID?
    ) {
        nodes = snapshot.nodes
        var places: [(Int, Int)] = []
        for (index, node) in snapshot.nodes.enumerated() where peer == nil || node.peer == peer {
            for channel in node.channels.indices { places.append((index, channel)) }
        }
        self.places = places
        self.names = names
        self.history = history
        utc = snapshot.collector.utc
        isOfOneNode = peer != nil
    }

    var count: Int { places.count }

    private func channel(_ row: Int) -> FleetChannel {
        nodes[places[row].node].channels[places[row].channel]
    }

    private func node(_ row: Int) -> FleetNode { nodes[places[row].node] }

    func id(_ row: Int) -> String { "\(node(row).peer) \(channel(row).name)" }

    func text(_ row: Int) -> [String] {
        let (node, channel) = (node(row), channel(row))
        return [node.name, channel.name, channel.storedName ?? "", node.storedName ?? ""]
    }

    func order(_ row: Int, by column: Int) -> TopOrder {
        let channel = channel(row)
        switch isOfOneNode ? column + 1 : column {
        case 0: return .text(names[node(row).peer])
        case 1: return .text(channel.name)
        case 2, 6: return channel.last.value.map { .number($0.double) } ?? .nothing
        case 3: return .text(channel.unit.symbol)
        case 4: return .number(-Double(channel.utc))
        default: return .number(Double(channel.hops))
        }
    }

    func cells(_ row: Int, _ layout: (Int) -> Int) -> [String] {
        let (node, channel) = (node(row), channel(row))
        let unit = ScaledUnit(channel.unit, [channel.last.value])
        let first = isOfOneNode ? 1 : 0
        let value: String
        switch channel.last {
        case .value(let number): value = unit.text(number, width: max(layout(2 - first), 9))
        case .null(let reason): value = reason.description
        }
        let columns = layout(6 - first)
        // Wanted: as much as there is.
        let line = Sparkline.text(
            history.values(node.peer, channel.name),
            columns: columns == 0 ? Limits.topValuesMax : columns)
        let cells = [
            names[node.peer], channel.name, value, channel.unit == .none ? "" : unit.symbol,
            TopText.age(TopText.age(of: channel.utc, at: utc)), String(channel.hops), line,
        ]
        return Array(cells.dropFirst(first))
    }

    func style(_ row: Int) -> TopStyle {
        if case .null = channel(row).last { return .warning }
        return node(row).isOnline ? .plain : .fault
    }
}

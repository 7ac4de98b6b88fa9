import Fleet
import NearbyCore
import Telemetry

struct NodeRows: TopRows {
    static let columns = [
        TopColumn("NODE", 8, 40),
        TopColumn("SEEN", 6),
        TopColumn("ROLE", 9, rank: 6),
        TopColumn("LINK", 9, rank: 4),
        TopColumn("VIA", 8, 24, rank: 5),
        TopColumn("HOP", 3, isRight: true, rank: 7),
        TopColumn("dBm", 4, isRight: true, rank: 2),
        TopColumn("BAT%", 4, isRight: true, rank: 1),
        TopColumn("CH", 3, 5, isRight: true, rank: 3),
        TopColumn("READINGS", 8, 12, isRight: true, rank: 8),
        TopColumn("LOST", 4, 9, isRight: true, rank: 9),
        TopColumn("CLOCK", 8, 12, rank: 12),
        TopColumn("VERSION", 7, 12, rank: 11),
        TopColumn("BOARD", 8, 32, rank: 13),
        TopColumn("LABELS", 8, 60, rank: 10),
    ]

    let nodes: [FleetNode]
    let names: TopNames

    init(_ snapshot: FleetSnapshot, _ names: TopNames) {
        nodes = snapshot.nodes
        self.names = names
    }

    var count: Int { nodes.count }

    func id(_ row: Int) -> String { nodes[row].peer.description }

    func text(_ row: Int) -> [String] {
        let node = nodes[row]
        return [node.name, node.storedName ?? "", node.role, node.board, node.peer.description]
            + [TopText.labels(node.labels)]
    }

    func order(_ row: Int, by column: Int) -> TopOrder {
        let node = nodes[row]
        switch column {
        case 1: return .number(Self.silence(node))
        case 5: return node.hops.map { .number(Double($0)) } ?? .nothing
        case 6: return node.signal.map { .number($0) } ?? .nothing
        case 7: return node.battery.map { .number($0) } ?? .nothing
        case 8: return .number(Double(node.channels.count))
        case 9: return .number(Double(node.readingCount))
        case 10: return .number(Double(node.lostCount))
        default: return .text(cells(row, { _ in 0 })[column])
        }
    }

    private static func silence(_ node: FleetNode) -> Double {
        node.isOnline ? -1 : Double(node.age?.nanoseconds ?? .max)
    }

    func cells(_ row: Int, _ layout: (Int) -> Int) -> [String] {
        let node = nodes[row]
        let seen =
            node.isOnline ? "online" : node.age.map { TopText.age($0) } ?? "never"
        return [
            names[node.peer], seen, node.role, node.link, node.via.map { names[$0] } ?? "",
            node.hops.map(String.init) ?? "", TopText.number(node.signal),
            TopText.number(node.battery), String(node.channels.count),
            TopText.count(node.readingCount), TopText.count(node.lostCount), node.clock,
            node.version, node.board, TopText.labels(node.labels),
        ]
    }

    func style(_ row: Int) -> TopStyle {
        let node = nodes[row]
        if !node.isOnline { return .fault }
        if let battery = node.battery, battery < 20 { return .warning }
        return .plain
    }
}

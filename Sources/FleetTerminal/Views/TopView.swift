import Collector
import Fleet
import NearbyCore
import Telemetry

/// What `rivulet top` shows.
enum TopView: Int, CaseIterable, Hashable {
    case nodes, channels, links, outputs, alarms, drops

    var title: String {
        switch self {
        case .nodes: "Nodes"
        case .channels: "Channels"
        case .links: "Links"
        case .outputs: "Outputs"
        case .alarms: "Alarms"
        case .drops: "Drops"
        }
    }

    var columns: [TopColumn] {
        switch self {
        case .nodes: NodeRows.columns
        case .channels: ChannelRows.columns
        case .links: LinkRows.columns
        case .outputs: OutputRows.columns
        case .alarms: AlarmRows.columns
        case .drops: DropRows.columns
        }
    }

    /// What it says where there is no row.
    var emptiness: String {
        switch self {
        case .nodes: "no node is known yet"
        case .channels: "no reading has come yet"
        case .links: "nobody is in reach"
        case .outputs: "no outputs are configured (`outputs:` of the collector's configuration)"
        case .alarms: "no alarm holds, and none has ended within a day"
        case .drops: "nothing was dropped"
        }
    }
}

/// Rows of a view, made as they are wanted: of twenty thousand a screen shows fifty.
protocol TopRows {
    var count: Int { get }
    /// Names the row from one snapshot to the next.
    func id(_ row: Int) -> String
    /// What a filter is looked for in.
    func text(_ row: Int) -> [String]
    func order(_ row: Int, by column: Int) -> TopOrder
    /// For all columns of the view.
    func cells(_ row: Int, _ layout: (Int) -> Int) -> [String]
    func style(_ row: Int) -> TopStyle
}

/// Names for people, from one snapshot.
struct TopNames {
    private var names: [PeerID: String] = [:]
    /// Names that more than one node has.
    private var shared: Set<String> = []

    init(_ snapshot: FleetSnapshot) {
        var seen: Set<String> = []
        names[snapshot.collector.peer] = snapshot.collector.name
        for node in snapshot.nodes {
            names[node.peer] = node.name
            if !node.name.isEmpty, !seen.insert(node.name).inserted { shared.insert(node.name) }
        }
    }

    /// Its name; with the beginning of its PeerID where another has the same; that alone where it
    /// has none.
    subscript(peer: PeerID) -> String {
        guard let name = names[peer], !name.isEmpty else { return peer.begin }
        return shared.contains(name) ? "\(name) (\(peer.begin))" : name
    }
}

enum TopText {
    static func age(_ age: Duration) -> String { NumberText.age(age) }

    /// Since a time, nanoseconds since 1970.
    static func age(of utc: Int64, at now: Int64) -> Duration {
        .nanoseconds(max(now.subtractingSaturating(utc), 0))
    }

    static func count(_ count: UInt64) -> String { String(count) }

    /// Whole numbers as they are.
    static func number(_ number: Double?) -> String {
        guard let number, number.isFinite else { return "" }
        return NumberText.compact(number, places: number == number.rounded() ? 0 : 1, width: 8)
    }

    static func bytes(_ count: UInt64) -> String {
        let value = DecimalValue(coefficient: Int64(clamping: count))
        let unit = ScaledUnit(.byte, [value])
        return "\(unit.text(value, width: 7)) \(unit.symbol)"
    }

    static func labels(_ labels: [Label]) -> String {
        labels.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }
}

extension PeerID {
    /// How it begins: enough for people.
    var begin: String { String(description.prefix(11)) }
}

import NearbyCore
import Telemetry

/// What nodes are called in a table: by their names, and with the beginning of the PeerID where
/// two have the same.
struct NodeLabels {
    private var labels: [PeerID: String] = [:]

    init(_ rows: ArraySlice<Window.Row>) {
        var peers: [String: Set<PeerID>] = [:]
        for row in rows { peers[Self.name(row), default: []].insert(row.peer) }
        for row in rows where labels[row.peer] == nil {
            let name = Self.name(row)
            let others = peers[name] ?? []
            labels[row.peer] = others.count > 1 ? "\(name) (\(Self.begin(row.peer, others)))" : name
        }
    }

    /// As many groups of the PeerID as tell it from these.
    private static func begin(_ peer: PeerID, _ peers: Set<PeerID>) -> Substring {
        let lengths = [5, 11, 17, 23]
        let length = lengths.first { length in
            Set(peers.map { $0.description.prefix(length) }).count == peers.count
        }
        return peer.description.prefix(length ?? peer.description.count)
    }

    var all: [String] { labels.values.sorted() }

    subscript(row: Window.Row) -> String { labels[row.peer] ?? Self.name(row) }

    private static func name(_ row: Window.Row) -> String { PrintableText(row.node.name).text }
}

/// The lines of a table's rows.
struct RowText {
    let layout: TableLayout
    private let labels: NodeLabels
    private let nodes: ShortNames
    private let channels: ShortNames
    private let settings: TablePrinter.Settings

    init(_ rows: ArraySlice<Window.Row>, _ labels: NodeLabels, _ settings: TablePrinter.Settings) {
        let width = { (text: String) in PrintableText(text).width }
        let units = Set(rows.map { $0.channel.unit.symbol })
        layout = TableLayout(
            width: settings.width, node: labels.all.map(width).max() ?? 0,
            channel: rows.lazy.map { width($0.channel.name) }.max() ?? 0,
            unit: units.map(width).max() ?? 0,
            labels: rows.lazy.map { width(Self.labels($0)) }.max() ?? 0)
        nodes = ShortNames(labels.all, columns: layout.node)
        channels = ShortNames(rows.lazy.map(\.channel.name), columns: layout.channel)
        self.labels = labels
        self.settings = settings
    }

    var header: String {
        line { column in
            switch column {
            case .node: "NODE"
            case .channel: "CHANNEL"
            case .last: "LAST"
            case .unit: "UNIT"
            case .mean: "MEAN"
            case .min: "MIN"
            case .max: "MAX"
            case .count: "N"
            case .age: "AGE"
            case .hops: "HOP"
            case .labels: "LABELS"
            }
        }
    }

    /// The node of a line that sums up.
    func shownNode(_ row: Window.Row?) -> String { row.map { nodes[labels[$0]] } ?? "" }

    /// - Parameters:
    ///   - showsNode: for the first row of each node.
    ///   - isSilent: red, where there are colours.
    func line(_ row: Window.Row, showsNode: Bool, isSilent: Bool) -> String {
        let statistics = row.statistics
        let width = layout.number
        let unit = ScaledUnit(row.channel.unit, [statistics.min, statistics.max, row.last.value])
        let places = NumberText.meanPlaces(
            scale: row.channel.scale, statistics.min, statistics.max, row.last.value)
        let text = line(reason: reason(row)) { column in
            switch column {
            case .node: showsNode ? nodes[labels[row]] : ""
            case .channel: channels[row.channel.name]
            case .last: row.last.value.map { unit.text($0, width: width) } ?? reason(row) ?? ""
            case .unit: unit.symbol
            case .mean:
                statistics.mean.map { unit.mean($0, places: places, width: width) } ?? "-"
            case .min: statistics.min.map { unit.text($0, width: width) } ?? "-"
            case .max: statistics.max.map { unit.text($0, width: width) } ?? "-"
            case .count: NumberText.count(statistics.count, width: layout.count)
            case .age: NumberText.age(row.age)
            case .hops: String(min(row.hops, 99))
            case .labels: showsNode ? Self.labels(row) : ""
            }
        }
        guard settings.hasColours else { return text }
        if isSilent { return Colour.red.around(text) }
        return row.last.value == nil ? Colour.yellow.around(text) : text
    }

    /// `site=north floor=2`
    private static func labels(_ row: Window.Row) -> String {
        row.node.labels.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    }

    private func reason(_ row: Window.Row) -> String? {
        if case .null(let reason) = row.last { return reason.description }
        return nil
    }

    /// A reason stands whole: a long one takes the places of value and unit together.
    private func line(reason: String? = nil, _ cell: (TableLayout.Column) -> String) -> String {
        var cells: [String] = []
        for column in layout.columns {
            var width = layout.width(of: column)
            let isLeft = [.node, .channel, .unit, .labels].contains(column)
            if let reason, reason.utf8.count > layout.number {
                if column == .unit { continue }
                if column == .last {
                    width += 1 + layout.unit
                    cells.append(PrintableText(reason).fitted(to: width))
                    continue
                }
            }
            cells.append(PrintableText(cell(column)).fitted(to: width, alignRight: !isLeft))
        }
        let line = cells.joined(separator: " ")
        return settings.width < TableLayout.minimum
            ? TablePrinter.trimmed(PrintableText(line).fitted(to: settings.width))
            : TablePrinter.trimmed(line)
    }
}

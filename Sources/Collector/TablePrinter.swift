import NearbyCore
import Telemetry

/// A window as a table for people, at most 80 columns wide.
///
/// On a terminal each table is drawn over the one before; elsewhere tables follow each other.
public struct TablePrinter: Sendable {
    public struct Settings: Sendable {
        /// Draw over the last table with ANSI sequences.
        public var isLive: Bool
        /// Lines of the terminal; rows that do not fit are counted, not shown. 0: no limit.
        public var lines: Int

        public init(isLive: Bool = false, lines: Int = 0) {
            self.isLive = isLive
            self.lines = lines
        }
    }

    private var settings: Settings
    private var hasDrawn = false

    public init(settings: Settings = Settings()) { self.settings = settings }

    /// The terminal's size changed.
    public mutating func setLines(_ lines: Int) { settings.lines = lines }

    /// The text to write for this window, newline at its end.
    public mutating func print(_ window: Window, clock: WallClock) -> String {
        let lines = tableLines(window, clock: clock)
        defer { hasDrawn = true }
        guard settings.isLive else {
            return (hasDrawn ? "\n" : "") + lines.map { Self.trimmed($0) + "\n" }.joined()
        }
        let clear = hasDrawn ? "\u{1b}[H" : "\u{1b}[2J\u{1b}[H"
        return clear + lines.map { Self.trimmed($0) + "\u{1b}[K\n" }.joined() + "\u{1b}[J"
    }

    private func tableLines(_ window: Window, clock: WallClock) -> [String] {
        var lines = [heading(window, clock: clock), Self.header]
        // Heading, header, the line that counts what is left out, and the cursor's.
        let room =
            settings.isLive && settings.lines > 0 ? max(settings.lines - 4, 1) : window.rows.count
        var previous: Window.Row?
        for row in window.rows.prefix(room) {
            let isSameNode = previous.map { $0.peer == row.peer && $0.run == row.run } ?? false
            lines.append(line(row, showsNode: !isSameNode))
            previous = row
        }
        if window.rows.count > room {
            lines.append("… and \(window.rows.count - room) more channels")
        }
        return lines
    }

    /// `05:45:00–05:45:10 UTC · 2 nodes · 5 channels · 12 lost · 3 late`
    private func heading(_ window: Window, clock: WallClock) -> String {
        var nodes = 0
        var lost: UInt64 = 0
        var late = 0
        var previous: Window.Row?
        for row in window.rows {
            late += row.lateCount
            if previous?.peer != row.peer { nodes += 1 }
            if previous?.peer != row.peer || previous?.run != row.run { lost &+= row.lostCount }
            previous = row
        }
        let end = window.start + window.width
        var parts = [
            "\(clock.timeOfDay(window.start))–\(clock.timeOfDay(end)) UTC", counted(nodes, "node"),
            counted(window.rows.count, "channel"),
        ]
        if lost > 0 { parts.append("\(lost) lost") }
        if late > 0 { parts.append("\(late) late") }
        if !window.isClosed { parts.append("still open") }
        return PrintableText(parts.joined(separator: " · ")).fitted(to: Self.width)
    }

    private func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    /// With a space between each two columns.
    private static let width = 80
    private static let nodeWidth = 10
    private static let channelWidth = 15
    private static let numberWidth = 8
    private static let unitWidth = 5
    private static let countWidth = 3
    private static let ageWidth = 3
    private static let hopsWidth = 3

    private static let header = columns(
        node: "NODE", channel: "CHANNEL", last: "LAST", unit: "UNIT", mean: "MEAN", min: "MIN",
        max: "MAX",
        count: "N", age: "AGE", hops: "HOP")

    private static func columns(
        node: String, channel: String, last: String, unit: String, mean: String, min: String,
        max: String, count: String, age: String, hops: String
    ) -> String {
        [
            PrintableText(node).fitted(to: nodeWidth),
            PrintableText(channel).fitted(to: channelWidth),
            PrintableText(last).fitted(to: numberWidth, alignRight: true),
            PrintableText(unit).fitted(to: unitWidth),
            PrintableText(mean).fitted(to: numberWidth, alignRight: true),
            PrintableText(min).fitted(to: numberWidth, alignRight: true),
            PrintableText(max).fitted(to: numberWidth, alignRight: true),
            PrintableText(count).fitted(to: countWidth, alignRight: true),
            PrintableText(age).fitted(to: ageWidth, alignRight: true),
            PrintableText(hops).fitted(to: hopsWidth, alignRight: true),
        ].joined(separator: " ")
    }

    private func line(_ row: Window.Row, showsNode: Bool) -> String {
        let width = Self.numberWidth
        let statistics = row.statistics
        let places = NumberText.meanPlaces(
            scale: row.channel.scale, statistics.min, statistics.max, row.last.value)
        let last: String
        switch row.last {
        case .value(let value): last = NumberText.compact(value, width: width)
        case .null(let reason): last = reason.description
        }
        return Self.columns(
            node: showsNode ? row.node.name : "", channel: row.channel.name, last: last,
            unit: row.channel.unit.symbol,
            mean: statistics.mean.map { NumberText.compact($0, places: places, width: width) }
                ?? "-",
            min: statistics.min.map { NumberText.compact($0, width: width) } ?? "-",
            max: statistics.max.map { NumberText.compact($0, width: width) } ?? "-",
            count: NumberText.count(statistics.count, width: Self.countWidth),
            age: NumberText.age(row.age), hops: String(min(row.hops, 99)))
    }

    private static func trimmed(_ line: String) -> String {
        guard let last = line.utf8.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return "" }
        return String(decoding: line.utf8[...last], as: UTF8.self)
    }
}

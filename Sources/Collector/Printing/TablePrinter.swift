import NearbyCore
import Telemetry

/// A window as a table for people.
///
/// On a terminal each table is drawn over the one before; elsewhere tables follow each other.
public struct TablePrinter: Sendable {
    public struct Settings: Sendable {
        /// Draw over the last table with ANSI sequences.
        public var isLive: Bool
        /// Lines of the terminal; nodes whose rows do not fit are summed up. 0: no limit.
        public var lines: Int
        /// Columns of the terminal.
        public var width: Int
        /// Red for what is silent, yellow for what has no value.
        public var hasColours: Bool

        public init(
            isLive: Bool = false, lines: Int = 0, width: Int = 80, hasColours: Bool = false
        ) {
            self.isLive = isLive
            self.lines = lines
            self.width = width
            self.hasColours = hasColours
        }
    }

    public private(set) var settings: Settings
    private var hasDrawn = false
    private var silence = SilenceWatch()

    public init(settings: Settings = Settings()) { self.settings = settings }

    /// The terminal's size changed.
    mutating func setSize(lines: Int, width: Int) {
        settings.lines = lines
        settings.width = width
    }

    /// The text to write for this window, newline at its end.
    ///
    /// - Parameter footer: lines below the table on a live screen.
    public mutating func print(
        _ window: Window, clock: ShownClock, footer: [String] = []
    ) -> String {
        if window.isClosed { silence.add(window) }
        return redraw(window, clock: clock, footer: footer)
    }

    /// The same window once more, as after a change of the terminal's size.
    mutating func redraw(
        _ window: Window, clock: ShownClock, footer: [String] = []
    ) -> String {
        draw([heading(window, clock: clock)] + table(window, footerCount: footer.count), footer)
    }

    /// Lines that are no table, such as what is said before the first one.
    public mutating func print(lines: [String], footer: [String] = []) -> String {
        draw(lines.map(cut), footer)
    }

    private mutating func draw(_ lines: [String], _ footer: [String]) -> String {
        defer { hasDrawn = true }
        guard settings.isLive else {
            return (hasDrawn ? "\n" : "") + lines.map { $0 + "\n" }.joined()
        }
        let all = lines + footer.map(cut)
        let room = settings.lines > 0 ? max(settings.lines - 1, 1) : all.count
        // Each line is cleared before it is written: behind the last column there is no place for
        // the cursor.
        return (hasDrawn ? "\u{1b}[H" : "\u{1b}[2J\u{1b}[H")
            + all.prefix(room).map { "\u{1b}[K" + $0 + "\n" }.joined() + "\u{1b}[J"
    }

    private func table(_ window: Window, footerCount: Int) -> [String] {
        // Heading, header, and the line of the cursor.
        let lines =
            settings.isLive && settings.lines > 0
            ? max(settings.lines - 3 - footerCount, 1) : nil
        let room = TableSpace(window.rows, lines: lines)
        let rows = window.rows[..<(room.parts.last?.rows.upperBound ?? 0)]
        let labels = NodeLabels(rows)
        let text = RowText(rows, labels, settings)
        var result = [cut(text.header)]
        for part in room.parts {
            for index in part.rows.prefix(part.shownCount) {
                let row = window.rows[index]
                result.append(
                    text.line(
                        row, showsNode: index == part.rows.lowerBound,
                        isSilent: silence.isSilent(row, in: window)))
            }
            guard !part.hidden.isEmpty else { continue }
            let hidden = window.rows[part.hidden]
            result.append(
                summary(
                    hidden, name: part.shownCount == 0 ? text.shownNode(hidden.first) : nil,
                    silentCount: hidden.count { silence.isSilent($0, in: window) },
                    indent: text.layout.node))
        }
        if room.leftOutCount > 0 {
            result.append(cut("… and \(counted(room.leftOutCount, "more node"))"))
        }
        return result
    }

    /// `north      … 8 more channels, 1 silent, 2 without a value`
    private func summary(
        _ rows: ArraySlice<Window.Row>, name: String?, silentCount: Int, indent: Int
    ) -> String {
        var parts = [counted(rows.count, name == nil ? "more channel" : "channel")]
        if silentCount > 0 { parts.append("\(silentCount) silent") }
        let without = rows.count { $0.last.value == nil }
        if without > 0 { parts.append("\(without) without a value") }
        if let newest = rows.map(\.age).min() {
            parts.append("newest \(NumberText.age(newest)) ago")
        }
        let line = cut(
            PrintableText(name ?? "").fitted(to: indent) + " … " + parts.joined(separator: ", "))
        guard settings.hasColours, silentCount > 0 || without > 0 else { return line }
        return (silentCount > 0 ? Colour.red : .yellow).around(line)
    }

    /// `05:45:00–05:45:10 UTC · 2 nodes · 5 channels · 12 lost · 3 late`
    private func heading(_ window: Window, clock: ShownClock) -> String {
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
            "\(clock.timeOfDay(window.start))–\(clock.timeOfDay(end)) \(clock.zone.name)",
            counted(nodes, "node"), counted(window.rows.count, "channel"),
        ]
        if lost > 0 { parts.append("\(lost) lost") }
        if late > 0 { parts.append("\(late) late") }
        if !window.isClosed { parts.append("still open") }
        return cut(parts.joined(separator: " · "))
    }

    private func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    /// Printable, and within the terminal's width.
    private func cut(_ line: String) -> String {
        Self.trimmed(PrintableText(line).fitted(to: settings.width))
    }

    static func trimmed(_ line: String) -> String {
        guard let last = line.utf8.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return "" }
        return String(decoding: line.utf8[...last], as: UTF8.self)
    }
}

/// ANSI colours (ECMA-48 §8.3.117).
enum Colour: Int {
    case red = 31
    case yellow = 33

    func around(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }
}

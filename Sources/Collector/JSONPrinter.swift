import NearbyCore
import Telemetry

/// A window as JSON lines: one object for each channel of each agent.
public struct JSONPrinter: Sendable {
    public init() {}

    /// One line for each row, each with a newline at its end.
    public func print(_ window: Window, clock: WallClock) -> String {
        var text = ""
        for row in window.rows { text += object(row, of: window, clock: clock) + "\n" }
        return text
    }

    private func object(_ row: Window.Row, of window: Window, clock: WallClock) -> String {
        let statistics = row.statistics
        var writer = JSONObjectWriter()
        writer.add("start", string: clock.timestamp(window.start))
        writer.add("width", number: Double(window.width.nanoseconds) / 1e9)
        writer.add("closed", raw: window.isClosed ? "true" : "false")
        writer.add("peer", string: row.peer.description)
        writer.add("run", string: row.run.description)
        writer.add("node", string: row.node.name)
        if !row.node.labels.isEmpty {
            var labels = JSONObjectWriter()
            for label in row.node.labels { labels.add(label.key, string: label.value) }
            writer.add("labels", raw: labels.text)
        }
        writer.add("channel", string: row.channel.name)
        writer.add("unit", string: row.channel.unit.name)
        writer.add("count", raw: String(statistics.count))
        writer.add("nulls", raw: String(statistics.nullCount))
        writer.add("rate", number: row.rate)
        writer.add("last", raw: row.last.value?.description ?? "null")
        if case .null(let reason) = row.last { writer.add("reason", string: reason.description) }
        writer.add("min", raw: statistics.min?.description ?? "null")
        writer.add("mean", number: statistics.mean)
        writer.add("max", raw: statistics.max?.description ?? "null")
        writer.add("deviation", number: statistics.standardDeviation)
        writer.add("p50", number: statistics.p50)
        writer.add("p95", number: statistics.p95)
        writer.add("age", number: Double(row.age.milliseconds) / 1_000)
        writer.add("lost", raw: String(row.lostCount))
        writer.add("late", raw: String(row.lateCount))
        writer.add("hops", raw: String(row.hops))
        writer.add("time", string: row.rank.name)
        return writer.text
    }
}

/// Writes one flat JSON object (RFC 8259), keys in the order in which they are added.
package struct JSONObjectWriter {
    private var body = ""

    package init() {}

    package var text: String { "{" + body + "}" }

    /// `raw` is JSON already.
    package mutating func add(_ key: String, raw: String) {
        if !body.isEmpty { body += "," }
        body += Self.quoted(key) + ":" + raw
    }

    package mutating func add(_ key: String, string: String) { add(key, raw: Self.quoted(string)) }

    /// The shortest digits that give the same double; null for nothing and for what is not finite.
    package mutating func add(_ key: String, number: Double?) {
        guard let number, number.isFinite else { return add(key, raw: "null") }
        let text = number.description
        add(key, raw: text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            default:
                // Also DEL, C1 and the line separators: terminals and older parsers take them for
                // controls.
                let isControl = scalar.properties.generalCategory == .control
                if isControl || scalar.value == 0x2028 || scalar.value == 0x2029 {
                    let digits = String(scalar.value, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                } else {
                    result.unicodeScalars.append(scalar)
                }
            }
        }
        return result + "\""
    }
}

import NearbyCore
import Telemetry

/// Windows as comma-separated values (RFC 4180): a header line, then a record for each channel of
/// each agent. Lines end in CRLF.
public struct CSVPrinter: Sendable {
    private var hasHeader = false

    public init() {}

    public mutating func print(_ window: Window, clock: WallClock) -> String {
        var text = ""
        if !hasHeader {
            text = Self.record(Self.columns)
            hasHeader = true
        }
        for row in window.rows { text += Self.record(fields(row, of: window, clock: clock)) }
        return text
    }

    private static let columns = [
        "start", "width", "peer", "run", "node", "channel", "unit", "count", "nulls", "rate",
        "last",
        "reason", "min", "mean", "max", "deviation", "p50", "p95", "age", "lost", "late", "hops",
        "time",
    ]

    private func fields(_ row: Window.Row, of window: Window, clock: WallClock) -> [String] {
        let statistics = row.statistics
        var reason = ""
        if case .null(let why) = row.last { reason = why.description }
        return [
            clock.timestamp(window.start), Self.number(Double(window.width.nanoseconds) / 1e9),
            row.peer.description, row.run.description, row.node.name, row.channel.name,
            row.channel.unit.name, String(statistics.count), String(statistics.nullCount),
            Self.number(row.rate), row.last.value?.description ?? "", reason,
            statistics.min?.description ?? "", Self.number(statistics.mean),
            statistics.max?.description ?? "", Self.number(statistics.standardDeviation),
            Self.number(statistics.p50), Self.number(statistics.p95),
            Self.number(Double(row.age.milliseconds) / 1_000), String(row.lostCount),
            String(row.lateCount), String(row.hops), row.rank.name,
        ]
    }

    package static func number(_ value: Double?) -> String {
        guard let value, value.isFinite else { return "" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    package static func record(_ fields: [String]) -> String {
        fields.map(quoted).joined(separator: ",") + "\r\n"
    }

    /// Quoted when it holds a comma, a quote or a line break; other control characters are taken
    /// out.
    static func quoted(_ field: String) -> String {
        var scalars = String.UnicodeScalarView()
        var needsQuotes = false
        for scalar in field.unicodeScalars {
            switch scalar {
            case "\"":
                scalars.append("\"")
                needsQuotes = true
            case ",", "\n", "\r": needsQuotes = true
            default: if scalar.properties.generalCategory == .control { continue }
            }
            scalars.append(scalar)
        }
        return needsQuotes ? "\"\(String(scalars))\"" : String(scalars)
    }
}

import NearbyCore
import Telemetry

/// Windows as comma-separated values (RFC 4180): a header line, then a record for each channel of
/// each agent. Lines end in CRLF.
public struct CSVPrinter: Sendable {
    private var hasHeader = false

    public init() {}

    public mutating func print(_ window: Window, clock: ShownClock) -> String {
        var text = ""
        if !hasHeader {
            text = Self.record(WindowRecord.csvColumns)
            hasHeader = true
        }
        for row in window.rows {
            text += Self.record(WindowRecord(row, of: window, clock: clock).csv)
        }
        return text
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
        // Most fields, and of a long answer every one: nothing to look up, nothing to copy.
        if field.isPrintableASCII(except: "\"", ",") { return field }
        var scalars = String.UnicodeScalarView()
        var needsQuotes = false
        for scalar in field.unicodeScalars {
            switch scalar {
            case "\"":
                scalars.append("\"")
                needsQuotes = true
            case ",", "\n", "\r": needsQuotes = true
            default: if scalar.isControl { continue }
            }
            scalars.append(scalar)
        }
        return needsQuotes ? "\"\(String(scalars))\"" : String(scalars)
    }
}

import NearbyCore
import Telemetry

/// A window as JSON lines: one object for each channel of each agent.
public struct JSONPrinter: Sendable {
    public init() {}

    /// One line for each row, each with a newline at its end.
    public func print(_ window: Window, clock: ShownClock) -> String {
        var text = ""
        for row in window.rows { text += WindowRecord(row, of: window, clock: clock).json + "\n" }
        return text
    }
}

/// Writes one flat JSON object (RFC 8259), keys in the order in which they are added.
package struct JSONObjectWriter {
    private var body = ""

    package init() {}

    package var text: String { "{" + body + "}" }

    /// Every number that is written is one that any JSON reader keeps exactly: integers of a
    /// greater magnitude, and decimals of more digits, become strings.
    static let integerMax: UInt64 = 1 << 53

    /// `raw` is JSON already.
    private mutating func add(_ key: String, raw: String) {
        if !body.isEmpty { body += "," }
        body += Self.quoted(key) + ":" + raw
    }

    /// `null` for nothing, here and below.
    package mutating func add(_ key: String, string: String?) {
        add(key, raw: string.map(Self.quoted) ?? "null")
    }

    package mutating func add(_ key: String, flag: Bool) { add(key, raw: flag ? "true" : "false") }

    /// The shortest digits that give the same double; null also for what is not finite.
    package mutating func add(_ key: String, number: Double?) {
        guard let number, number.isFinite else { return add(key, raw: "null") }
        let text = number.description
        add(key, raw: text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
    }

    package mutating func add(_ key: String, integer: UInt64?) {
        guard let integer else { return add(key, raw: "null") }
        add(key, raw: integer < Self.integerMax ? String(integer) : Self.quoted(String(integer)))
    }

    /// All digits, as the sensor gave them.
    package mutating func add(_ key: String, decimal: DecimalValue?) {
        guard let decimal else { return add(key, raw: "null") }
        let isExact =
            decimal.coefficient.magnitude < Self.integerMax
            && (decimal.exponent <= 0 || abs(decimal.double) < Double(Self.integerMax))
        let text = decimal.description
        add(key, raw: isExact ? text : Self.quoted(text))
    }

    package mutating func add(_ key: String, _ labels: [Label]) {
        var object = JSONObjectWriter()
        for label in labels { object.add(label.key, string: label.value) }
        add(key, raw: object.text)
    }

    static func quoted(_ text: String) -> String {
        if text.isPrintableASCII(except: "\"", "\\") { return "\"\(text)\"" }
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
                if scalar.isControl || scalar.value == 0x2028 || scalar.value == 0x2029 {
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

import NearbyCore
import Telemetry

/// The text of a recording: CSV (RFC 4180, but that a cell ends with its line) with a time first.
package enum Recording {
    /// The cells of a line, without quotation marks and the space around them; nil where a
    /// quotation mark is not closed.
    package static func cells(_ line: String) -> [String]? {
        let quote = UInt8(ascii: "\"")
        var cells: [String] = []
        var cell: [UInt8] = []
        var isQuoted = false
        var wasQuote = false
        for byte in line.utf8 {
            if byte == quote {
                // A doubled mark within marks stands for one.
                if wasQuote, !isQuoted { cell.append(quote) }
                isQuoted.toggle()
                wasQuote = !isQuoted
            } else {
                wasQuote = false
                if byte == UInt8(ascii: ","), !isQuoted {
                    cells.append(trimmed(cell))
                    cell = []
                } else {
                    cell.append(byte)
                }
            }
        }
        return isQuoted ? nil : cells + [trimmed(cell)]
    }

    private static func trimmed(_ cell: [UInt8]) -> String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let rest = cell.drop(while: isSpace)
        let count = rest.reversed().drop(while: isSpace).count
        return String(decoding: rest.prefix(count), as: UTF8.self)
    }

    /// `temperature [Cel]` is a name and a unit; without one the unit is 1.
    package static func column(_ text: String) -> (name: String, unit: String) {
        guard text.last == "]", let open = text.lastIndex(of: "[") else { return (text, "1") }
        var name = text[..<open]
        while name.last == " " { name.removeLast() }
        return (String(name), String(text[text.index(after: open)...].dropLast()))
    }

    /// Milliseconds: seconds since any origin, `12.5`, or a date, `2026-05-01T12:00:00.250+02:00`
    /// (RFC 3339; a space instead of the T, and no zone for UTC, are taken too).
    package static func milliseconds(_ text: String) -> Int64? {
        if let value = try? DecimalValue(parsing: text) {
            return value.rescaled(to: -3)?.coefficient
        }
        var date = DateText(text)
        return date.milliseconds()
    }
}

/// Reads a date of RFC 3339 from left to right.
private struct DateText {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = Substring(text).utf8 }

    mutating func milliseconds() -> Int64? {
        guard let year = number(4), take("-"), let month = number(2), take("-"),
            let day = number(2), let date = CivilDay(year: year, month: month, day: day),
            take("T") || take("t") || take(" "),
            let hour = number(2), take(":"), let minute = number(2), take(":"),
            let second = number(2), hour < 24, minute < 60, second < 61,
            let fraction = fraction(), let zone = zone(), rest.isEmpty
        else { return nil }
        let days = date.daysSince1970
        return (((days * 24 + hour) * 60 + minute - zone) * 60 + second) * 1_000 + fraction
    }

    /// Milliseconds behind a point; further digits are cut off. 0 if there is none.
    private mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var value: Int64 = 0
        var count = 0
        while let digit = digit() {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard (1...9).contains(count) else { return nil }
        return count == 1 ? value * 100 : count == 2 ? value * 10 : value
    }

    /// Minutes east of UTC.
    private mutating func zone() -> Int64? {
        if rest.isEmpty || take("Z") || take("z") { return 0 }
        let isEast = take("+")
        guard isEast || take("-"), let hours = number(2), take(":"), let minutes = number(2),
            hours < 24, minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (isEast ? 1 : -1)
    }

    private mutating func number(_ digits: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return value
    }

    private mutating func digit() -> Int64? {
        guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
            return nil
        }
        rest.removeFirst()
        return Int64(byte - UInt8(ascii: "0"))
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }
}

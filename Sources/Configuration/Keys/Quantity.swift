/// Numbers with units, as people write them.
package enum Quantity {
    private static let durations: [(suffix: String, unit: Duration)] = [
        ("ms", .milliseconds(1)), ("min", .seconds(60)), ("s", .seconds(1)), ("h", .seconds(3_600)),
        ("d", .seconds(86_400)),
    ]

    /// `250ms`, `10s`, `5min`, `2h`, `90d`; `0` needs no unit.
    static func duration(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        for (suffix, unit) in durations where text.hasSuffix(suffix) {
            guard let number = integer(String(text.dropLast(suffix.count))) else { continue }
            return unit * number
        }
        return nil
    }

    private static let words: [(word: String, suffix: String)] = [
        ("milliseconds", "ms"), ("millisecond", "ms"), ("seconds", "s"), ("second", "s"),
        ("secs", "s"), ("sec", "s"), ("minutes", "min"), ("minute", "min"), ("mins", "min"),
        ("m", "min"), ("hours", "h"), ("hour", "h"), ("hrs", "h"), ("hr", "h"), ("days", "d"),
        ("day", "d"),
    ]

    /// As people write it on a command line: `2h`, `30min`, `30 minutes`, `1 day`, `1h30min`,
    /// `1.5 h`. Nil for anything else, and for a number without a unit.
    static func writtenDuration(_ text: String) -> Duration? {
        if let duration = duration(text) { return duration }
        var rest = Array(text.lowercased().utf8)[...]
        var total: Duration = .zero
        var isAny = false
        while !rest.isEmpty {
            rest = rest.drop { $0 == UInt8(ascii: " ") }
            let digits = rest.prefix { isDigit($0) || $0 == UInt8(ascii: ".") }
            rest = rest.dropFirst(digits.count).drop { $0 == UInt8(ascii: " ") }
            let letters = rest.prefix { !isDigit($0) && $0 != UInt8(ascii: " ") }
            rest = rest.dropFirst(letters.count).drop { $0 == UInt8(ascii: " ") }
            let word = String(decoding: letters, as: UTF8.self)
            let suffix = words.first { $0.word == word }?.suffix ?? word
            guard let unit = durations.first(where: { $0.suffix == suffix })?.unit,
                let part = product(String(decoding: digits, as: UTF8.self), unit)
            else { return nil }
            total += part
            isAny = true
        }
        return isAny ? total : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// - Parameter number: whole or with up to three places.
    private static func product(_ number: String, _ unit: Duration) -> Duration? {
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = parts.first.flatMap({ integer(String($0)) }) else {
            return nil
        }
        guard parts.count == 2 else { return unit * whole }
        guard parts[1].utf8.count <= 3, let fraction = integer(String(parts[1])) else { return nil }
        let divisor = [10, 100, 1_000][parts[1].utf8.count - 1]
        return unit * whole + unit * fraction / divisor
    }

    private static let sizes: [(suffix: String, unit: Int)] = [
        ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1),
    ]

    /// `400`, `400B`, `64KiB`, `4MiB`, `1GiB`: bytes.
    static func bytes(_ text: String) -> Int? {
        for (suffix, unit) in sizes where text.hasSuffix(suffix) {
            guard let number = integer(String(text.dropLast(suffix.count))) else { return nil }
            let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
            return overflow ? nil : bytes
        }
        return integer(text)
    }

    /// 1 to 9 decimal digits and nothing else.
    package static func integer(_ text: String) -> Int? {
        guard (1...9).contains(text.utf8.count),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// The text itself if it is `[-] digits [. digits]`, of 1 to 15 digits in all.
    static func decimal(_ text: String) -> String? {
        let parts = (text.hasPrefix("-") ? text.dropFirst() : text[...])
            .split(separator: ".", omittingEmptySubsequences: false)
        let isNumber = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        let digitCount = parts.reduce(0) { $0 + $1.utf8.count }
        return isNumber && parts.count <= 2 && digitCount <= 15 ? text : nil
    }

    static func text(_ duration: Duration) -> String {
        if duration == .zero { return "0" }
        let units: [(suffix: String, milliseconds: Int64)] = [
            ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1),
        ]
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        for (suffix, size) in units where milliseconds % size == 0 {
            return "\(milliseconds / size)\(suffix)"
        }
        return "\(milliseconds)ms"
    }

    static func text(bytes: Int) -> String {
        let unit = sizes.first { bytes >= $0.unit && bytes % $0.unit == 0 }
        guard let unit, unit.unit > 1 else { return String(bytes) }
        return "\(bytes / unit.unit)\(unit.suffix)"
    }
}

extension Settings {
    /// A duration as configurations write it: `250ms`, `10s`, `5min`, `2h`, `90d`.
    public static func duration(_ text: String) -> Duration? { Quantity.duration(text) }

    /// A duration as command lines have it: also `1 day`, `30 minutes` or `1h30min`.
    public static func writtenDuration(_ text: String) -> Duration? {
        Quantity.writtenDuration(text)
    }

    /// `2h`: as configurations write it.
    public static func text(_ duration: Duration) -> String { Quantity.text(duration) }
}

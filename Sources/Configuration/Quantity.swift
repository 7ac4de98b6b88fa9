/// Durations as people write them: a whole number and a unit.
enum Quantity {
    private static let durations: [(suffix: String, unit: Duration)] = [
        ("ms", .milliseconds(1)), ("min", .seconds(60)), ("s", .seconds(1)), ("h", .seconds(3_600)),
        ("d", .seconds(86_400)),
    ]

    /// `250ms`, `10s`, `5min`, `2h`, `90d`; `0` needs no unit.
    static func duration(_ text: String) -> Duration? {
        if text == "0" { return .zero }
        for (suffix, unit) in durations where text.hasSuffix(suffix) {
            let digits = text.dropLast(suffix.count)
            guard !digits.isEmpty, digits.allSatisfy(\.isASCII), let number = Int64(digits),
                number >= 0, number <= 1_000_000_000
            else { continue }
            return unit * Int(number)
        }
        return nil
    }

    static func text(_ duration: Duration) -> String {
        if duration == .zero { return "0s" }
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
}

extension Settings {
    /// A duration as configurations write it: `250ms`, `10s`, `5min`, `2h`, `90d`.
    public static func duration(_ text: String) -> Duration? { Quantity.duration(text) }
}

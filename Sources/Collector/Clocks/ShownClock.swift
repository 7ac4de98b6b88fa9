import NearbyCore

/// How our monotonic clock relates to UTC, as far as it is known.
public struct ShownClock: Hashable, Sendable {
    /// Add this to an `Instant` to have the time since 1970-01-01T00:00:00Z.
    public var unixOffset: Duration
    /// In which zone people are shown times of day; timestamps are in UTC whatever it is.
    public var zone = Zone.utc

    /// What is added to UTC, and what that is called.
    public struct Zone: Hashable, Sendable {
        /// `UTC`, `CET`, `+03`.
        public var name: String
        public var secondsEast: Int64

        public init(name: String, secondsEast: Int64) {
            self.name = name
            self.secondsEast = secondsEast
        }

        public static let utc = Zone(name: "UTC", secondsEast: 0)
    }

    public init(unixOffset: Duration) { self.unixOffset = unixOffset }

    /// `2026-11-21T05:45:00Z` (RFC 3339); milliseconds are written unless they are zero.
    public func timestamp(_ instant: Instant) -> String {
        let (date, time, fraction) = parts(of: instant)
        return "\(date)T\(time)\(fraction)Z"
    }

    /// `05:45:00`, in `zone`.
    func timeOfDay(_ instant: Instant) -> String {
        parts(of: instant + .seconds(min(max(zone.secondsEast, -86_400), 86_400))).time
    }

    private func parts(of instant: Instant) -> (date: String, time: String, fraction: String) {
        let milliseconds = floorDivide((instant + unixOffset).nanoseconds, by: 1_000_000)
        let days = floorDivide(milliseconds.quotient, by: 86_400_000)
        let (year, month, day) = Self.civil(daysSince1970: days.quotient)
        let rest = days.remainder / 1_000
        let fraction = days.remainder % 1_000
        let date = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
        let time = "\(pad(rest / 3_600, 2)):\(pad(rest / 60 % 60, 2)):\(pad(rest % 60, 2))"
        return (date, time, fraction == 0 ? "" : "." + pad(fraction, 3))
    }

    private func pad(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    private func floorDivide(_ value: Int64, by divisor: Int64) -> (
        quotient: Int64, remainder: Int64
    ) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// The proleptic Gregorian date (Hinnant, "chrono-compatible low-level date algorithms").
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64)
    {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let place = (5 * dayOfYear + 2) / 153
        let month = place < 10 ? place + 3 : place - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * place + 2) / 5 + 1
        )
    }
}

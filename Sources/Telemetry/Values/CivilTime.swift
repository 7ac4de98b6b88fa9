/// A day of the proleptic Gregorian calendar.
///
/// After Howard Hinnant, "chrono-compatible low-level date algorithms": years begin in March, so
/// that leap days are their last.
public struct CivilDay: Equatable, Sendable {
    public let year: Int64
    /// 1…12.
    public let month: Int64
    /// 1…31.
    public let day: Int64

    public init(daysSince1970 days: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let place = (5 * dayOfYear + 2) / 153
        month = place < 10 ? place + 3 : place - 9
        day = dayOfYear - (153 * place + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Nil for a day that the calendar does not have, and for years outside 0–9999.
    public init?(year: Int64, month: Int64, day: Int64) {
        guard (0...9_999).contains(year), (1...12).contains(month),
            (1...Self.days(in: month, of: year)).contains(day)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
    }

    public var daysSince1970: Int64 {
        let years = month <= 2 ? year - 1 : year
        let era = (years >= 0 ? years : years - 399) / 400
        let yearOfEra = years - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// A day and the time in it. What is added to UTC before, as for a zone, is the caller's.
public struct CivilTime: Sendable {
    public let day: CivilDay
    /// 0…86,399.
    public let second: Int64
    /// 0…999,999,999.
    public let nanosecond: Int64

    /// - Parameter utc: nanoseconds since 1970.
    public init(_ utc: Int64) {
        let seconds = utc.dividedDown(by: 1_000_000_000)
        let days = seconds.quotient.dividedDown(by: 86_400)
        day = CivilDay(daysSince1970: days.quotient)
        (second, nanosecond) = (days.remainder, seconds.remainder)
    }

    /// `2026-11-21`.
    public var date: String {
        "\(day.year.padded(to: 4))-\(day.month.padded(to: 2))-\(day.day.padded(to: 2))"
    }

    /// `05:45:00`.
    public var clock: String {
        let minute = second / 60 % 60
        return "\((second / 3_600).padded(to: 2)):\(minute.padded(to: 2)):"
            + (second % 60).padded(to: 2)
    }

    /// `.250`; empty where there are none.
    public var milliseconds: String {
        let milliseconds = nanosecond / 1_000_000
        return milliseconds == 0 ? "" : "." + milliseconds.padded(to: 3)
    }
}

extension Int64 {
    /// Rounded down, with what is left: 0 or more. The divisor is positive.
    public func dividedDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// With zeros in front.
    public func padded(to width: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
    }
}

import Collector
import NearbyCore
import Telemetry

/// Times of day as people and programs write them (RFC 3339).
enum UTCText {
    /// `2026-11-21T05:45:00.250Z`, `2026-11-21T06:45:00+01:00`, `2026-11-21T05:45Z`, or a day
    /// alone, which means its midnight in UTC. Nanoseconds since 1970; nil for anything else, and
    /// for years outside 1970–2200.
    static func parse(_ text: String) -> Int64? {
        var rest = Array(text.utf8)[...]
        guard let year = number(4, &rest), (1970...2200).contains(year), take("-", &rest),
            let month = number(2, &rest), take("-", &rest), let day = number(2, &rest),
            let date = CivilDay(year: year, month: month, day: day)
        else { return nil }
        let midnight = date.daysSince1970 * 86_400_000_000_000
        if rest.isEmpty { return midnight }
        guard take("T", &rest) || take("t", &rest) || take(" ", &rest),
            let time = timeOfDay(&rest), let zone = zone(&rest), rest.isEmpty
        else { return nil }
        return midnight + time - zone
    }

    /// RFC 3339 with `Z`; milliseconds are written unless they are zero.
    static func text(_ utc: Int64) -> String {
        ShownClock(unixOffset: .zero).timestamp(Instant(nanoseconds: utc))
    }

    /// `HH:MM[:SS[.f…]]`, nanoseconds.
    private static func timeOfDay(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard let hour = number(2, &rest), hour < 24, take(":", &rest),
            let minute = number(2, &rest), minute < 60
        else { return nil }
        var nanoseconds = (hour * 60 + minute) * 60_000_000_000
        guard take(":", &rest) else { return nanoseconds }
        // 60: a leap second counts as the second after it.
        guard let second = number(2, &rest), second <= 60 else { return nil }
        nanoseconds += second * 1_000_000_000
        guard take(".", &rest) else { return nanoseconds }
        var place: Int64 = 100_000_000
        var count = 0
        while let digit = number(1, &rest) {
            nanoseconds += digit * place
            place /= 10
            count += 1
        }
        return count > 0 ? nanoseconds : nil
    }

    /// `Z`, `+HH:MM` or `-HH:MM`, nanoseconds.
    private static func zone(_ rest: inout ArraySlice<UInt8>) -> Int64? {
        if take("Z", &rest) || take("z", &rest) { return 0 }
        let isEast = take("+", &rest)
        guard isEast || take("-", &rest), let hour = number(2, &rest), hour < 24, take(":", &rest),
            let minute = number(2, &rest), minute < 60
        else { return nil }
        return (hour * 60 + minute) * (isEast ? 60_000_000_000 : -60_000_000_000)
    }

    private static func take(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    /// So many decimal digits.
    private static func number(_ digits: Int, _ rest: inout ArraySlice<UInt8>) -> Int64? {
        guard rest.count >= digits else { return nil }
        var value: Int64 = 0
        for byte in rest.prefix(digits) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        }
        rest.removeFirst(digits)
        return value
    }
}

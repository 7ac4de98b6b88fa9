import NearbyCore

/// A time as people write it; most of them mean something only in a zone, and some only now.
public enum WrittenTime: Hashable, Sendable {
    /// UTC, nanoseconds since 1970.
    case exact(Int64)
    /// As if the zone were UTC.
    case inZone(Int64)
    /// Nanoseconds since midnight, so many days before today.
    case ofDay(Int64, daysAgo: Int64)
    case ago(Duration)

    /// `2026-11-21T05:45:00Z` with a zone; `2026-11-21T05:45`, `2026-11-21`, `10:00`, `today`,
    /// `9:00`, `yesterday`, `yesterday 10:00` without; `now`. Nil for anything else.
    public init?(_ text: String) {
        if text.lowercased() == "now" {
            self = .ago(.zero)
        } else if let utc = UTCText.parse(text), text.utf8.count > 10 {
            self = .exact(utc)
        } else if let shown = UTCText.parse(text) ?? UTCText.parse(text + "Z") {
            self = .inZone(shown)
        } else {
            let words = text.split(separator: " ", omittingEmptySubsequences: false)
            let day: Int64? =
                switch words.first?.lowercased() {
                case "today": 0
                case "yesterday": 1
                default: nil
                }
            let clock = day == nil ? words[...] : words.dropFirst()
            guard clock.count <= 1, day != nil || clock.count == 1 else { return nil }
            // The time of day of the first of all days.
            let time = clock.first.map { UTCText.parse("1970-01-01T\(Self.padded($0))Z") } ?? 0
            guard let time else { return nil }
            self = .ofDay(time, daysAgo: day ?? 0)
        }
    }

    /// `9:00` as `09:00`.
    private static func padded(_ clock: Substring) -> String {
        (clock.dropFirst().first == ":" ? "0" : "") + clock
    }

    /// UTC, nanoseconds since 1970.
    public func utc(in times: ShownTimes, now: Int64) -> Int64 {
        switch self {
        case .exact(let utc): return utc
        case .inZone(let shown): return times.utc(shown: shown)
        case .ago(let age): return now.subtractingSaturating(age.nanoseconds)
        case .ofDay(let time, let daysAgo):
            let day: Int64 = 86_400_000_000_000
            let shown = now.addingSaturating(times.offset(at: now) * 1_000_000_000)
            let midnight = shown - (shown % day + day) % day - daysAgo * day
            return times.utc(shown: midnight + time)
        }
    }
}

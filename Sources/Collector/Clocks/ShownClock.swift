import NearbyCore
import Telemetry

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
        let time = CivilTime((instant + unixOffset).nanoseconds)
        return "\(time.date)T\(time.clock)\(time.milliseconds)Z"
    }

    /// `05:45:00`, in `zone`.
    func timeOfDay(_ instant: Instant) -> String {
        let zoned = instant + unixOffset + .seconds(min(max(zone.secondsEast, -86_400), 86_400))
        return CivilTime(zoned.nanoseconds).clock
    }
}

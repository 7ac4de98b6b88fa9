import NearbyCore
import Telemetry

extension ClockRank {
    /// From arrivals alone: late by the smallest delay seen.
    static let estimate = ClockRank.none
}

/// Maps the clock of one boot of an agent to ours: the smallest (arrival − measurement) seen in the
/// last one to two spans of `Limits.clockSpan`, so that drift is followed.
struct ClockEstimate: Sendable {
    private var current: Duration
    private var previous: Duration?
    private var spanEnd: Instant

    /// - Parameters:
    ///   - sent: the newest time in a message, the agent's clock.
    ///   - arrived: when it came, our clock.
    init(sent: Instant, arrived: Instant) {
        current = arrived - sent
        spanEnd = arrived + Limits.clockSpan
    }

    mutating func observe(sent: Instant, arrived: Instant) {
        if arrived >= spanEnd {
            previous = current
            current = arrived - sent
            spanEnd = arrived + Limits.clockSpan
        } else {
            current = min(current, arrived - sent)
        }
    }

    /// Add this to the agent's time.
    var offset: Duration { min(current, previous ?? current) }
}

extension Limits {
    /// See `ClockEstimate`.
    static let clockSpan: Duration = .seconds(600)
}

/// A point on the monotonic clock of one process or of one simulation.
///
/// Nanoseconds since an origin that means nothing by itself: CLOCK_BOOTTIME's in a program, zero in
/// the simulator. Arithmetic saturates, so that an absurd duration from outside cannot trap.
public struct Instant: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = Instant(nanoseconds: 0)
    public static let distantFuture = Instant(nanoseconds: .max)

    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public static func + (left: Instant, right: Duration) -> Instant {
        Instant(nanoseconds: left.nanoseconds.addingSaturating(right.nanoseconds))
    }

    public static func - (left: Instant, right: Duration) -> Instant {
        Instant(nanoseconds: left.nanoseconds.subtractingSaturating(right.nanoseconds))
    }

    /// How long after `right` this is; negative if before.
    public static func - (left: Instant, right: Instant) -> Duration {
        Duration(wholeNanoseconds: left.nanoseconds.subtractingSaturating(right.nanoseconds))
    }
}

// A duration has 128 bits of attoseconds. Nearly all here are between zero and 18 s: their upper
// half is zero, and they are converted without the 128-bit arithmetic of which each frame took a
// dozen.
extension Duration {
    fileprivate init(wholeNanoseconds nanoseconds: Int64) {
        let (attoseconds, overflow) = UInt64(truncatingIfNeeded: nanoseconds)
            .multipliedReportingOverflow(by: 1_000_000_000)
        self =
            overflow || nanoseconds < 0
            ? .nanoseconds(nanoseconds) : Duration(_high: 0, low: attoseconds)
    }

    /// Whole nanoseconds, saturating at ±292 years.
    public var nanoseconds: Int64 {
        if _high == 0 { return Int64(_low / 1_000_000_000) }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return scaled.addingSaturating(attoseconds / 1_000_000_000)
    }

    /// Whole milliseconds, rounded towards zero.
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    public static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }
}

extension Int64 {
    public func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    public func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }
}

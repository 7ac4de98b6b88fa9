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
        let nanoseconds = left.nanoseconds.subtractingSaturating(right.nanoseconds)
        let attoseconds = nanoseconds.multipliedFullWidth(by: 1_000_000_000)
        return Duration(_high: attoseconds.high, low: attoseconds.low)
    }
}

// A duration has 128 bits of attoseconds. Each frame converts a dozen, each reading a few, so none
// is divided as 128 bits: from zero to 18 s, as nearly all are, the upper half is zero; for others,
// such as offsets to UTC, the halves are divided one by one.
extension Duration {
    /// Whole nanoseconds, rounded towards zero, saturating at ±292 years.
    public var nanoseconds: Int64 {
        if _high == 0 { return Int64(_low / 1_000_000_000) }
        if _high > 0 { return Self.nanoseconds(UInt64(_high), _low) ?? .max }
        let low = 0 &- _low
        let high = UInt64(bitPattern: ~_high) &+ (low == 0 ? 1 : 0)
        return Self.nanoseconds(high, low).map { -$0 } ?? .min
    }

    /// (high · 2⁶⁴ + low) / 10⁹, as 2⁶⁴ is 18,446,744,073 · 10⁹ + 709,551,616; nil from 2⁶³ on.
    private static func nanoseconds(_ high: UInt64, _ low: UInt64) -> Int64? {
        guard high < 500_000_000 else { return nil }
        let part = (low / 1_000_000_000, low % 1_000_000_000)
        let rest = (high &* 709_551_616).quotientAndRemainder(dividingBy: 1_000_000_000)
        let carry = (part.1 &+ rest.remainder) / 1_000_000_000
        return Int64(high &* 18_446_744_073 &+ part.0 &+ rest.quotient &+ carry)
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

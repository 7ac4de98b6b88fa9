import NearbyCore

/// What may be done so often at once after a quiet time, and then once in each interval.
struct Allowance: Sendable {
    private let burst: Int64
    /// Nanoseconds.
    private let interval: Int64
    private var left: Int64
    private var leftAt = Instant.zero

    init(burst: Int64, intervalNanoseconds: Int64) {
        self.burst = burst
        interval = intervalNanoseconds
        left = burst
    }

    /// Whether it may be done once more; then it is used.
    mutating func take(_ now: Instant) -> Bool {
        guard isOpen(now) else { return false }
        spend()
        return true
    }

    mutating func isOpen(_ now: Instant) -> Bool {
        let passed = max(0, now.nanoseconds - leftAt.nanoseconds) / interval
        if passed >= burst - left {
            left = burst
            leftAt = now
        } else {
            left += passed
            leftAt = Instant(nanoseconds: leftAt.nanoseconds + passed * interval)
        }
        return left > 0
    }

    mutating func spend() { left = max(0, left - 1) }

    /// When it may be done again.
    var nextOpening: Instant {
        left > 0 ? leftAt : Instant(nanoseconds: leftAt.nanoseconds + interval)
    }
}

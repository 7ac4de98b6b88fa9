import NearbyCore

/// Of how many changes that one neighbour brought about the others are told at once: two full
/// tables, then so many a second.
struct NewsAllowance: Sendable {
    private var left = Limits.routingNewsBurst
    private var leftAt = Instant.zero

    /// Whether there is one more; then it is used.
    mutating func take(_ now: Instant) -> Bool {
        let interval = 1_000_000_000 / Limits.routingNewsPerSecond
        let passed = max(0, now.nanoseconds - leftAt.nanoseconds) / interval
        if passed >= Limits.routingNewsBurst - left {
            left = Limits.routingNewsBurst
            leftAt = now
        } else {
            left += passed
            leftAt = Instant(nanoseconds: leftAt.nanoseconds + passed * interval)
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}

extension Limits {
    /// Changes that a neighbour may bring about at once, and for each second.
    static let routingNewsBurst: Int64 = 2_048
    static let routingNewsPerSecond: Int64 = 512
}

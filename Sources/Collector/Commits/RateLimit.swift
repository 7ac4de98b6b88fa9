import NearbyCore

/// What somebody may use up evenly over time: a token bucket, kept as the moment at which it will
/// be full again. Whoever has something left may overdraw it once, so that a budget smaller than
/// one message still lets messages through.
struct RateLimit: Hashable, Sendable {
    /// So many in each period, and as many at once.
    struct Rate: Hashable, Sendable {
        /// At least 1.
        var count: Int
        var period: Duration

        init(_ count: Int, each period: Duration) {
            self.count = max(1, count)
            self.period = period
        }
    }

    private(set) var fullAt = Instant.zero

    func isSpent(_ rate: Rate, now: Instant) -> Bool { fullAt - now >= rate.period }

    mutating func spend(_ count: Int, of rate: Rate, now: Instant) {
        fullAt = max(fullAt, now) + rate.period * count / rate.count
    }
}

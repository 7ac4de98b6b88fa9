import NearbyCore

/// When to send beacons: often when something is new, seldom when all is known, after Trickle (RFC 6206).
///
/// Deviations: the first intervals are ours (at once, 100 ms, 300 ms, 1 s, then doubling to 30 s), and
/// there is no redundancy counter: a beacon tells of its sender, so nobody else's makes it superfluous.
public struct Trickle: Sendable, Hashable {
    private var step = 0
    public private(set) var next: Instant

    /// The first beacon is due at once.
    public init(now: Instant) { next = now }

    /// Something is new: from a second upwards again, unless it is sooner already.
    public mutating func hasten(now: Instant, random: inout SeededGenerator) {
        guard step > 3 else { return }
        step = 3
        let soon = now + random.duration(in: .milliseconds(10)..<Duration.seconds(1))
        next = min(next, soon)
    }

    /// Whether a beacon is to be sent now; if so, the next is planned.
    public mutating func isDue(now: Instant, random: inout SeededGenerator) -> Bool {
        guard now >= next else { return false }
        let interval = Self.interval(step)
        step = min(step + 1, 9)
        // Between half and the whole of the interval (RFC 6206 §4.2), so that boards that start together
        // do not go on together; the first ones keep their time within a tenth.
        let earliest = step <= 3 ? interval * 9 / 10 : interval / 2
        next = now + random.duration(in: earliest..<interval)
        return true
    }

    static func interval(_ step: Int) -> Duration {
        switch step {
        case 0: .milliseconds(100)
        case 1: .milliseconds(300)
        default: min(.seconds(1) * (1 << (step - 2)), .seconds(30))
        }
    }
}

import NearbyCore

/// When to try again: at once, then after a wait that doubles with every failure, with jitter.
struct Backoff: Equatable, Sendable {
    let first: Duration
    let most: Duration
    private(set) var at: Instant?
    private var wait: Duration?

    init(first: Duration, most: Duration) {
        self.first = first
        self.most = most
    }

    mutating func fail(_ now: Instant, using random: inout SeededGenerator) {
        let next = min(most, wait.map { $0 * 2 } ?? first)
        wait = next
        at = now + random.duration(in: next..<next + next / 4)
    }

    /// Not before this time, without counting it as a failure.
    mutating func postpone(until time: Instant) { at = max(at ?? time, time) }

    /// The time has come: forgets it, but not the wait that it led to.
    mutating func isDue(_ now: Instant) -> Bool {
        guard let at, at > now else {
            self.at = nil
            return true
        }
        return false
    }

    mutating func succeed() {
        at = nil
        wait = nil
    }
}

import NearbyCore

/// A pause after something that anybody can provoke: twice as long each time, and short again once
/// it was not provoked for ten of the longest.
struct GrowingPause: Sendable, Hashable {
    private let first: Duration
    private let longest: Duration
    private var until = Instant.zero
    private var length: Duration

    init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        length = first
    }

    func isOver(_ now: Instant) -> Bool { now >= until }

    mutating func begin(_ now: Instant) {
        if now - until >= longest * 10 { length = first }
        until = now + length
        length = min(length * 2, longest)
    }
}

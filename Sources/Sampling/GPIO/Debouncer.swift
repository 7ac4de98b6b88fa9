import NearbyCore

/// Takes a line that bounces for one that changes: a change counts once the line has stayed for the
/// whole period.
///
/// What the kernel does where libgpiod 2.x asks it to. Edges may be handed over late and several at
/// once, as long as they come in their order.
struct Debouncer: Sendable {
    struct Change: Equatable, Sendable {
        var level: Bool
        /// When the line came to rest: the last edge of the bouncing.
        var time: Instant
    }

    let period: Duration
    /// The level that holds; nil until one was seen.
    private(set) var settled: Bool?
    private var pending: Change?

    init(period: Duration) { self.period = period }

    /// When a change that is under way counts.
    var nextDeadline: Instant? { pending.map { $0.time + period } }

    /// The raw line changed to this level; what has settled before.
    mutating func edge(to level: Bool, at time: Instant) -> Change? {
        let change = settle(at: time)
        // The other half of an edge that was seen only in part.
        if settled == nil { settled = !level }
        pending = level == settled ? nil : Change(level: level, time: time)
        return change
    }

    /// The raw line has this level now. It begins a change whose edge was missed.
    mutating func observe(_ level: Bool, at time: Instant) {
        if settled == nil { settled = level }
        if level != settled, pending == nil { pending = Change(level: level, time: time) }
    }

    /// The change that counts by now.
    mutating func settle(at now: Instant) -> Change? {
        guard let change = pending, now >= change.time + period else { return nil }
        pending = nil
        settled = change.level
        return change
    }
}

import NearbyCore

/// What our way to a collector costs, as far as neighbours are chosen for it: what becomes cheaper
/// counts at once, what becomes dearer or is lost only when it stays so. Routing mostly finds
/// another way by itself, and a link that comes and goes is no reason to change neighbours.
struct SettledCost: Sendable, Hashable {
    /// Nil: there is no way.
    private(set) var cost: UInt16?
    /// What it has been since.
    private var latest: UInt16?
    /// When the latest counts: it is none, or it has not been as cheap for long, whatever it was.
    private var lostFrom: Instant?
    private var dearerFrom: Instant?

    init(_ cost: UInt16?) {
        self.cost = cost
        latest = cost
    }

    var deadline: Instant? { [lostFrom, dearerFrom].compactMap { $0 }.min() }

    mutating func change(to new: UInt16?, now: Instant) {
        latest = new
        guard let cost, new ?? .max > cost else { return accept() }
        lostFrom = new == nil ? lostFrom ?? now + Limits.lostWayPatience : nil
        dearerFrom = dearerFrom ?? now + Limits.dearerWayPatience
    }

    /// True if there is no way any more.
    mutating func deadlineReached(_ now: Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        accept()
        return cost == nil
    }

    private mutating func accept() {
        cost = latest
        (lostFrom, dearerFrom) = (nil, nil)
    }
}

extension Limits {
    /// Without a way, until another neighbour is looked for.
    static let lostWayPatience = Duration.milliseconds(500)
    /// With a dearer one, until it counts.
    static let dearerWayPatience = Duration.seconds(10)
}

import NearbyCore

/// What our way to a collector costs, as far as neighbours are chosen for it: what becomes cheaper
/// counts at once, what becomes dearer or is lost only when it stays so. Routing mostly finds
/// another way by itself, and a link that comes and goes is no reason to change neighbours.
struct SettledCost: Sendable, Hashable {
    /// Nil: there is no way.
    private(set) var cost: UInt16?
    /// What it has been since.
    private var latest: UInt16?
    /// When the latest counts.
    private(set) var deadline: Instant?

    init(_ cost: UInt16?) {
        self.cost = cost
        latest = cost
    }

    mutating func change(to new: UInt16?, now: Instant) {
        let wasLost = latest == nil
        latest = new
        guard let cost else { return accept() }
        guard let new else {
            let end = now + Limits.lostWayPatience
            return deadline = wasLost ? deadline ?? end : end
        }
        if new <= cost { return accept() }
        if deadline == nil || wasLost { deadline = now + Limits.dearerWayPatience }
    }

    /// True if there is no way any more.
    mutating func deadlineReached(_ now: Instant) -> Bool {
        guard let deadline, now >= deadline else { return false }
        let wasLost = cost == nil
        accept()
        return cost == nil && !wasLost
    }

    private mutating func accept() {
        cost = latest
        deadline = nil
    }
}

extension Limits {
    /// Without a way, until another neighbour is looked for.
    static let lostWayPatience = Duration.milliseconds(500)
    /// With a dearer one, until it counts.
    static let dearerWayPatience = Duration.seconds(10)
}

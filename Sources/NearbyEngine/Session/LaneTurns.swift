import NearbyCore

/// Which of several lanes has the next turn: strictly the first in which something waits, with one
/// exception. A lane that was passed over `Limits.queueSkipsMax` times in a row while something
/// waited in it has the next turn, so that nothing starves.
///
/// Sets of lanes are bits, of lane 0 the lowest.
struct LaneTurns: Sendable {
    /// Of each lane: how many turns in a row were others'.
    private var skips: [Int]

    init(laneCount: Int) { skips = Array(repeating: 0, count: laneCount) }

    /// The one passed over most often if that is too often, else the first of those that wait.
    func next(of waiting: UInt8) -> Int? {
        var overdue: Int?
        var first: Int?
        for lane in skips.indices where waiting & 1 << lane != 0 {
            first = first ?? lane
            guard skips[lane] >= Limits.queueSkipsMax else { continue }
            if skips[lane] > overdue.map({ skips[$0] }) ?? 0 { overdue = lane }
        }
        return overdue ?? first
    }

    /// These had the turn; something is still waiting in those.
    mutating func took(_ taken: UInt8, waiting: UInt8) {
        for lane in skips.indices {
            skips[lane] = waiting & ~taken & 1 << lane != 0 ? skips[lane] + 1 : 0
        }
    }
}

import Collector
import NearbyCore
import Telemetry

extension Limits {
    /// Stretches of one boot that a store keeps.
    static let storedStretchesMax = 64
}

/// What the store keeps of one boot's clock: a mapping for each stretch.
///
/// A new mapping replaces what was said of its time and of all after it. One that is founded worse
/// than what is there is passed over (`ClockMapping.mayReplace`): `ClockBook` tells none, unless it
/// has forgotten the boot.
///
/// Beyond `Limits.storedStretchesMax` stretches, one goes whose readings are then dated by the
/// stretch before it, whose uncertainty grows by what that moves them. It is the one that leaves
/// the smallest uncertainty, the oldest of equals; never the first, nor the last, which dates what
/// is still to come. So a long drift has ever longer stretches.
struct BootMappings: Equatable {
    /// Of one boot, ascending in `since`.
    private(set) var all: [ClockMapping]

    mutating func take(_ mapping: ClockMapping) {
        guard all.allSatisfy(mapping.mayReplace) else { return }
        all.removeAll { $0.since >= mapping.since }
        all.append(mapping)
        while all.count > Limits.storedStretchesMax { dropOne() }
    }

    /// What the readings of the boot are dated by; nil without a mapping.
    var stretches: Stretches? {
        Stretches(all.map { ($0.since.nanoseconds, $0.clock.unixOffset.nanoseconds) })
    }

    /// The least of all stretches; nil without a mapping.
    var rank: ClockRank? { all.map(\.clock.rank).min() }

    /// Whether all stretches go by our own synchronised clock.
    var isFounded: Bool { !all.isEmpty && all.allSatisfy(\.isFounded) }

    private mutating func dropOne() {
        let dropped = (1..<all.count - 1).min {
            uncertainty(without: $0) < uncertainty(without: $1)
        }
        guard let dropped else { return }
        all[dropped - 1].uncertainty = uncertainty(without: dropped)
        let rank = min(all[dropped].clock.rank, all[dropped - 1].clock.rank)
        all[dropped - 1].clock.rank = rank
        if all[dropped].isForeign { all[dropped - 1].isForeign = true }
        all.remove(at: dropped)
    }

    /// Of the stretch before, when it has taken over this one's readings.
    private func uncertainty(without index: Int) -> Duration {
        let (before, gone) = (all[index - 1], all[index])
        let moved = gone.clock.unixOffset.nanoseconds.subtractingSaturating(
            before.clock.unixOffset.nanoseconds)
        let distance = Int64(clamping: moved.magnitude)
        return .nanoseconds(
            max(
                before.uncertainty.nanoseconds,
                gone.uncertainty.nanoseconds.addingSaturating(distance)))
    }
}

import NearbyCore
import Telemetry

extension Limits {
    /// Runs of one agent of which a collector remembers what is durable; that which was committed
    /// to longest ago goes. As many as an agent brings from its disk.
    static let committedRunsMax = 64
    /// Ranges that are remembered of each; the lowest are forgotten.
    static let committedRangesMax = 2_048
}

/// What of an agent's runs is durable, as far as this process committed it or found it. What is
/// forgotten here is still in the store, which passes over what it has.
struct CommittedRuns: Sendable {
    /// Those that were committed to last at the end.
    private var runs: [(run: RunID, settled: NumberRanges)] = []

    subscript(run: RunID) -> NumberRanges? { runs.first { $0.run == run }?.settled }

    mutating func formUnion(_ settled: NumberRanges, of run: RunID) {
        var all = settled
        if let index = runs.firstIndex(where: { $0.run == run }) {
            all = runs.remove(at: index).settled
            all.formUnion(settled)
        }
        all.keepHighest(Limits.committedRangesMax)
        runs.append((run, all))
        if runs.count > Limits.committedRunsMax { runs.removeFirst() }
    }
}

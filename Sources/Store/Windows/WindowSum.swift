import Collector
import NearbyCore
import Telemetry

/// Sums up the readings of one channel and window, given in order of time and sequence.
struct WindowSum {
    struct SummedWindow: Hashable {
        var statistics: Statistics
        var last: Outcome
        /// Of the newest reading.
        var hops: UInt8
    }

    private var accumulator = WindowAccumulator()
    private var generator: SeededGenerator
    private var hops: UInt8 = 0
    /// The lowest and the highest sequence number.
    private(set) var span: ClosedRange<Int64>?

    /// - Parameter seed: for the sample that quantiles of overfull windows are taken from.
    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func add(_ reading: ReadingRow, hops: UInt8) {
        // Milliseconds serve as well as any unit: the accumulator only compares them.
        accumulator.add(
            Latest(
                outcome: reading.outcome, time: Instant(nanoseconds: reading.milliseconds),
                sequence: UInt64(reading.sequence)),
            generator: &generator)
        self.hops = hops
        span = widened(reading.sequence...reading.sequence)
    }

    var total: Int { accumulator.count + accumulator.nullCount }

    /// Nil without a reading.
    var window: SummedWindow? {
        accumulator.last.map {
            SummedWindow(statistics: accumulator.statistics, last: $0.outcome, hops: hops)
        }
    }

    /// The smallest range that has both.
    func widened(_ other: ClosedRange<Int64>?) -> ClosedRange<Int64>? {
        guard let span else { return other }
        guard let other else { return span }
        return min(span.lowerBound, other.lowerBound)...max(span.upperBound, other.upperBound)
    }
}

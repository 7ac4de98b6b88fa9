import NearbyCore
import Testing

@testable import Outputs

struct PostgresPlanTests {
    @Test func ofOneKeyTheLaterReadingCounts() {
        let batch = Batches.batch(
            [Batches.series()],
            [Batches.reading(1, utc: 10), Batches.reading(2, utc: 20), Batches.reading(1, utc: 30)])
        let plan = PostgresPlan(batch)
        #expect(plan.readings.map(\.sequence) == [1, 2])
        #expect(plan.times == [30, 20])
        #expect(plan.receipt == OutputReceipt())
    }

    /// Channels of one run share the sequence; runs do not.
    @Test func theKeyIsTheRunAndTheSequence() {
        let other = Batches.series(run: RunID(value: 0xdef))
        let batch = Batches.batch(
            [Batches.series("a"), Batches.series("b"), other],
            [
                Batches.reading(1, utc: 1, series: 0), Batches.reading(1, utc: 2, series: 1),
                Batches.reading(1, utc: 3, series: 2),
            ])
        #expect(PostgresPlan(batch).times == [2, 3])
    }

    @Test func aSequenceBeyondTheDatabasesIntegersIsRefusedAndCounted() {
        let batch = Batches.batch(
            [Batches.series()],
            [
                Batches.reading(UInt64(Int64.max)), Batches.reading(UInt64(Int64.max) + 1),
                Batches.reading(.max),
            ])
        let plan = PostgresPlan(batch)
        #expect(plan.readings.map(\.sequence) == [.max])
        #expect(plan.receipt.refusedCount == 2)
        #expect(plan.receipt.refusal?.contains("9223372036854775808") == true)
    }

    @Test func seriesWithoutReadingsAreNotWritten() {
        let series = [Batches.series("a"), Batches.series("b")]
        let plan = PostgresPlan(Batches.batch(series, [Batches.reading(1, series: 1)]))
        #expect(plan.series == [series[1]])
    }

    @Test func aReadingOfNoSeriesDoesNotTrap() {
        let plan = PostgresPlan(
            Batches.batch([Batches.series()], [Batches.reading(1, series: 7)]))
        #expect(plan.readings.isEmpty && plan.receipt.refusedCount == 1)
    }
}

import FaultRuns
import NearbySimulator
import Testing

/// A few seeds of what `simulate readings` runs by the hundred.
///
/// 116: a batch from before the store was open took back what the store had settled, and an agent
/// sent the rest for ever. 366: so rows came twice. 381, 403: the floor rose over a gap before
/// anybody was told of it. 1403: more runs than a collector keeps; one came back without what it
/// had. 1478: one of two neighbours lost the other for a while, which took all that it was told
/// afterwards for old.
struct ReadingsTests {
    @Test(arguments: [116, 366, 381, 403, 1403, 1478] as [UInt64])
    func whatIsMeasuredIsStoredOnceOrKnownToBeLost(_ seed: UInt64) {
        let run = ReadingsRun(seed: seed)
        #expect(run.failures == [])
        #expect(run.counts.stored >= 100)
    }

    @Test func theSameSeedGivesTheSameTrace() {
        let first = ReadingsRun(seed: 14, isShort: true)
        let second = ReadingsRun(seed: 14, isShort: true)
        #expect(first.traceHash == second.traceHash)
        #expect(first.counts == second.counts)
    }
}

import NearbyCore
import Testing

@testable import NearbyEngine

struct SourceEntryTests {
    /// Against a list of all that was told: an offer is feasible only if it is newer, or nearer at
    /// the newest seqno, than anything on it.
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func nothingToldWasNearerThanTheDistance(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        // Less than half of the circle is gone through, across its seam.
        let start = UInt32.max - 300
        var source = SourceEntry()
        var told: [(age: UInt32, metric: UInt16)] = []
        for _ in 0..<1_000 {
            let age = UInt32.random(in: 0...600, using: &generator)
            let metric = UInt16.random(in: 0...500, using: &generator)
            let isFeasible = told.allSatisfy {
                age > $0.age || age == $0.age && metric < $0.metric
            }
            let feasibility = source.feasibility(seqno: start &+ age, metric: metric)
            #expect(feasibility == (isFeasible ? .feasible : .infeasible))
            // A destination's own word is used whether it is feasible or not.
            if Int.random(in: 0..<20, using: &generator) == 0 {
                source.tighten(seqno: start &+ age, metric: metric)
                told.append((age, metric))
            }
        }
        let newest = told.map(\.age).max()
        let nearest = told.filter { $0.age == newest }.map(\.metric).min()
        #expect(source.distance?.seqno == newest.map { start &+ $0 })
        #expect(source.distance?.metric == nearest)
    }

    @Test func whatWasForgottenBoundsNothing() {
        var source = SourceEntry()
        source.tighten(seqno: 7, metric: 100)
        #expect(source.feasibility(seqno: 7, metric: 100) == .infeasible)
        source.forget()
        #expect(source.feasibility(seqno: 0, metric: 65_000) == .feasible)
    }

    @Test func aSeqnoFarAheadIsALeapAndOneOppositeIsNoOlder() {
        var source = SourceEntry()
        source.tighten(seqno: 7, metric: 100)
        #expect(source.feasibility(seqno: 7 + Limits.seqnoStepMax, metric: 200) == .feasible)
        #expect(source.feasibility(seqno: 8 + Limits.seqnoStepMax, metric: 200) == .leap)
        #expect(source.feasibility(seqno: 7 + 1 << 31, metric: 200) == .leap)
        #expect(source.feasibility(seqno: 8 + 1 << 31, metric: 1) == .infeasible)
        source.tighten(seqno: 7 + 1 << 31, metric: 200)
        let leapt: UInt32 = 7 + 1 << 31
        #expect(source.distance == .init(seqno: leapt, metric: 200))
    }

    @Test func theSeqnoOfAnEarlierRunIsTheOneBeforeALeap() {
        var source = SourceEntry()
        source.tighten(seqno: 7, metric: 100)
        source.tighten(seqno: 7 + Limits.seqnoRunStepMax, metric: 100)
        #expect(source.seqnoOfEarlierRun == nil)
        source.tighten(seqno: 1_000_000, metric: 100)
        #expect(source.seqnoOfEarlierRun == 7 + Limits.seqnoRunStepMax)
    }
}

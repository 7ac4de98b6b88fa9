import NearbyCore
import Testing

@testable import NearbyEngine

struct OwnSeqnoTests {
    private var seqno = OwnSeqno(first: 1_000)
    private let pause = Limits.raiseInterval

    @Test mutating func itGoesWhereItIsWantedAndThenStaysForAWhile() {
        #expect(seqno.raise(to: 1_000, now: .zero) == .unchanged)
        #expect(seqno.raise(to: 999, now: .zero) == .unchanged)
        #expect(seqno.raise(to: 1_001, now: .zero) == .raised)
        let end = Instant.zero + pause
        #expect(seqno.raise(to: 1_005, now: .zero) == .postponed(until: end))
        #expect(seqno.raise(to: 1_003, now: .zero) == .postponed(until: end))
        #expect(seqno.value == 1_001)
        #expect(seqno.raiseIfWanted(now: .zero) == .postponed(until: end))
        #expect(seqno.raiseIfWanted(now: end) == .raised)
        // The newest of what was wanted.
        #expect(seqno.value == 1_005)
        #expect(seqno.raiseIfWanted(now: end + pause) == .unchanged)
    }

    @Test mutating func aLeapIsMadeOnceInAWhile() {
        let far = Limits.seqnoRaiseMax + 1
        #expect(seqno.raise(to: 1_000 + far, now: .zero) == .raised)
        let later = Instant.zero + pause
        #expect(seqno.raise(to: 1_000 + far + far, now: later) == .unchanged)
        #expect(seqno.raise(to: 1_001 + far, now: later) == .raised)
        let end = Instant.zero + Limits.leapInterval
        #expect(seqno.raise(to: 1_001 + far + far, now: end) == .raised)
    }

    @Test mutating func itGoesAboveWhatNeighboursKnowOfAnEarlierRun() {
        #expect(!seqno.isOfEarlierRun(1_000))
        // Older or newer, it is none of this run's.
        #expect(seqno.isOfEarlierRun(999))
        #expect(seqno.isOfEarlierRun(5_000))
        #expect(seqno.goAbove(999, now: .zero) == .unchanged)
        #expect(seqno.goAbove(5_000, now: .zero) == .raised)
        #expect(seqno.value == 5_001)
        #expect(seqno.isOfEarlierRun(5_000))
        #expect(!seqno.isOfEarlierRun(5_001))
    }

    /// A neighbour knows exactly ours: perhaps of an earlier run that began where this one did.
    @Test mutating func itGoesAboveItselfWithinARun() {
        #expect(seqno.goAbove(1_000, now: .zero) == .raised)
        #expect(seqno.value == 1_001)
        #expect(!seqno.isOfEarlierRun(1_000))
    }
}

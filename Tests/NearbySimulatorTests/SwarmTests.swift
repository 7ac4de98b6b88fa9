import FaultRuns
import NearbySimulator
import Testing

/// A few seeds of what `simulate` runs by the hundred. 193: a viewer lost a channel that had
/// begun on a link, and the agent kept to it.
struct SwarmTests {
    @Test(arguments: [5, 193] as [UInt64])
    func faultsNeverBreakAnInvariantAndAllRecovers(_ seed: UInt64) {
        #expect(SwarmRun(seed: seed).failures == [])
    }

    @Test func theSameSeedGivesTheSameTrace() {
        #expect(
            SwarmRun(seed: 14, isShort: true).traceHash
                == SwarmRun(seed: 14, isShort: true).traceHash)
    }
}

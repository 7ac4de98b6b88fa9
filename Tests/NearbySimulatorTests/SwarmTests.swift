import NearbySimulator
import Testing

/// A few seeds of what `simulate` runs by the hundred.
struct SwarmTests {
    @Test(arguments: [5] as [UInt64])
    func faultsNeverBreakAnInvariantAndAllRecovers(_ seed: UInt64) {
        #expect(SwarmRun(seed: seed).failures == [])
    }

    @Test func theSameSeedGivesTheSameTrace() {
        #expect(
            SwarmRun(seed: 14, isShort: true).traceHash
                == SwarmRun(seed: 14, isShort: true).traceHash)
    }
}

import NearbyCore
import Testing

@testable import NearbyEngine

struct PathProbesTests {
    private func endpoint(_ number: UInt64) -> Endpoint {
        Endpoint(link: LinkID(value: 1), address: .simulated(number))
    }

    @Test func eachQuestionIsAnsweredOnceAndOnlyByItsToken() {
        var probes = PathProbes()
        let question = probes.challenge(at: endpoint(1), token: 7, now: .zero)
        #expect(!question.isResponse && question.token == 7)
        #expect(probes.answered(8) == nil)
        #expect(probes.answered(7) == endpoint(1))
        #expect(probes.answered(7) == nil)
    }

    @Test func anAddressIsNotAskedTwiceWithin200Milliseconds() {
        var probes = PathProbes()
        _ = probes.challenge(at: endpoint(1), token: 1, now: .zero)
        let soon = Instant.zero + .milliseconds(199)
        #expect(probes.wasJustChallenged(at: endpoint(1), now: soon))
        #expect(!probes.wasJustChallenged(at: endpoint(2), now: soon))
        #expect(!probes.wasJustChallenged(at: endpoint(1), now: .zero + .milliseconds(200)))
    }

    @Test func theNewestQuestionAtAnAddressCounts() {
        var probes = PathProbes()
        _ = probes.challenge(at: endpoint(1), token: 1, now: .zero)
        _ = probes.challenge(at: endpoint(1), token: 2, now: .zero + .seconds(1))
        #expect(probes.answered(1) == nil)
        #expect(probes.answered(2) == endpoint(1))
    }

    @Test func ofTooManyTheOldestIsForgotten() {
        var probes = PathProbes()
        let count = UInt64(Limits.candidatesPerPeer) + 1
        for number in 0..<count {
            _ = probes.challenge(at: endpoint(number), token: number, now: .zero)
        }
        #expect(probes.answered(0) == nil)
        #expect((1..<count).allSatisfy { probes.answered($0) == endpoint($0) })
    }
}

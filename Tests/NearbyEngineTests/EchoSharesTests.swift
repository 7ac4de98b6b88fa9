import NearbyCore
import Testing

@testable import NearbyEngine

struct EchoSharesTests {
    private let near = PeerID(high: 1, low: 1)
    private let other = PeerID(high: 2, low: 2)

    private func source(_ number: Int) -> ShortID { ShortID(value: UInt64(number)) }

    @Test func oneSourceHasItsShare() {
        var shares = EchoShares()
        let answered = (0..<100).count { _ in shares.take(source(1), over: near, now: .zero) }
        #expect(answered == Limits.echoAnswersPerSource)
        let another = shares.take(source(2), over: near, now: .zero)
        #expect(another)
    }

    @Test func inventedSourcesShareTheirNeighboursPart() {
        var shares = EchoShares()
        let answered = (0..<1_000).count { shares.take(source($0), over: near, now: .zero) }
        #expect(answered == Limits.echoAnswersPerNeighbour)
        let another = shares.take(source(7), over: other, now: .zero)
        #expect(another)
    }

    @Test func allTogetherAreBounded() {
        var shares = EchoShares()
        let answered = (0..<10_000).count {
            shares.take(
                source($0), over: PeerID(high: UInt64($0), low: 0), now: .zero + .microseconds($0))
        }
        #expect(answered == Limits.echoAnswersPerSecond)
    }

    @Test func aSecondLaterTheyAreAnsweredAgain() {
        var shares = EchoShares()
        while shares.take(source(1), over: near, now: .zero + .milliseconds(5)) {}
        let early = shares.take(source(1), over: near, now: .zero + .milliseconds(900))
        let later = shares.take(source(1), over: near, now: .zero + .milliseconds(1_005))
        #expect(!early)
        #expect(later)
    }
}

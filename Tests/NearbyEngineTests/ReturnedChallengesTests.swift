import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

struct ReturnedChallengesTests {
    private let challenge = [UInt8](0..<60)
    private let its = ChannelToken(value: 7)
    private let another = ChannelToken(value: 8)

    private func endpoint(_ number: UInt64) -> Endpoint {
        Endpoint(link: LinkID(value: 1), address: .simulated(number))
    }

    private func asked(_ sent: [UInt8]) -> ReturnedChallenges {
        var challenges = ReturnedChallenges()
        #expect(challenges.returned([], of: endpoint(1), on: its, now: .zero) == .challenge)
        challenges.sent(sent, on: its, to: endpoint(1), now: .zero)
        // Whatever follows is no challenge.
        challenges.sent(
            [UInt8](repeating: 9, count: 60), on: its, to: endpoint(1), now: .zero)
        return challenges
    }

    @Test func onlyTheQuestionItselfProvesThatNobodyIsThere() {
        var challenges = asked(challenge)
        #expect(
            challenges.returned([UInt8](1..<61), of: endpoint(1), on: its, now: .zero) == .unproved)
        #expect(challenges.returned(challenge, of: endpoint(2), on: its, now: .zero) == .challenge)
        #expect(
            challenges.returned(challenge, of: endpoint(1), on: its, now: .zero) == .unreachable)
    }

    @Test func aProofCountsOnce() {
        var challenges = asked(challenge)
        #expect(
            challenges.returned(challenge, of: endpoint(1), on: its, now: .zero) == .unreachable)
        #expect(challenges.returned(challenge, of: endpoint(1), on: its, now: .zero) == .challenge)
    }

    /// IPv6 quotes all of it and a link may add padding; a router may quote less.
    @Test(arguments: [
        (Limits.quotedBytesMin, true), (60, true), (Limits.quotedBytesMin - 1, false),
    ])
    func aQuoteIsLongEnoughToBeNoGuess(byteCount: Int, isProof: Bool) {
        var challenges = asked(challenge)
        let quote = [UInt8](challenge.prefix(byteCount))
        let verdict = challenges.returned(quote, of: endpoint(1), on: its, now: .zero)
        #expect(verdict == (isProof ? .unreachable : .unproved))
    }

    @Test func aShortQuestionIsQuotedWhole() {
        let short = [UInt8](challenge.prefix(Limits.quotedBytesMin - 4))
        var challenges = asked(short)
        #expect(
            challenges.returned(short + [0, 0], of: endpoint(1), on: its, now: .zero)
                == .unreachable
        )
    }

    @Test func manyErrorsCostOneQuestionIn200Milliseconds() {
        var challenges = ReturnedChallenges()
        var askedCount = 0
        for millisecond in 0..<1_000 {
            let now = Instant.zero + .milliseconds(millisecond)
            if challenges.returned([1], of: endpoint(1), on: its, now: now) == .challenge {
                askedCount += 1
                challenges.sent(challenge, on: its, to: endpoint(1), now: now)
            }
        }
        #expect(askedCount == 5)
    }

    /// A member may have us answer to an address that it only claims to have.
    @Test func whatIsSealedForAnotherIsNoQuestion() {
        var challenges = ReturnedChallenges()
        #expect(challenges.returned([], of: endpoint(1), on: its, now: .zero) == .challenge)
        challenges.sent(challenge, on: another, to: endpoint(1), now: .zero)
        #expect(challenges.returned(challenge, of: endpoint(1), on: its, now: .zero) == .unproved)
    }

    @Test func whatFollowsLaterIsNoQuestion() {
        var challenges = ReturnedChallenges()
        #expect(challenges.returned([], of: endpoint(1), on: its, now: .zero) == .challenge)
        let later = Instant.zero + .milliseconds(200)
        challenges.sent(challenge, on: its, to: endpoint(1), now: later)
        #expect(challenges.returned(challenge, of: endpoint(1), on: its, now: later) == .challenge)
    }

    @Test func afterASecondAQuestionProvesNothing() {
        var challenges = asked(challenge)
        let later = Instant.zero + .seconds(1)
        #expect(challenges.returned(challenge, of: endpoint(1), on: its, now: later) == .challenge)
    }

    @Test func withTooManyOutNobodyElseIsAsked() {
        var challenges = ReturnedChallenges()
        let count = UInt64(Limits.routingNeighboursMax)
        for number in 0..<count {
            #expect(
                challenges.returned([], of: endpoint(number), on: its, now: .zero) == .challenge)
        }
        #expect(challenges.returned([], of: endpoint(count), on: its, now: .zero) == .unproved)
        let later = Instant.zero + .milliseconds(200)
        #expect(challenges.returned([], of: endpoint(count), on: its, now: later) == .challenge)
    }
}

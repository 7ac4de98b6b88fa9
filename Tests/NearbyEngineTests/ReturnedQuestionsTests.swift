import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

struct ReturnedQuestionsTests {
    private let question = [UInt8](0..<60)
    private let its = ChannelToken(value: 7)
    private let another = ChannelToken(value: 8)

    private func endpoint(_ number: UInt64) -> Endpoint {
        Endpoint(link: LinkID(value: 1), address: .simulated(number))
    }

    private func asked(_ sent: [UInt8]) -> ReturnedQuestions {
        var questions = ReturnedQuestions()
        #expect(questions.returned([], of: endpoint(1), on: its, now: .zero) == .ask)
        questions.sent(sent, on: its, to: endpoint(1), now: .zero)
        // Whatever follows is no question.
        questions.sent(
            [UInt8](repeating: 9, count: 60), on: its, to: endpoint(1), now: .zero)
        return questions
    }

    @Test func onlyTheQuestionItselfProvesThatNobodyIsThere() {
        var questions = asked(question)
        #expect(
            questions.returned([UInt8](1..<61), of: endpoint(1), on: its, now: .zero) == .unproved)
        #expect(questions.returned(question, of: endpoint(2), on: its, now: .zero) == .ask)
        #expect(questions.returned(question, of: endpoint(1), on: its, now: .zero) == .nobodyThere)
    }

    @Test func aProofCountsOnce() {
        var questions = asked(question)
        #expect(questions.returned(question, of: endpoint(1), on: its, now: .zero) == .nobodyThere)
        #expect(questions.returned(question, of: endpoint(1), on: its, now: .zero) == .ask)
    }

    /// IPv6 quotes all of it and a link may add padding; a router may quote less.
    @Test(arguments: [
        (Limits.quotedBytesMin, true), (60, true), (Limits.quotedBytesMin - 1, false),
    ])
    func aQuoteIsLongEnoughToBeNoGuess(byteCount: Int, isProof: Bool) {
        var questions = asked(question)
        let quote = [UInt8](question.prefix(byteCount))
        let verdict = questions.returned(quote, of: endpoint(1), on: its, now: .zero)
        #expect(verdict == (isProof ? .nobodyThere : .unproved))
    }

    @Test func aShortQuestionIsQuotedWhole() {
        let short = [UInt8](question.prefix(Limits.quotedBytesMin - 4))
        var questions = asked(short)
        #expect(
            questions.returned(short + [0, 0], of: endpoint(1), on: its, now: .zero) == .nobodyThere
        )
    }

    @Test func manyErrorsCostOneQuestionIn200Milliseconds() {
        var questions = ReturnedQuestions()
        var askedCount = 0
        for millisecond in 0..<1_000 {
            let now = Instant.zero + .milliseconds(millisecond)
            if questions.returned([1], of: endpoint(1), on: its, now: now) == .ask {
                askedCount += 1
                questions.sent(question, on: its, to: endpoint(1), now: now)
            }
        }
        #expect(askedCount == 5)
    }

    /// A member may have us answer to an address that it only claims to have.
    @Test func whatIsSealedForAnotherIsNoQuestion() {
        var questions = ReturnedQuestions()
        #expect(questions.returned([], of: endpoint(1), on: its, now: .zero) == .ask)
        questions.sent(question, on: another, to: endpoint(1), now: .zero)
        #expect(questions.returned(question, of: endpoint(1), on: its, now: .zero) == .unproved)
    }

    @Test func whatFollowsLaterIsNoQuestion() {
        var questions = ReturnedQuestions()
        #expect(questions.returned([], of: endpoint(1), on: its, now: .zero) == .ask)
        let later = Instant.zero + .milliseconds(200)
        questions.sent(question, on: its, to: endpoint(1), now: later)
        #expect(questions.returned(question, of: endpoint(1), on: its, now: later) == .ask)
    }

    @Test func afterASecondAQuestionProvesNothing() {
        var questions = asked(question)
        let later = Instant.zero + .seconds(1)
        #expect(questions.returned(question, of: endpoint(1), on: its, now: later) == .ask)
    }

    @Test func withTooManyOutNobodyElseIsAsked() {
        var questions = ReturnedQuestions()
        let count = UInt64(Limits.routingNeighboursMax)
        for number in 0..<count {
            #expect(questions.returned([], of: endpoint(number), on: its, now: .zero) == .ask)
        }
        #expect(questions.returned([], of: endpoint(count), on: its, now: .zero) == .unproved)
        let later = Instant.zero + .milliseconds(200)
        #expect(questions.returned([], of: endpoint(count), on: its, now: later) == .ask)
    }
}

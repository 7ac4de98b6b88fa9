import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

struct ReturnedQuestionsTests {
    private let question = [UInt8](0..<60)

    private func endpoint(_ number: UInt64) -> Endpoint {
        Endpoint(link: LinkID(value: 1), address: .simulated(number))
    }

    private func asked(_ sent: [UInt8]) -> ReturnedQuestions {
        var questions = ReturnedQuestions()
        #expect(questions.returned([], of: endpoint(1), now: .zero) == .ask)
        questions.sent(sent, to: endpoint(1))
        // Whatever follows is no question.
        questions.sent([UInt8](repeating: 9, count: 60), to: endpoint(1))
        return questions
    }

    @Test func onlyTheQuestionItselfProvesThatNobodyIsThere() {
        var questions = asked(question)
        #expect(questions.returned([UInt8](1..<61), of: endpoint(1), now: .zero) == .unproved)
        #expect(questions.returned(question, of: endpoint(2), now: .zero) == .ask)
        #expect(questions.returned(question, of: endpoint(1), now: .zero) == .nobodyThere)
    }

    @Test func aProofCountsOnce() {
        var questions = asked(question)
        #expect(questions.returned(question, of: endpoint(1), now: .zero) == .nobodyThere)
        #expect(questions.returned(question, of: endpoint(1), now: .zero) == .ask)
    }

    /// IPv6 quotes all of it and a link may add padding; a router may quote less.
    @Test(arguments: [
        (Limits.quotedBytesMin, true), (60, true), (Limits.quotedBytesMin - 1, false),
    ])
    func aQuoteIsLongEnoughToBeNoGuess(byteCount: Int, isProof: Bool) {
        var questions = asked(question)
        let quote = [UInt8](question.prefix(byteCount))
        let verdict = questions.returned(quote, of: endpoint(1), now: .zero)
        #expect(verdict == (isProof ? .nobodyThere : .unproved))
    }

    @Test func aShortQuestionIsQuotedWhole() {
        let short = [UInt8](question.prefix(Limits.quotedBytesMin - 4))
        var questions = asked(short)
        #expect(questions.returned(short + [0, 0], of: endpoint(1), now: .zero) == .nobodyThere)
    }

    @Test func manyErrorsCostOneQuestionIn200Milliseconds() {
        var questions = ReturnedQuestions()
        var askedCount = 0
        for millisecond in 0..<1_000 {
            let now = Instant.zero + .milliseconds(millisecond)
            if questions.returned([1], of: endpoint(1), now: now) == .ask {
                askedCount += 1
                questions.sent(question, to: endpoint(1))
            }
        }
        #expect(askedCount == 5)
    }

    @Test func ofTooManyTheOldestIsForgotten() {
        var questions = ReturnedQuestions()
        for number in 0...UInt64(Limits.returnedQuestionsMax) {
            #expect(questions.returned([], of: endpoint(number), now: .zero) == .ask)
        }
        questions.sent(question, to: endpoint(0))
        questions.sent(question, to: endpoint(1))
        #expect(questions.returned(question, of: endpoint(1), now: .zero) == .nobodyThere)
        #expect(questions.returned(question, of: endpoint(0), now: .zero) == .ask)
    }
}

import NearbyCore
import Testing

@testable import NearbyEngine

private func peer(_ number: UInt64) -> PeerID { PeerID(high: number, low: 0) }

struct CollectorChoiceTests {
    @Test func theFirstIsChosenAtOnce() {
        var choice = CollectorChoice()
        #expect(choice.handle(.route(peer(1), metric: 500), now: .zero) == [.chosen(peer(1))])
        #expect(choice.handle(.route(peer(1), metric: 900), now: milliseconds(1)).isEmpty)
        #expect(choice.nextDeadline == nil)
    }

    @Test func anotherTakesOverWhenTheChosenIsOutOfReach() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1), metric: 500), now: .zero)
        _ = choice.handle(.route(peer(3), metric: 800), now: .zero)
        _ = choice.handle(.route(peer(2), metric: 800), now: .zero)
        let next = choice.handle(.route(peer(1), metric: nil), now: milliseconds(1))
        #expect(next == [.chosen(peer(2))])
        #expect(choice.handle(.route(peer(3), metric: nil), now: milliseconds(2)).isEmpty)
        #expect(
            choice.handle(.route(peer(2), metric: nil), now: milliseconds(3)) == [.chosen(nil)])
    }

    @Test func aFifthCheaperForAMinuteIsChosen() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1), metric: 500), now: .zero)
        #expect(choice.handle(.route(peer(2), metric: 400), now: milliseconds(10)).isEmpty)
        #expect(choice.nextDeadline == milliseconds(60_010))
        #expect(choice.handle(.deadlineReached, now: milliseconds(60_009)).isEmpty)
        #expect(
            choice.handle(.deadlineReached, now: milliseconds(60_010)) == [.chosen(peer(2))])
        #expect(choice.current == peer(2))
        #expect(choice.nextDeadline == nil)
    }

    @Test func lessThanAFifthCheaperIsNever() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1), metric: 500), now: .zero)
        #expect(choice.handle(.route(peer(2), metric: 401), now: .zero).isEmpty)
        #expect(choice.nextDeadline == nil)
        #expect(choice.handle(.deadlineReached, now: milliseconds(600_000)).isEmpty)
    }

    @Test func theMinuteBeginsAnewAfterAnInterruption() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1), metric: 500), now: .zero)
        _ = choice.handle(.route(peer(2), metric: 300), now: .zero)
        _ = choice.handle(.route(peer(2), metric: 490), now: milliseconds(30_000))
        _ = choice.handle(.route(peer(2), metric: 300), now: milliseconds(31_000))
        #expect(choice.handle(.deadlineReached, now: milliseconds(60_000)).isEmpty)
        #expect(
            choice.handle(.deadlineReached, now: milliseconds(91_000)) == [.chosen(peer(2))])
    }

    @Test func oneThatIsNoneIsNotChosenForAWhileAndLongerEachTime() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1), metric: 100), now: .zero)
        _ = choice.handle(.route(peer(2), metric: 900), now: .zero)
        #expect(choice.handle(.refused(peer(1)), now: .zero) == [.chosen(peer(2))])
        #expect(choice.nextDeadline == milliseconds(60_000))
        _ = choice.handle(.route(peer(2), metric: nil), now: milliseconds(1))
        #expect(choice.current == nil)
        #expect(
            choice.handle(.deadlineReached, now: milliseconds(60_000)) == [.chosen(peer(1))])
        #expect(choice.nextDeadline == nil)
        #expect(choice.handle(.refused(peer(1)), now: milliseconds(60_000)) == [.chosen(nil)])
        #expect(choice.nextDeadline == milliseconds(180_000))
        #expect(
            choice.handle(.admitted(peer(1)), now: milliseconds(70_000)) == [.chosen(peer(1))])
    }

    @Test func oneThatDoesNotAnswerIsGivenUpOnlyForAnother() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1), metric: 100), now: .zero)
        #expect(choice.handle(.unanswered(peer(1)), now: .zero).isEmpty)
        _ = choice.handle(.route(peer(2), metric: 900), now: .zero)
        #expect(choice.handle(.unanswered(peer(1)), now: .zero) == [.chosen(peer(2))])
    }

    /// Somebody was appointed by a liar.
    @Test func oneThatDidNotAnswerIsChosenAgainWhereTheOtherIsNone() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1), metric: 100), now: .zero)
        _ = choice.handle(.route(peer(2), metric: 900), now: .zero)
        #expect(choice.handle(.unanswered(peer(1)), now: .zero) == [.chosen(peer(2))])
        #expect(choice.handle(.refused(peer(2)), now: .zero) == [.chosen(peer(1))])
        // Whom nobody has refused comes first.
        let other = choice.handle(.route(peer(3), metric: 900), now: milliseconds(1))
        #expect(other == [.chosen(peer(3))])
    }

    @Test func inventedCollectorsAreBounded() {
        var choice = CollectorChoice()
        _ = choice.handle(.route(peer(1_000), metric: 500), now: .zero)
        for number in 1..<200 {
            _ = choice.handle(.route(peer(UInt64(number)), metric: 600), now: .zero)
        }
        let next = choice.handle(.route(peer(1_000), metric: nil), now: milliseconds(1))
        #expect(next.count == 1 && choice.current != nil)
        var unknown: [PeerID] = []
        while let current = choice.current, !unknown.contains(current) {
            unknown.append(current)
            _ = choice.handle(.unanswered(current), now: milliseconds(2))
        }
        #expect(unknown.count == 199)
    }

    /// Ghosts as near as they like, with lower PeerIDs.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func theTrueOneAmongManyGetsItsTurnAndKeepsIt(salt: UInt64) throws {
        var choice = CollectorChoice(salt: salt)
        let true_ = peer(1_000)
        for number in 1...40 as ClosedRange<UInt64> {
            _ = choice.handle(.route(peer(number), metric: 0), now: .zero)
        }
        _ = choice.handle(.route(true_, metric: 300), now: .zero)
        var calls = 1
        while let current = choice.current, current != true_, calls <= 41 {
            if calls < 36 { #expect(choice.isOneOfMany(current, .zero)) }
            _ = choice.handle(.unanswered(current), now: .zero)
            calls += 1
        }
        #expect(choice.current == true_)
        #expect(choice.handle(.admitted(true_), now: .zero).isEmpty)
        // Cheaper ones are tried, and it is chosen again.
        var now = Instant.zero
        for _ in 0..<10 {
            now = try #require(choice.nextDeadline)
            _ = choice.handle(.deadlineReached, now: now)
            guard let current = choice.current, current != true_ else { continue }
            #expect(choice.handle(.unanswered(current), now: now) == [.chosen(true_)])
        }
    }

    @Test func whoWasLetInAsACollectorIsChosenBeforeAnyoneNamedByRouting() {
        var choice = CollectorChoice(salt: 1)
        for number in 1...40 as ClosedRange<UInt64> {
            _ = choice.handle(.route(peer(number), metric: 0), now: .zero)
        }
        _ = choice.handle(.route(peer(1_000), metric: 96), now: .zero)
        _ = choice.handle(.unanswered(peer(1_000)), now: .zero)
        #expect(choice.handle(.admitted(peer(1_000)), now: .zero) == [.chosen(peer(1_000))])
    }
}

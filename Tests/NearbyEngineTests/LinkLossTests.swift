import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// What a link is found to lose.
struct LinkLossTests {
    private static let helloInterval = Duration.seconds(1)

    /// Of four frames one is lost.
    @Test func aQuarterLooksLikeAQuarter() {
        var loss = LinkLoss(.ethernet, now: .zero)
        for round in 0..<100 {
            for _ in 0..<3 { loss.frameAnswered() }
            loss.frameLost()
            if round >= 50 { #expect(23...27 ~= loss.percent) }
        }
    }

    @Test func theFirstFrameThatIsLostSaysLittle() {
        var loss = LinkLoss(.ethernet, now: .zero)
        loss.frameLost()
        #expect(loss.percent == 19)
    }

    /// Frames that come anyway would hide what is lost.
    @Test func overWiFiOnlyQuestionsCount() {
        var loss = LinkLoss(.wifi, now: .zero)
        for _ in 0..<50 { loss.frameLost() }
        #expect(loss.share == 0)
        loss.ask(now: milliseconds(100))
        loss.ask(now: milliseconds(250))
        #expect(loss.percent == 19)
        let isAnswer = loss.questionAnswered(now: milliseconds(252))
        // A second answer to one question.
        let isOne = loss.questionAnswered(now: milliseconds(253))
        #expect(isAnswer && !isOne)
        #expect(loss.percent == 16)
    }

    /// As long as answers take, twice; before the first one, 400 ms.
    @Test(arguments: [(nil, 400), (1, 15), (60, 120)] as [(Int64?, Int64)])
    func aQuestionThatHadTimeIsLostWhenTheNeighbourIsProbed(
        _ roundTrip: Int64?, _ patience: Int64
    ) {
        for (time, isLost) in [(patience - 1, false), (patience, true)] {
            var loss = LinkLoss(.wifi, now: .zero)
            if let roundTrip {
                loss.ask(now: milliseconds(100))
                _ = loss.questionAnswered(now: milliseconds(100 + roundTrip))
            }
            loss.ask(now: milliseconds(1_000))
            loss.stopAwaiting(now: milliseconds(1_000 + time))
            #expect((loss.share > 0) == isLost)
        }
    }

    @Test func questionsAreQuickAtFirstAndWhileMuchIsSent() {
        var loss = LinkLoss(.wifi, now: .zero)
        for number in 1...8 as ClosedRange<Int64> {
            #expect(loss.isYoung)
            #expect(loss.questionDue(Self.helloInterval) == milliseconds(150 * number))
            loss.ask(now: milliseconds(150 * number))
            #expect(loss.questionDue(Self.helloInterval)! > milliseconds(150 * number + 14))
            _ = loss.questionAnswered(now: milliseconds(150 * number + 2))
        }
        #expect(!loss.isYoung)
        #expect(loss.questionDue(Self.helloInterval) == milliseconds(3_200))
        for _ in 0..<3 { loss.frameSent() }
        #expect(loss.questionDue(Self.helloInterval) == milliseconds(3_200))
        loss.frameSent()
        #expect(loss.questionDue(Self.helloInterval) == milliseconds(1_450))
        #expect(LinkLoss(.ethernet, now: .zero).questionDue(Self.helloInterval) == nil)
    }

    /// However often the other side asks, and if it never does.
    @Test func itIsOurTurnAfterThreeHellosAtTheLatest() {
        var loss = LinkLoss(.wifi, now: .zero)
        for number in 1...8 as ClosedRange<Int64> {
            loss.ask(now: milliseconds(number))
            _ = loss.questionAnswered(now: milliseconds(number))
        }
        #expect(loss.questionDue(Self.helloInterval) == milliseconds(2_008))
        loss.wasAsked(now: milliseconds(20))
        #expect(loss.questionDue(Self.helloInterval) == milliseconds(2_008))
        loss.wasAsked(now: milliseconds(600))
        #expect(loss.questionDue(Self.helloInterval) == milliseconds(1_600))
        loss.wasAsked(now: milliseconds(2_500))
        #expect(loss.questionDue(Self.helloInterval) == milliseconds(3_008))
    }

    @Test func whereFramesAreLostAsAMatterOfCourseMoreProbesAreSent() {
        let shares = [0, 3_000, 3_300, 13_000, 20_000, 30_000, 65_536] as [UInt32]
        #expect(shares.map { LinkLoss.probesMax(usually: $0) } == [3, 3, 4, 6, 12, 16, 16])
    }
}

/// What the two ends of a link make of it.
struct LossyLinkTests {
    /// Question and answer both have to arrive. Seen from both ends, with data and without.
    @Test(arguments: [nil, 1_000, 100] as [Int64?], [0, 0.1, 0.3] as [Double])
    func whatIsLostIsFound(_ every: Int64?, _ loss: Double) {
        var errors: [Double] = []
        for seed in 1...10 as ClosedRange<UInt64> {
            var link = LossyLink(.wifi, loss: loss, seed: seed)
            link.run(for: .seconds(200), every: every.map { .milliseconds($0) })
            let lost = 100 * (1 - (1 - loss) * (1 - loss))
            for side in link.sides where side.cost != RoutingMessage.metricInfinite {
                errors.append(Double(side.lossPercent) - lost)
            }
        }
        #expect(errors.count >= 10)
        let mean = errors.reduce(0, +) / Double(errors.count)
        #expect(abs(mean) < 6, "\(mean) percent beside it on average")
        #expect(errors.allSatisfy { abs($0) < 20 })
    }

    /// The question of one side is the other one's reason for no hello.
    @Test func anIdleLinkOverWiFiCarriesHardlyMoreThanHellos() {
        var wifi = LossyLink(.wifi, loss: 0, seed: 1)
        var wire = LossyLink(.ethernet, loss: 0, seed: 1)
        wifi.run(for: .seconds(100))
        wire.run(for: .seconds(100))
        #expect(wifi.sent.allSatisfy { $0 < 130 }, "\(wifi.sent)")
        #expect(wire.sent.allSatisfy { 90...100 ~= $0 })
    }

    @Test func aDoubtedLinkOverWiFiCostsTwiceUntilItIsKnown() {
        var link = LossyLink(.wifi, loss: 0, isDoubted: true, seed: 1)
        #expect(link.sides[0].cost == 2 * LinkClass.wifi.cost)
        link.run(for: .milliseconds(1_000))
        #expect(link.sides[0].cost == 2 * LinkClass.wifi.cost)
        link.run(for: .milliseconds(1_500))
        #expect(link.sides[0].cost == LinkClass.wifi.cost)
        #expect(LossyLink(.wifi, loss: 0, seed: 1).sides[0].cost == LinkClass.wifi.cost)
        let wire = LossyLink(.ethernet, loss: 0, isDoubted: true, seed: 1)
        #expect(wire.sides[0].cost == LinkClass.ethernet.cost)
    }

    /// Who loses six of ten frames and is there is not routed around all the time.
    @Test func aLossyNeighbourIsSeldomSuspect() {
        var suspectedCount = 0
        for seed in 1...20 as ClosedRange<UInt64> {
            var link = LossyLink(.wifi, loss: 0.3, seed: seed)
            link.run(for: .seconds(100), every: .seconds(1))
            for side in link.sides where side.cost == RoutingMessage.metricInfinite {
                suspectedCount += 1
            }
        }
        #expect(suspectedCount <= 1)
    }
}

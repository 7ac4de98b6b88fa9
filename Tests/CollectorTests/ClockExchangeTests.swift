import NearbyCore
import Telemetry
import Testing

@testable import Collector

@Suite struct ClockExchangeTests {
    private let peer = Fixture.peer(7)
    private let boot = BootID(high: 1, low: 1)

    @Test func aNewAgentIsAskedFourTimesAndThenEvery64Seconds() throws {
        var exchange = ClockExchange()
        var asked = times(exchange.handle(.connected(peer), now: Fixture.at(500)))
        while asked.count < 8 {
            let now = try #require(exchange.nextDeadline)
            asked += times(exchange.handle(.deadlineReached, now: now))
        }
        #expect(asked.prefix(4) == [500, 1_500, 2_500, 3_500].map(Fixture.at)[...])
        #expect(asked[4] - asked[3] <= Limits.clockInterval)
        for index in 5..<8 { #expect(asked[index] - asked[index - 1] == Limits.clockInterval) }
    }

    @Test func agentsAreNotAskedAllAtOnce() throws {
        var exchange = ClockExchange()
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<64 {
            let peer = PeerID(high: generator.next(), low: generator.next())
            _ = exchange.handle(.connected(peer), now: .zero)
        }
        var seconds: [Int64: Int] = [:]
        while let now = exchange.nextDeadline, now < Fixture.at(200_000) {
            let count = times(exchange.handle(.deadlineReached, now: now)).count
            if now > Fixture.at(100_000) {
                seconds[now.nanoseconds / 1_000_000_000, default: 0] += count
            }
        }
        #expect(seconds.values.reduce(0, +) >= 64)
        #expect(try #require(seconds.values.max()) <= 8)
    }

    @Test func onlyConnectedAgentsAreAsked() {
        var exchange = ClockExchange()
        _ = exchange.handle(.connected(peer), now: .zero)
        #expect(exchange.handle(.connected(peer), now: .zero).isEmpty)
        #expect(exchange.handle(.disconnected(peer), now: .zero).isEmpty)
        #expect(exchange.nextDeadline == nil)
        #expect(exchange.handle(.deadlineReached, now: Fixture.at(90_000)).isEmpty)
    }

    @Test func anExchangeMeasuresTheOffsetToHalfTheRoundTrip() {
        var exchange = ClockExchange()
        _ = exchange.handle(.connected(peer), now: Fixture.at(1_000))
        let answer = answer(asked: 1_000, received: 51_010, answered: 51_014)
        let outputs = exchange.handle(.answered(answer, from: peer), now: Fixture.at(1_030))
        let sample = ClockSample(
            boot: boot, offset: .milliseconds(1_015 - 51_012), uncertainty: .milliseconds(13),
            taken: Fixture.at(1_030), clock: answer.clock)
        #expect(outputs == [.sample(sample, peer)])
    }

    @Test func anAnswerCountsOnceAndOnlyIfItWasAskedFor() {
        var exchange = ClockExchange()
        let answer = answer(asked: 1_000, received: 5_000, answered: 5_000)
        let early = exchange.handle(.answered(answer, from: peer), now: Fixture.at(1_010))
        #expect(early == [.drop(.timeAnswerUnsolicited)])
        _ = exchange.handle(.connected(peer), now: Fixture.at(1_000))
        let stranger = exchange.handle(
            .answered(answer, from: Fixture.peer(8)), now: Fixture.at(1_010))
        #expect(stranger == [.drop(.timeAnswerUnsolicited)])
        let first = exchange.handle(.answered(answer, from: peer), now: Fixture.at(1_010))
        #expect(first != [.drop(.timeAnswerUnsolicited)])
        let again = exchange.handle(.answered(answer, from: peer), now: Fixture.at(1_020))
        #expect(again == [.drop(.timeAnswerUnsolicited)])
    }

    @Test func absurdRoundTripsAreDropped() {
        let cases: [(answer: TimeAnswer, now: Int64)] = [
            // Held longer than the round trip took.
            (answer(asked: 1_000, received: 5_000, answered: 5_021), 1_020),
            (answer(asked: 1_000, received: 5_000, answered: 5_000), 61_001),
            (answer(asked: 1_000, received: 0, answered: Int64.max / 1_000_000), 1_020),
        ]
        for (answer, now) in cases {
            var exchange = ClockExchange()
            _ = exchange.handle(.connected(peer), now: Fixture.at(1_000))
            let outputs = exchange.handle(.answered(answer, from: peer), now: Fixture.at(now))
            #expect(outputs == [.drop(.timeAnswerImplausible)])
        }
    }

    @Test func theSmallestDelayWinsUntilDriftOutweighsIt() throws {
        var filter = ClockFilter(boot: boot)
        filter.add(sample(offset: 7, uncertainty: 2, at: 0))
        filter.add(sample(offset: 30, uncertainty: 25, at: 1_000))
        #expect(filter.best(now: Fixture.at(1_000))?.offset == .milliseconds(7))
        // 100 ppm over 240 s are 24 ms.
        #expect(filter.best(now: Fixture.at(240_000))?.offset == .milliseconds(7))
        filter.add(sample(offset: 40, uncertainty: 25, at: 240_000))
        #expect(filter.best(now: Fixture.at(240_000))?.offset == .milliseconds(40))
    }

    @Test func anotherBootBehindTheSameConnectionIsMeasuredAnew() throws {
        var exchange = ClockExchange()
        _ = exchange.handle(.connected(peer), now: .zero)
        for _ in 0..<3 {
            _ = exchange.handle(.deadlineReached, now: try #require(exchange.nextDeadline))
        }
        let first = answer(asked: 2_000, received: 9_000, answered: 9_000)
        _ = exchange.handle(.answered(first, from: peer), now: Fixture.at(3_004))
        var second = answer(asked: 3_000, received: 10, answered: 10)
        second.boot = BootID(high: 2, low: 2)
        let outputs = exchange.handle(.answered(second, from: peer), now: Fixture.at(3_010))
        guard case .sample(let sample, _) = outputs.first else {
            Issue.record("no sample")
            return
        }
        #expect(sample.boot == second.boot)
        #expect(sample.offset == .milliseconds(2_995))
        #expect(try #require(exchange.nextDeadline) <= Fixture.at(4_010))
    }

    @Test func agentsBeyondTheLimitAreNotAsked() {
        var exchange = ClockExchange()
        for number in 0..<UInt64(Limits.collectorPeersMax) {
            _ = exchange.handle(.connected(Fixture.peer(number)), now: .zero)
        }
        let outputs = exchange.handle(.connected(Fixture.peer(1 << 40)), now: .zero)
        #expect(outputs == [.drop(.readingTableFull)])
        #expect(exchange.agentCount == Limits.collectorPeersMax)
    }

    private func sample(offset: Int64, uncertainty: Int64, at time: Int64) -> ClockSample {
        ClockSample(
            boot: boot, offset: .milliseconds(offset), uncertainty: .milliseconds(uncertainty),
            taken: Fixture.at(time), clock: ClockReading(rank: .none, unixOffset: .zero))
    }

    private func answer(asked: Int64, received: Int64, answered: Int64) -> TimeAnswer {
        TimeAnswer(
            asked: Fixture.at(asked), received: Fixture.at(received),
            answered: Fixture.at(answered), boot: boot,
            clock: ClockReading(rank: .none, unixOffset: .zero))
    }

    private func times(_ outputs: [ClockExchange.Output]) -> [Instant] {
        outputs.compactMap { output in
            guard case .send(let bytes, _) = output,
                case .timeExchange(.request(let asked)) = try? TelemetryMessage(parsing: bytes)
            else { return nil }
            return asked
        }
    }
}

import NearbyCore
import Telemetry
import Testing

@testable import Collector

@Suite struct ClockBookTests {
    private let peer = Fixture.peer(7)
    private let ownBoot = BootID(high: 9, low: 9)
    private let boot = BootID(high: 1, low: 1)
    private let next = BootID(high: 1, low: 2)
    /// UTC less our clock, wherever somebody knows it.
    private let utc: Duration = .seconds(1_795_239_900)

    // MARK: Boots that ended before they met anybody

    @Test func aBootThatEndedUnmetIsDatedByWhatItKnew() throws {
        var book = book(.network)
        let told = ClockReading(rank: .network, unixOffset: utc - .seconds(900_000))
        var birth = try birth(boot)
        birth.clock = told
        let outputs = book.handle(.born(birth, from: peer), now: Fixture.at(5_000))
        let mapping = ClockMapping(
            boot: boot, clock: told, uncertainty: .zero, isForeign: true)
        #expect(outputs == [.mapping(mapping)])
        // That the present boot began much later is no better word.
        #expect(meet(&book, next, offset: -50, at: 6_000).map(\.boot) == [next])
        #expect(book.mapping(for: boot) == mapping)
    }

    @Test func aBootThatEndedUnmetAndKnewNothingEndedJustBeforeThePresentOne() throws {
        var book = book(.network)
        let birth = try birth(boot)
        #expect(book.handle(.born(birth, from: peer), now: Fixture.at(5_000)).isEmpty)
        // The present boot began 50 s before our clock did.
        _ = meet(&book, next, offset: -50, at: 6_000)
        let first = arrive(&book, boot, newest: 7_000, at: 8_000)
        #expect(first.map(\.clock) == [guess(-50 - 7)])
        #expect(try #require(first.first?.uncertainty) >= Limits.clockGuessUncertainty)
        // Later readings of it push its end, and so its beginning.
        #expect(arrive(&book, boot, newest: 3_600_000, at: 9_000).map(\.clock) == [guess(-3_650)])
        #expect(arrive(&book, boot, newest: 3_600_500, at: 9_000).isEmpty)
        #expect(arrive(&book, boot, newest: 10_000, at: 9_000).isEmpty)
        #expect(book.offset(of: boot) == .seconds(-50) - .milliseconds(3_600_500))
    }

    /// Power cuts, and a collector that comes once a week.
    @Test func bootsThatEndedUnmetLieOneBeforeTheOther() throws {
        var book = book(.network)
        _ = meet(&book, next, offset: -50, at: 6_000)
        var mappings: [BootID: ClockMapping] = [:]
        for number in 1...3 as ClosedRange<UInt64> {
            var birth = try birth(BootID(high: 5, low: number))
            birth.run = RunID(value: number)
            if number > 1 {
                birth.previous = PreviousRun(run: RunID(value: number - 1), lastSequence: 1)
            }
            _ = book.handle(.born(birth, from: peer), now: Fixture.at(7_000))
        }
        // An hour, two hours, three hours; the newest come first.
        for number in [3, 2, 1] as [UInt64] {
            let boot = BootID(high: 5, low: number)
            let lasted = Int64(number) * 3_600_000
            for mapping in arrive(&book, boot, newest: lasted, at: 8_000) {
                mappings[mapping.boot] = mapping
            }
        }
        let offsets = [1, 2, 3].map { mappings[BootID(high: 5, low: $0)]?.clock }
        #expect(offsets == [guess(-50 - 21_600), guess(-50 - 18_000), guess(-50 - 10_800)])
    }

    @Test func birthsThatNameEachOtherInACircleAreSurvived() throws {
        var book = book(.network)
        for number in 1...3 as ClosedRange<UInt64> {
            var birth = try birth(BootID(high: 5, low: number))
            birth.run = RunID(value: number)
            birth.previous = PreviousRun(run: RunID(value: number % 3 + 1), lastSequence: 1)
            _ = book.handle(.born(birth, from: peer), now: Fixture.at(7_000))
            _ = arrive(&book, birth.boot, newest: 1_000, at: 8_000)
        }
        #expect(book.bootCount == 3)
    }

    @Test func theReadingsOfAnEndedBootMayComeFirst() throws {
        var book = book(.none)
        _ = book.handle(.born(try birth(boot), from: peer), now: Fixture.at(5_000))
        #expect(arrive(&book, boot, newest: 60_000, at: 8_000).map(\.clock) == [guess(-52)])
        let outputs = meet(&book, next, offset: -50, at: 9_000)
        #expect(outputs.map(\.boot) == [next, boot])
        #expect(outputs.last?.clock == guess(-110))
    }

    @Test func aBootThatWasMeasuredAliveStaysWhatItWas() throws {
        var book = book(.network)
        _ = meet(&book, boot, offset: -1_000, at: 5_000)
        let before = book.mapping(for: boot)
        _ = meet(&book, next, offset: 100, at: 101_000)
        #expect(arrive(&book, boot, newest: 1_050_000, at: 102_000).isEmpty)
        #expect(book.mapping(for: boot) == before)
        #expect(book.rank(of: boot) == .network)
    }

    /// The agent rebooted and the collector too, which has no date now.
    @Test func whatIsStoredIsNotUndoneByAnEstimate() {
        var book = book(.none)
        let stored = ClockMapping(
            boot: boot, clock: ClockReading(rank: .network, unixOffset: utc - .seconds(7_000)),
            uncertainty: .milliseconds(5))
        #expect(book.handle(.stored(stored, from: peer), now: .zero).isEmpty)
        #expect(meet(&book, next, offset: -50, at: 6_000).map(\.boot) == [next])
        #expect(arrive(&book, boot, newest: 7_000, at: 8_000).isEmpty)
        #expect(book.mapping(for: boot) == stored)
    }

    @Test func aStoredMappingOfALivingBootIsContinuedAndNotReplaced() {
        var book = book(.network)
        let stored = ClockMapping(
            boot: boot, clock: ClockReading(rank: .network, unixOffset: utc - .seconds(1_002)),
            uncertainty: .milliseconds(5), since: Fixture.at(80_000))
        _ = book.handle(.stored(stored, from: peer), now: .zero)
        // The collector was away for long, and the agent's clock drifted by two seconds.
        let outputs = meet(&book, boot, offset: -1_000, at: 6_000)
        #expect(outputs.map(\.since) == [Fixture.at(1_006_000)])
        #expect(outputs.first?.clock.unixOffset == utc - .seconds(1_000))
    }

    // MARK: Ranks

    @Test func withoutAnExchangeArrivalsServeAsAnEstimate() throws {
        var book = book(.network)
        var birth = try birth(boot)
        birth.sent = Fixture.at(30_000)
        let outputs = mappings(book.handle(.born(birth, from: peer), now: Fixture.at(5_000)))
        #expect(outputs.map(\.clock) == [guess(-25)])
        #expect(book.offset(of: boot) == .seconds(-25))
        // The exchange then dates all of the boot.
        let measured = meet(&book, boot, offset: -26, at: 6_000)
        #expect(measured.map(\.since) == [.zero])
        #expect(measured.map(\.clock.rank) == [.network])
    }

    @Test func aBetterClockIsBelievedAtOnceAndAWorseNever() {
        var book = book(.none)
        _ = meet(&book, boot, offset: -1_000, at: 1_000)
        for (rank, error) in [(.hardware, 900), (.network, 60), (.satellite, 2)]
            as [(ClockRank, Int64)]
        {
            let reading = ClockReading(rank: rank, unixOffset: utc + .seconds(error))
            let outputs = mappings(book.handle(.ownClock(reading), now: Fixture.at(2_000)))
            #expect(outputs.map(\.clock.rank) == [rank, rank])
            #expect(outputs.map(\.since) == [.zero, .zero])
        }
        for rank in [ClockRank.network, .hardware, .none] {
            let reading = ClockReading(rank: rank, unixOffset: utc + .seconds(500))
            for second in 3...6 as ClosedRange<Int64> {
                let now = Fixture.at(second * 1_000)
                #expect(book.handle(.ownClock(reading), now: now).isEmpty)
            }
        }
    }

    @Test func amongEqualAgentsTheLeastUncertainGivesTheDate() {
        var book = book(.none)
        let clocks: [(peer: UInt64, uncertainty: Int64, rank: ClockRank)] = [
            (3, 40, .hardware), (5, 20, .network), (4, 9, .hardware),
        ]
        for (index, clock) in clocks.enumerated() {
            var sample = sample(BootID(high: 5, low: clock.peer), offset: -10, at: 1_000)
            sample.uncertainty = .milliseconds(clock.uncertainty)
            sample.clock = ClockReading(rank: clock.rank, unixOffset: utc - .seconds(10))
            let now = Fixture.at(1_000 + Int64(index))
            _ = book.handle(.measured(sample, from: Fixture.peer(clock.peer)), now: now)
        }
        #expect(book.reference.current?.source == .agent(Fixture.peer(5)))
        // Ours comes before an agent's of its rank.
        let own = ClockReading(rank: .network, unixOffset: utc)
        _ = book.handle(.ownClock(own), now: Fixture.at(2_000))
        #expect(book.reference.current?.source == .own)
    }

    /// The agent that gave the date fell silent; one that says otherwise is asked once, and then
    /// others answer.
    @Test func onlyANewReadingOfTheSameClockConfirmsAJump() {
        var book = book(.none)
        let steps: [(peer: UInt64, rank: ClockRank, error: Int64, at: Int64, gives: UInt64)] = [
            (1, .network, 0, 1_000, 1), (2, .network, 30, 300_000, 1),
            (3, .none, 0, 301_000, 1), (3, .none, 0, 302_000, 1), (2, .network, 30, 303_000, 2),
        ]
        for step in steps {
            var sample = sample(BootID(high: 5, low: step.peer), offset: -10, at: step.at)
            sample.clock = ClockReading(
                rank: step.rank, unixOffset: utc + .seconds(step.error - 10))
            let input = ClockBook.Input.measured(sample, from: Fixture.peer(step.peer))
            _ = book.handle(input, now: Fixture.at(step.at))
            #expect(book.reference.current?.source == .agent(Fixture.peer(step.gives)))
        }
    }

    @Test func anAgentThatShowsSeveralBootsHasOneVoice() throws {
        var book = book(.none)
        let (honest, liar) = (Fixture.peer(1), Fixture.peer(2))
        let steps: [(peer: PeerID, boot: BootID, rank: ClockRank, error: Int64, at: Int64)] = [
            (honest, boot, .hardware, 0, 1_000), (liar, next, .satellite, -90_000_000, 2_000),
            (liar, BootID(high: 1, low: 3), .satellite, -90_000_000, 3_000),
            (liar, next, .satellite, -90_000_000, 5_000),
        ]
        for step in steps {
            var birth = try birth(step.boot)
            birth.sent = Fixture.at(step.at)
            _ = book.handle(.born(birth, from: step.peer), now: Fixture.at(step.at - 100))
            var sample = sample(step.boot, offset: -10, at: step.at)
            sample.clock = ClockReading(
                rank: step.rank, unixOffset: utc + .seconds(step.error - 10))
            _ = book.handle(.measured(sample, from: step.peer), now: Fixture.at(step.at))
            #expect(book.reference.current?.source == .agent(honest))
        }
    }

    @Test func anAgentThatClaimsAYearThatCannotBeHelpsNobody() {
        var book = book(.none)
        var sample = sample(boot, offset: -10, at: 1_000)
        for unix in [0, 946_684_800, 2_200_000_000, Int64.max / 1_000_000_000] {
            sample.clock = ClockReading(rank: .satellite, unixOffset: .seconds(unix))
            _ = book.handle(.measured(sample, from: peer), now: Fixture.at(1_000))
            #expect(book.reference.current?.source == .own)
            #expect(book.rank(of: boot) == ClockRank.none)
        }
    }

    @Test func anAgentOnTheCollectorsMachineHasTheCollectorsClock() {
        var book = book(.network)
        let before = book.mapping(for: ownBoot)
        #expect(meet(&book, ownBoot, offset: -77, at: 1_000).isEmpty)
        #expect(arrive(&book, ownBoot, newest: 5, at: 1_000).isEmpty)
        #expect(book.offset(of: ownBoot) == .zero)
        #expect(book.mapping(for: ownBoot) == before)
        #expect(book.bootCount == 0)
    }

    // MARK: Bounds

    @Test func theTablesAreBounded() {
        var book = book(.network)
        for number in 0..<UInt64(Limits.collectorPeersMax + 20) {
            for low in 0..<UInt64(Limits.clockBootsMax + 2) {
                let sample = sample(BootID(high: number + 10, low: low), offset: -10, at: 1_000)
                let now = Fixture.at(1_000 + Int64(number))
                _ = book.handle(.measured(sample, from: Fixture.peer(number)), now: now)
            }
        }
        #expect(book.bootCount == Limits.collectorPeersMax * Limits.clockBootsMax)
        #expect(book.peers.count == Limits.collectorPeersMax)
    }

    @Test func aLongDriftIsRememberedInBoundedSteps() {
        var track = OffsetTrack()
        for minute in 0..<10_000 as Range<Int64> {
            let now = Fixture.at(minute * 100_000)
            let offset = -1_000_000 - minute * 10
            var sample = sample(boot, offset: 0, at: minute * 100_000)
            sample.offset = .milliseconds(offset)
            sample.uncertainty = .milliseconds(1)
            track.record(sample, now: now)
        }
        #expect(track.segments.count <= Limits.clockSegmentsMax)
        #expect(track.segments.count > Limits.clockSegmentsMax / 4)
        #expect(zip(track.segments, track.segments.dropFirst()).allSatisfy { $0.since < $1.since })
        #expect(track.segments.first?.since == .zero)
    }

    /// Answers that are invented, repeated, late or damaged, clocks that say anything: nothing
    /// traps, nothing grows, and the same seed says the same.
    @Test func absurdClocksNeverTrap() throws {
        #expect(try fuzz(seed: 5) == fuzz(seed: 5))
        _ = try fuzz(seed: 6)
    }

    private func fuzz(seed: UInt64) throws -> [ClockBook.Output] {
        var generator = SeededGenerator(seed: seed)
        var exchange = ClockExchange()
        var book = ClockBook(boot: ownBoot)
        var answers: [TimeAnswer] = []
        var told: [ClockBook.Output] = []
        var now = Instant.zero
        for round in 0..<20_000 {
            now = now + generator.duration(in: .zero..<(.seconds(3)))
            if round % 5_000 == 4_999 { now = Instant(nanoseconds: now.nanoseconds * 10) }
            let peer = Fixture.peer(UInt64.random(in: 0..<6, using: &generator))
            let boot = BootID(high: 4, low: UInt64.random(in: 0..<12, using: &generator))
            let clock = ClockReading(
                rank: ClockRank(rawValue: UInt8.random(in: 0...3, using: &generator)) ?? .none,
                unixOffset: .nanoseconds(number(near: utc.nanoseconds, &generator)))
            var outputs: [ClockExchange.Output] = []
            switch UInt8.random(in: 0..<10, using: &generator) {
            case 0: outputs = exchange.handle(.connected(peer), now: now)
            case 1: outputs = exchange.handle(.disconnected(peer), now: now)
            case 2: outputs = exchange.handle(.deadlineReached, now: now)
            case 3: told += book.handle(.ownClock(clock), now: now)
            case 4:
                var birth = try birth(boot)
                birth.clock = clock
                birth.sent = Instant(nanoseconds: number(near: 0, &generator))
                told += book.handle(.born(birth, from: peer), now: now)
            case 5:
                let newest = Instant(nanoseconds: number(near: 0, &generator))
                let input = ClockBook.Input.arrived(
                    boot: boot, newest: newest, arrival: now, from: peer)
                told += book.handle(input, now: now)
            default:
                guard var answer = answers.randomElement(using: &generator) else { break }
                if Bool.random(using: &generator) {
                    answer.received = Instant(nanoseconds: number(near: 0, &generator))
                    answer.answered = Instant(
                        nanoseconds: number(near: answer.received.nanoseconds, &generator))
                    answer.clock = clock
                    answer.boot = boot
                }
                outputs = exchange.handle(.answered(answer, from: peer), now: now)
            }
            for output in outputs {
                switch output {
                case .send:
                    answers.append(
                        TimeAnswer(
                            asked: now, received: now, answered: now, boot: boot, clock: clock))
                case .sample(let sample, let peer):
                    told += book.handle(.measured(sample, from: peer), now: now)
                case .drop: break
                }
            }
            answers = answers.suffix(16)
        }
        #expect(told.count > 100)
        #expect(book.bootCount <= 6 * Limits.clockBootsMax)
        return told
    }

    /// Any number, with a liking for the ends and for the neighbourhood of one.
    private func number(near value: Int64, _ generator: inout SeededGenerator) -> Int64 {
        switch UInt8.random(in: 0..<4, using: &generator) {
        case 0: Int64(bitPattern: generator.next())
        case 1: [Int64.min, .max, 0, -1].randomElement(using: &generator) ?? 0
        default: value.addingSaturating(Int64.random(in: 0...5_000_000_000, using: &generator))
        }
    }

    // MARK: Parts

    private func book(_ rank: ClockRank) -> ClockBook {
        var book = ClockBook(boot: ownBoot)
        _ = book.handle(.ownClock(ClockReading(rank: rank, unixOffset: utc)), now: .zero)
        return book
    }

    private func birth(_ boot: BootID) throws -> Birth {
        var birth = try Fixture.birth(channels: [])
        birth.boot = boot
        return birth
    }

    /// An estimate in UTC: what the offset in seconds to our clock makes of it.
    private func guess(_ seconds: Int64) -> ClockReading {
        ClockReading(rank: .none, unixOffset: utc + .seconds(seconds))
    }

    private func sample(_ boot: BootID, offset: Int64, at time: Int64) -> ClockSample {
        ClockSample(
            boot: boot, offset: .seconds(offset), uncertainty: .milliseconds(5),
            taken: Fixture.at(time), clock: ClockReading(rank: .none, unixOffset: .zero))
    }

    private func meet(
        _ book: inout ClockBook, _ boot: BootID, offset: Int64, at time: Int64
    ) -> [ClockMapping] {
        let input = ClockBook.Input.measured(sample(boot, offset: offset, at: time), from: peer)
        return mappings(book.handle(input, now: Fixture.at(time)))
    }

    private func arrive(
        _ book: inout ClockBook, _ boot: BootID, newest: Int64, at time: Int64
    ) -> [ClockMapping] {
        let input = ClockBook.Input.arrived(
            boot: boot, newest: Fixture.at(newest), arrival: Fixture.at(time), from: peer)
        return mappings(book.handle(input, now: Fixture.at(time)))
    }

    private func mappings(_ outputs: [ClockBook.Output]) -> [ClockMapping] {
        outputs.compactMap { output in
            if case .mapping(let mapping) = output { mapping } else { nil }
        }
    }
}

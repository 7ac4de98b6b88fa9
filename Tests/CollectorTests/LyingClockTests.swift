import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// Agents whose clocks are wrong, or that say so.
@Suite struct LyingClockTests {
    private let honest = Fixture.peer(7)
    private let boot = BootID(high: 1, low: 1)
    private let clock = SimulatedClock(booted: .seconds(-4_000))
    private let liar = Fixture.peer(6)
    private let liarBoot = BootID(high: 6, low: 6)
    /// To 2024.
    private let lie: Duration = .seconds(-90_000_000)

    private func world(_ rank: ClockRank, error: Duration = .zero) -> ClockWorld {
        var world = ClockWorld(seed: 3)
        world.ownRank = rank
        world.ownError = error
        world.readOwnClock()
        world.connect(honest, ClockWorld.Agent(clock: clock, boot: boot))
        return world
    }

    private func connectLiar(
        _ world: inout ClockWorld, number: UInt64 = 6, _ rank: ClockRank = .satellite,
        error: Duration
    ) {
        let agent = ClockWorld.Agent(
            clock: SimulatedClock(booted: .seconds(-77)),
            boot: BootID(high: number, low: number), rank: rank, error: error)
        world.connect(Fixture.peer(number), agent)
    }

    /// How wrong the store is about a moment of the honest agent's; 292 years without a mapping.
    private func error(_ world: ClockWorld, at second: Int64) -> Duration {
        world.error(boot, clock, at: .seconds(second)) ?? .seconds(1 << 40)
    }

    // MARK: A collector with a right clock

    @Test func ourSynchronisedClockIsNotOverruledByAnAgents() {
        var world = world(.network)
        world.run(for: .seconds(300))
        for number in 10..<20 as Range<UInt64> { connectLiar(&world, number: number, error: lie) }
        world.run(for: .seconds(1_000))
        #expect(world.book.reference.current?.source == .own)
        for second in stride(from: 60, to: 1_300, by: 50) as StrideTo<Int64> {
            #expect(error(world, at: second) < .milliseconds(130))
        }
        // Their own readings are dated by what we measured.
        for number in 10..<20 as Range<UInt64> {
            let boot = BootID(high: number, low: number)
            #expect(world.book.rank(of: boot) == .network)
            let clock = SimulatedClock(booted: .seconds(-77))
            let wrong = world.error(boot, clock, at: .seconds(1_000))
            #expect(wrong.map { $0 < .milliseconds(130) } == true)
        }
        #expect(world.mappings.allSatisfy { !$0.isForeign })
        // Each is told once.
        #expect(world.diagnostics.count == 10)
        #expect(world.drops[.clockOverruled] ?? 0 > 10)
    }

    @Test func ourClockStaysAboveAgentsWhenItIsNotSynchronisedAnyMore() {
        var world = world(.network)
        world.run(for: .seconds(300))
        world.ownRank = .none
        connectLiar(&world, number: 10, error: lie)
        connectLiar(&world, number: 11, error: lie)
        world.run(for: .seconds(3_000))
        #expect(world.book.reference.current?.source == .own)
        #expect(error(world, at: 3_000) < .milliseconds(130))
    }

    @Test func whatAnAgentSaidGivesWayToOurClockOnceThatIsSynchronised() {
        var world = world(.none, error: .zero - ClockWorld.epoch)
        connectLiar(&world, error: lie)
        world.run(for: .seconds(600))
        #expect(error(world, at: 300) > .seconds(80_000_000))
        #expect(world.stored[boot]?.allSatisfy(\.isForeign) == true)
        world.ownError = .zero
        world.ownRank = .network
        world.readOwnClock()
        #expect(world.book.rank(of: boot) == .network)
        world.run(for: .seconds(600))
        for second in stride(from: 60, to: 1_200, by: 50) as StrideTo<Int64> {
            #expect(error(world, at: second) < .milliseconds(130))
        }
        #expect(world.stored[boot]?.allSatisfy(\.isFounded) == true)
        guard case .moved(_, .network, says: [])? = world.diagnostics.last(where: \.isMove) else {
            Issue.record("the move to our own clock was not told")
            return
        }
    }

    // MARK: A collector whose date nobody has synchronised

    @Test(arguments: [ClockRank.none, .hardware])
    func oneAgentAloneMovesNothingByMoreThanAMinute(rank: ClockRank) {
        var world = world(rank)
        connectLiar(&world, error: lie)
        world.run(for: .seconds(1_000))
        #expect(error(world, at: 900) < .milliseconds(130))
        #expect(world.book.rank(of: boot) == rank)
        #expect(world.diagnostics.count == 1)
        // Within a minute a better clock is believed, and no further by many small steps.
        var error: Duration = .seconds(30)
        for _ in 0..<10 {
            connectLiar(&world, error: error)
            world.run(for: .seconds(300))
            error += .seconds(45)
        }
        #expect(self.error(world, at: 900) < .seconds(62))
    }

    @Test func severalThatAgreeMoveTheDateAndItIsToldWhoTheyAre() {
        var world = world(.none, error: .seconds(3_600))
        connectLiar(&world, number: 10, .network, error: .zero)
        world.run(for: .seconds(300))
        #expect(error(world, at: 200) > .seconds(3_000))
        connectLiar(&world, number: 11, .network, error: .milliseconds(300))
        world.run(for: .seconds(300))
        #expect(error(world, at: 500) < .seconds(1))
        let moves = world.diagnostics.filter(\.isMove)
        guard case .moved(let distance, .network, let peers)? = moves.first, moves.count == 1 else {
            Issue.record("\(world.diagnostics)")
            return
        }
        #expect(peers == [Fixture.peer(10), Fixture.peer(11)])
        #expect(ClockReference.distance(distance, .seconds(-3_600)) < .seconds(1))
    }

    @Test func whereThereIsNoDateOneAgentGivesItUntilMoreSayOtherwise() {
        var world = world(.none, error: .zero - ClockWorld.epoch)
        connectLiar(&world, error: lie)
        world.run(for: .seconds(300))
        #expect(world.book.reference.current?.source == .agent(liar))
        #expect(world.diagnostics.filter(\.isMove).count == 1)
        // Ranks do not matter to the many: what satellites are said to have told falls.
        for number in 10..<13 as Range<UInt64> {
            connectLiar(&world, number: number, .network, error: .zero)
        }
        world.run(for: .seconds(300))
        #expect(world.book.rank(of: boot) == .network)
        for second in stride(from: 60, to: 600, by: 50) as StrideTo<Int64> {
            #expect(error(world, at: second) < .milliseconds(200))
        }
        world.run(for: .seconds(3_000))
        #expect(error(world, at: 3_000) < .milliseconds(200))
    }

    // MARK: `collectors:`

    @Test func whereSourcesAreNamedNobodyElsesClockLeadsOurs() {
        let named = Fixture.peer(10)
        var world = ClockWorld(seed: 3, sources: [named])
        world.ownError = .zero - ClockWorld.epoch
        world.readOwnClock()
        world.connect(honest, ClockWorld.Agent(clock: clock, boot: boot))
        for number in 20..<25 as Range<UInt64> { connectLiar(&world, number: number, error: lie) }
        world.run(for: .seconds(1_000))
        // Neither where there is no date at all, nor by being many.
        #expect(world.book.reference.current?.source == .own)
        #expect(world.book.rank(of: boot) == .none)
        #expect(world.mappings.allSatisfy { $0.boot != boot || !$0.isForeign })
        // What they say of UTC still dates their own readings, as far as nothing better does.
        #expect(world.book.rank(of: BootID(high: 20, low: 20)) == .satellite)
        connectLiar(&world, number: 10, .network, error: .zero)
        world.run(for: .seconds(300))
        #expect(world.book.reference.current?.source == .agent(named))
        #expect(error(world, at: 1_200) < .milliseconds(200))
        // The others are no votes against it either.
        world.run(for: .seconds(3_000))
        #expect(world.book.reference.current?.source == .agent(named))
        #expect(error(world, at: 4_000) < .milliseconds(200))
        let others = world.diagnostics.compactMap { diagnostic -> Bool? in
            if case .overruled(_, _, _, _, let isSource) = diagnostic { isSource } else { nil }
        }
        #expect(others == [false, false, false, false, false])
    }

    @Test func aRankThatAnAgentGaveFollowsWhatItSaysLaterAndDoesNotOutlastItForLong() {
        var world = world(.none, error: .zero - ClockWorld.epoch)
        connectLiar(&world, .network, error: .zero)
        world.run(for: .seconds(300))
        #expect(world.book.reference.current?.rank == .network)
        connectLiar(&world, .hardware, error: .zero)
        world.run(for: .seconds(300))
        #expect(world.book.reference.current?.rank == .hardware)
        connectLiar(&world, .network, error: .zero)
        world.run(for: .seconds(300))
        #expect(world.book.reference.current?.rank == .network)
        world.disconnect(liar)
        world.run(for: .seconds(3_600))
        #expect(world.book.reference.current?.rank == .network)
        world.run(for: .seconds(90_000))
        #expect(world.book.reference.current?.rank == ClockRank.none)
        #expect(world.book.reference.current?.source == .agent(liar))
        // Then another alone may give the date anew.
        connectLiar(&world, number: 10, .network, error: .seconds(7_200))
        world.run(for: .seconds(600))
        #expect(world.book.reference.current?.source == .agent(Fixture.peer(10)))
    }

    // MARK: Whose clock it is

    @Test func aBootThatAnotherShowedFirstIsNoReasonToDateTheOwnersReadingsByIt() {
        var world = world(.network)
        world.disconnect(honest)
        let stolen = ClockWorld.Agent(
            clock: SimulatedClock(booted: .seconds(-9_000_000)), boot: boot)
        world.connect(liar, stolen)
        world.run(for: .seconds(60))
        world.connect(honest, ClockWorld.Agent(clock: clock, boot: boot))
        world.run(for: .seconds(300))
        let name = world.book.boot(boot, of: honest)
        #expect(name != boot && world.book.boot(boot, of: liar) == boot)
        let wrong = world.error(name, clock, at: .seconds(300))
        #expect(wrong.map { $0 < .milliseconds(130) } == true)
        let booted = world.book.offset(of: name).map {
            ClockReference.distance($0, .seconds(-4_000))
        }
        #expect(booted.map { $0 < .seconds(1) } == true)
    }

    @Test func theReadingsOfASharedBootAreStoredUnderNamesOfTheirOwn() throws {
        var machine = CollectorMachine(isDurable: true, boot: ClockWorld.ownBoot)
        var boots: [BootID] = []
        for (peer, run) in [(liar, 0x100), (honest, 0x200)] as [(PeerID, UInt64)] {
            let birth = try Fixture.birth(run: run, channels: [("a", .celsius, -2)])
            let bytes = TelemetryMessage.birth(birth).bytes
            for case .born(_, let born) in machine.handle(
                .received(bytes, from: peer, hops: 1), now: Fixture.at(1_000))
            {
                boots.append(born.boot)
            }
            // The same birth again is nothing new.
            #expect(
                machine.handle(.received(bytes, from: peer, hops: 1), now: Fixture.at(1_001))
                    .isEmpty)
        }
        #expect(Set(boots).count == 2)
    }

    /// A collector just started: who shows another's boot is there before the store is.
    private func collectorMetByTheLiar(showing boot: BootID) -> CollectorMachine {
        var machine = CollectorMachine(isDurable: true, boot: ClockWorld.ownBoot)
        let utc = ClockReading(rank: .network, unixOffset: ClockWorld.epoch)
        _ = machine.handle(.ownClock(utc), now: .zero)
        _ = machine.handle(.connected(liar), now: Fixture.at(1_000))
        let answer = TimeAnswer(
            asked: Fixture.at(1_000), received: Fixture.at(900_000), answered: Fixture.at(900_000),
            boot: boot, clock: ClockReading(rank: .none, unixOffset: .zero))
        let message = TelemetryMessage.timeExchange(.answer(answer))
        _ = machine.handle(.received(message.bytes, from: liar, hops: 1), now: Fixture.at(1_001))
        return machine
    }

    /// The boots that the machine has dated in the store at last.
    private func datedBoots(_ machine: inout CollectorMachine) -> [BootID] {
        let mappings = machine.handle(.flush, now: Fixture.at(2_001)).flatMap { output in
            if case .commit(let batch) = output { batch.clocks } else { [ClockMapping]() }
        }
        return mappings.map(\.boot)
    }

    @Test func aBootThatTheStoreKnowsStaysItsOwners() throws {
        let birth = try Fixture.birth(channels: [("a", .celsius, -2)])
        var machine = collectorMetByTheLiar(showing: birth.boot)
        let stored = StoredRun(
            key: RunKey(peer: honest, run: birth.run), birth: birth, settled: NumberRanges())
        let mapping = ClockMapping(
            boot: birth.boot,
            clock: ClockReading(rank: .network, unixOffset: ClockWorld.epoch - .seconds(50)),
            uncertainty: .milliseconds(1))
        _ = machine.handle(.restored([stored], [mapping]), now: Fixture.at(2_000))
        #expect(machine.clocks.mapping(for: birth.boot) == mapping)
        #expect(datedBoots(&machine) == [ClockWorld.ownBoot])
        // The liar's next answer dates only what is its own.
        #expect(machine.clocks.boot(birth.boot, of: liar) != birth.boot)
        #expect(machine.clocks.boot(birth.boot, of: honest) == birth.boot)
    }

    @Test func aBootOfAStoredRunWithoutADateStaysItsOwnersToo() throws {
        let birth = try Fixture.birth(channels: [("a", .celsius, -2)])
        var machine = collectorMetByTheLiar(showing: birth.boot)
        let stored = StoredRun(
            key: RunKey(peer: honest, run: birth.run), birth: birth, settled: NumberRanges())
        _ = machine.handle(.restored([stored], []), now: Fixture.at(2_000))
        #expect(datedBoots(&machine) == [ClockWorld.ownBoot])
        #expect(machine.clocks.boot(birth.boot, of: liar) != birth.boot)
        #expect(machine.clocks.boot(birth.boot, of: honest) == birth.boot)
    }

    // MARK: Times that cannot be

    @Test func aClockThatShowsSixtyYearsSinceItsBootIsNotBelieved() {
        let asked = Fixture.at(1_000)
        let time = Instant.zero + .seconds(60 * 365 * 86_400)
        let answer = TimeAnswer(
            asked: asked, received: time, answered: time, boot: boot,
            clock: ClockReading(rank: .none, unixOffset: .zero))
        #expect(ClockSample(answer, now: Fixture.at(1_001)) == nil)
    }

    @Test func readingsWithAbsurdTimesAreCountedAndNotTaken() throws {
        var machine = CollectorMachine(isDurable: true, boot: ClockWorld.ownBoot)
        let utc = ClockReading(rank: .network, unixOffset: ClockWorld.epoch)
        _ = machine.handle(.ownClock(utc), now: .zero)
        let birth = try Fixture.birth(channels: [("a", .celsius, -2)])
        let year: Int64 = 365 * 86_400_000
        _ = machine.handle(
            .received(TelemetryMessage.birth(birth).bytes, from: honest, hops: 1),
            now: Fixture.at(1_000))
        func receive(_ sequence: UInt64, at milliseconds: Int64) -> [CollectorMachine.Output] {
            let entry = Report.Entry(
                sequence: sequence, channel: 1, milliseconds: milliseconds, cell: .scaled(5))
            let report = Report(birth: birth.reference, lowestHeld: 1, entries: [entry])
            let outputs = machine.handle(
                .received(report.bytes, from: honest, hops: 1), now: Fixture.at(10_000))
            return outputs.filter { if case .drop = $0 { true } else { false } }
        }
        #expect(receive(1, at: 60 * year) == [.drop(.readingTimeImplausible)])
        #expect(receive(2, at: 5_000).isEmpty)
        // Its clock is known now: what lies more than an hour ahead of it cannot be.
        _ = machine.handle(.connected(honest), now: Fixture.at(6_000))
        let answer = TimeAnswer(
            asked: Fixture.at(6_000), received: Fixture.at(6_000), answered: Fixture.at(6_000),
            boot: birth.boot, clock: ClockReading(rank: .none, unixOffset: .zero))
        let message = TelemetryMessage.timeExchange(.answer(answer))
        _ = machine.handle(.received(message.bytes, from: honest, hops: 1), now: Fixture.at(6_001))
        #expect(receive(3, at: 3_600_000).isEmpty)
        #expect(receive(4, at: 3_700_000) == [.drop(.readingTimeImplausible)])
        // They are not settled: were it our error, the agent would send them again.
        let outputs = machine.handle(.flush, now: Fixture.at(11_000))
        let parts = outputs.flatMap { output in
            if case .commit(let batch) = output { batch.parts } else { [StoreBatch.Part]() }
        }
        #expect(parts.flatMap(\.readings).map(\.sequence) == [2, 3])
        let settled = try #require(parts.first?.settled)
        #expect([1, 2, 3, 4].map { settled.contains($0) } == [false, true, true, false])
    }
}

extension ClockDiagnostic {
    fileprivate var isMove: Bool {
        if case .moved = self { true } else { false }
    }
}

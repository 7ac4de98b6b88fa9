import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// Boards without a date, collectors without one, and clocks that are set, jump and drift.
@Suite struct ClockScenarioTests {
    private let peer = Fixture.peer(7)
    private let boot = BootID(high: 1, low: 1)

    /// An agent that was up for a day when the collector started.
    private let agent = SimulatedClock(booted: .seconds(-86_400), drift: 100)

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func aCollectorThatBeginsIn1970AndIsSetRightAnHourLaterDatesTheHourAnew(seed: UInt64) throws {
        var world = ClockWorld(seed: seed)
        world.ownError = .zero - ClockWorld.epoch
        world.connect(peer, ClockWorld.Agent(clock: agent, boot: boot))
        world.run(for: .seconds(3_600))
        #expect(world.book.rank(of: boot) == ClockRank.none)
        #expect(try #require(world.error(boot, agent, at: .seconds(1_800))) > .seconds(1 << 30))
        world.ownError = .zero
        world.ownRank = .network
        world.readOwnClock()
        #expect(world.book.rank(of: boot) == .network)
        expectRight(world, boot, agent, from: .seconds(60), to: .seconds(3_600))
        expectRight(world, ClockWorld.ownBoot, world.own, from: .zero, to: .seconds(3_600))
        world.run(for: .seconds(3_600))
        expectRight(world, boot, agent, from: .seconds(60), to: .seconds(7_200))
    }

    @Test func aCollectorThatIsNeverSetRightMarksEstimatesAndKeepsTheAgentsTogether() throws {
        let other = (Fixture.peer(8), BootID(high: 2, low: 2), SimulatedClock(booted: .seconds(-5)))
        var world = ClockWorld(seed: 6)
        world.ownError = .zero - ClockWorld.epoch
        world.connect(peer, ClockWorld.Agent(clock: agent, boot: boot))
        world.connect(other.0, ClockWorld.Agent(clock: other.2, boot: other.1))
        world.run(for: .seconds(36_000))
        #expect(world.mappings.allSatisfy { $0.clock.rank == ClockRank.none })
        for second in stride(from: 60, to: 36_000, by: 97) as StrideTo<Int64> {
            let truth = Duration.seconds(second)
            let left = try #require(world.utc(boot, agent.read(truth)))
            let right = try #require(world.utc(other.1, other.2.read(truth)))
            #expect(ClockReference.distance(left, right) < .milliseconds(150), "\(second)")
        }
    }

    @Test func aJumpTo2038AndBackChangesNothing() {
        var world = ClockWorld(seed: 7)
        world.delays = .milliseconds(5)..<(.milliseconds(6))
        world.ownRank = .network
        let steady = SimulatedClock(booted: .seconds(-50))
        world.connect(peer, ClockWorld.Agent(clock: steady, boot: boot))
        world.run(for: .seconds(600))
        let count = world.mappings.count
        for rank in [ClockRank.network, .none] {
            world.ownRank = rank
            world.ownError = .seconds(360_000_000)
            world.run(for: .seconds(600))
            world.ownError = .zero
            world.ownRank = .network
            world.run(for: .seconds(600))
        }
        #expect(world.mappings.count == count)
        #expect(world.book.rank(of: boot) == .network)
        expectRight(world, boot, steady, from: .seconds(60), to: .seconds(3_000))
    }

    @Test func aJumpOfAClockThatClaimsToBeRightMustStandTwice() throws {
        var world = ClockWorld(seed: 8)
        world.ownRank = .network
        world.connect(peer, ClockWorld.Agent(clock: agent, boot: boot))
        world.run(for: .seconds(590))
        let year: Duration = .seconds(31_536_000)
        world.ownError = year
        world.readOwnClock()
        #expect(try #require(world.error(boot, agent, at: .seconds(500))) < .seconds(1))
        world.ownError = .zero
        world.readOwnClock()
        world.ownError = year
        world.readOwnClock()
        #expect(try #require(world.error(boot, agent, at: .seconds(500))) < .seconds(1))
        world.run(for: .seconds(61))
        let wrong = try #require(world.error(boot, agent, at: .seconds(500)))
        #expect(ClockReference.distance(wrong, year) < .seconds(1))
        // Back again, and all of it is dated anew.
        world.ownError = .zero
        world.run(for: .seconds(121))
        expectRight(world, boot, agent, from: .seconds(60), to: .seconds(770))
    }

    @Test(arguments: [-100, 37, 100] as [Int64])
    func aDriftOf100PPMIsFollowedForADay(drift: Int64) throws {
        let clock = SimulatedClock(booted: .seconds(-1_000), drift: drift)
        var world = ClockWorld(seed: 9)
        world.ownRank = .network
        world.connect(peer, ClockWorld.Agent(clock: clock, boot: boot))
        world.run(for: .seconds(86_400))
        expectRight(world, boot, clock, from: .seconds(60), to: .seconds(86_400))
        // The store is not rewritten each time.
        #expect(world.mappings.count < 86_400 / 64)
        #expect(world.stored[ClockWorld.ownBoot]?.count == 1)
    }

    @Test func anAgentKnowsTheDateAndTheCollectorDoesNot() throws {
        let own = SimulatedClock(booted: .seconds(-30), drift: 60)
        var world = ClockWorld(seed: 10, own: own)
        world.ownError = .zero - ClockWorld.epoch
        let lost = (Fixture.peer(8), BootID(high: 2, low: 2))
        world.connect(lost.0, ClockWorld.Agent(clock: agent, boot: lost.1))
        world.run(for: .seconds(600))
        #expect(world.book.rank(of: lost.1) == ClockRank.none)
        let right = SimulatedClock(booted: .seconds(-400))
        world.connect(peer, ClockWorld.Agent(clock: right, boot: boot, rank: .network))
        world.run(for: .seconds(7_200))
        for boot in [boot, lost.1, ClockWorld.ownBoot] {
            #expect(world.book.rank(of: boot) == .network)
        }
        expectRight(world, boot, right, from: .zero, to: .seconds(7_800))
        expectRight(world, lost.1, agent, from: .seconds(60), to: .seconds(7_800))
        expectRight(world, ClockWorld.ownBoot, own, from: .zero, to: .seconds(7_800))
        // Its own boot is dated by its word, without the way over the collector's clock.
        #expect(world.stored[boot]?.map(\.uncertainty) == [.zero])
        // It goes away: what it said stays, and grows uncertain.
        world.disconnect(peer)
        let before = try #require(world.book.mapping(for: ClockWorld.ownBoot))
        world.run(for: .seconds(3_600))
        #expect(world.book.mapping(for: ClockWorld.ownBoot) == before)
        // An equal takes over.
        let heir = (Fixture.peer(9), BootID(high: 3, low: 3))
        world.connect(heir.0, ClockWorld.Agent(clock: right, boot: heir.1, rank: .network))
        world.run(for: .seconds(600))
        #expect(world.book.reference.current?.source == .agent(heir.0))
    }

    @Test func twoCollectorsDateOneAgentAlike() throws {
        var utc: [Duration] = []
        for (seed, own) in [(11, -5), (12, -70_000)] as [(UInt64, Int64)] {
            var world = ClockWorld(
                seed: seed, own: SimulatedClock(booted: .seconds(own), drift: 0))
            world.ownRank = seed == 11 ? .network : .satellite
            world.connect(peer, ClockWorld.Agent(clock: agent, boot: boot))
            world.run(for: .seconds(10_000))
            expectRight(world, boot, agent, from: .seconds(60), to: .seconds(10_000))
            utc.append(try #require(world.utc(boot, agent.read(.seconds(5_000)))))
        }
        #expect(ClockReference.distance(utc[0], utc[1]) < .milliseconds(200))
    }

    /// Every moment in between lies within a bound that the delays of up to 60 ms a way and the
    /// hysteresis explain.
    private func expectRight(
        _ world: ClockWorld, _ boot: BootID, _ clock: SimulatedClock, from start: Duration,
        to end: Duration, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var worst: Duration = .zero
        var time = start
        while time <= end {
            worst = max(worst, world.error(boot, clock, at: time) ?? .seconds(1 << 40))
            time += .seconds(7)
        }
        #expect(worst < .milliseconds(130), sourceLocation: sourceLocation)
    }
}

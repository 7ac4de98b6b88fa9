import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// What a killed agent had in memory only.
@Suite struct LostEndTests {
    private let peer = Fixture.peer(7)
    private let killed = RunID(value: 0x1_0001)

    private func birth(_ run: RunID, after previous: PreviousRun? = nil) throws -> Birth {
        var birth = try Fixture.birth(run: run.value, channels: [("t", .celsius, -2)])
        birth.previous = previous
        birth.sent = .zero
        return birth
    }

    /// 1 to 3 and 6 to 7 came; up to `onDisk` the agent has them on disk.
    private func world(
        onDisk: UInt64, endedInOrder: Bool?
    ) throws -> (QueueWorld, successor: Birth) {
        var world = QueueWorld()
        let first = try birth(killed)
        world.receive(first, from: peer, at: 0)
        for (from, count) in [(1, 3), (6, 2)] as [(UInt64, UInt64)] {
            let entries = (from..<from + count).map {
                Report.Entry(sequence: $0, channel: 1, milliseconds: 0, cell: .scaled(1))
            }
            let report = Report(birth: first.reference, lowestHeld: 1, entries: entries)
            world.give(.received(report.bytes, from: peer, hops: 1), at: 0)
        }
        _ = world.commit(at: 1_000)
        world.give(.committed, at: 1_010)
        let previous = PreviousRun(
            run: killed, lastSequence: onDisk, endedInOrder: endedInOrder)
        let successor = try birth(RunID(value: 0x2_0002), after: previous)
        world.receive(successor, from: peer, at: 20_000)
        return (world, successor)
    }

    /// The gaps that are committed after the time for what is on its way.
    private func gaps(_ world: inout QueueWorld) -> [Gap] {
        var gaps: [Gap] = []
        for second in 20..<40 as Range<Int64> {
            guard let batch = world.commit(at: second * 1_000) else { continue }
            gaps += batch.gaps.map(\.gap)
            world.give(.committed, at: second * 1_000)
        }
        return gaps
    }

    @Test func theEndOfAKilledRunIsAGapThatReachesToItsUnknownEnd() throws {
        var (world, _) = try world(onDisk: 0, endedInOrder: false)
        let gaps = gaps(&world)
        #expect(gaps.map(\.range) == [4..<6, 8..<Gap.openEnd])
        #expect(gaps.allSatisfy { $0.run == killed && $0.reason == .power })
        #expect(gaps.map(\.isOpen) == [false, true])
        // What lies between is settled; of the open end nothing is said.
        #expect(world.receipts.last { $0.run == killed }?.through == 7)
    }

    @Test func aRunWithoutChannelsHasNothingToLose() throws {
        var world = QueueWorld()
        let relay = try Fixture.birth(run: killed.value, channels: [])
        world.receive(relay, from: peer, at: 0)
        for number in 2...3 as ClosedRange<UInt64> {
            var successor = try Fixture.birth(run: number, channels: [])
            successor.previous = PreviousRun(run: killed, lastSequence: 0, endedInOrder: false)
            successor.sent = .zero
            world.receive(successor, from: peer, at: 20_000)
        }
        #expect(gaps(&world).isEmpty)
        #expect(world.machine.lostEnds.nextDeadline == nil)
    }

    @Test func whatIsOnDiskIsWaitedFor() throws {
        var (world, _) = try world(onDisk: 20, endedInOrder: false)
        #expect(gaps(&world).map(\.range) == [21..<Gap.openEnd])
    }

    @Test func aRunThatEndedInOrderLosesNothing() throws {
        for inOrder in [true, nil] as [Bool?] {
            var (world, _) = try world(onDisk: 7, endedInOrder: inOrder)
            #expect(gaps(&world).isEmpty)
        }
    }

    @Test func whatWasOnItsWayWhenTheAgentWasKilledIsTaken() throws {
        var (world, _) = try world(onDisk: 0, endedInOrder: false)
        let late = Report(
            birth: try birth(killed).reference, lowestHeld: 1,
            entries: [Report.Entry(sequence: 4, channel: 1, milliseconds: 0, cell: .scaled(1))])
        world.give(.received(late.bytes, from: peer, hops: 2), at: 21_000)
        #expect(gaps(&world).map(\.range) == [5..<6, 8..<Gap.openEnd])
        #expect(world.acceptedCount == 6)
    }

    @Test func theEndIsRecordedOnceHoweverOftenTheBirthComes() throws {
        var (world, successor) = try world(onDisk: 0, endedInOrder: false)
        #expect(gaps(&world).count == 2)
        var raised = successor
        raised.number = 2
        for birth in [successor, raised] { world.receive(birth, from: peer, at: 41_000) }
        world.give(.deadlineReached, at: 60_000)
        #expect(world.machine.lostEnds.nextDeadline == nil)
        let batch = world.commit(at: 61_000)
        #expect(batch?.gaps.isEmpty ?? true)
    }

    @Test func theTableOfLostEndsIsBounded() {
        var ends = LostEnds()
        for number in 0..<UInt64(Limits.lostEndsMax) * 2 {
            let previous = PreviousRun(
                run: RunID(value: number), lastSequence: 0, endedInOrder: false)
            ends.add(previous, of: peer, now: .zero)
        }
        #expect(ends.takeDue(now: Fixture.at(10_000)).count == Limits.lostEndsMax)
        #expect(ends.nextDeadline == nil)
    }
}

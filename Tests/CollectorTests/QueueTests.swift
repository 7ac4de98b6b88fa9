import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// What waits while the store refuses, and parts that it cannot write.
@Suite struct QueueTests {
    private let peer = Fixture.peer(7)

    // MARK: Bounds in bytes

    /// Two births of 1,024 channels in turn, twenty a second, and a store that takes nothing.
    @Test func birthsThatAlternateWhileTheStoreRefusesStayWithinTheirBytes() throws {
        var world = QueueWorld()
        let births = try (0..<40 as Range<UInt64>).map { try Self.wideBirth(0x100 + $0) }
        for tick in 0..<900 as Range<Int64> {
            world.receive(births[Int(tick) % births.count], from: peer, at: tick * 50)
            world.refuse(at: tick * 50)
            #expect(world.machine.queuedByteCount <= Limits.uncommittedBytesPerPeerMax + (1 << 20))
        }
        #expect(world.count(of: .birthQuota) > 0)
        // Another agent still finds room.
        let other = try Fixture.birth(run: 0x900, channels: [("t", .celsius, -2)])
        world.receive(other, from: Fixture.peer(8), at: 45_000)
        #expect(world.machine.birthByteCount > 0)
        #expect(world.born.contains { $0.run == other.run })
    }

    @Test func manyAgentsTogetherStayWithinTheCommonBytes() throws {
        var world = QueueWorld()
        for number in 0..<60 as Range<UInt64> {
            let agent = Fixture.peer(100 + number)
            for run in 1...40 as ClosedRange<UInt64> {
                world.receive(try Self.wideBirth(run), from: agent, at: Int64(number) * 10)
                world.refuse(at: Int64(number) * 10)
            }
            #expect(world.machine.queuedByteCount <= Limits.uncommittedBytesMax + (1 << 20))
            #expect(world.machine.birthByteCount <= Limits.birthBytesMax)
        }
        #expect(world.count(of: .storeBehind) > 0)
    }

    @Test func reportsWithoutABirthCountInBytes() throws {
        var world = QueueWorld()
        let birth = try Fixture.birth(channels: [("t", .celsius, -2)])
        for number in 0..<2_000 as Range<UInt64> {
            let agent = Fixture.peer(number % 200)
            let report = Fixture.report(birth, first: number * 1_000 + 1, count: 300)
            world.give(.received(report, from: agent, hops: 1), at: 0)
        }
        #expect(world.machine.held.byteCount <= Limits.heldReportBytesMax)
        #expect(world.machine.heldReportCount > 100)
        #expect(world.count(of: .reportWithoutBirth) > 0)
        world.give(.deadlineReached, at: 10_001)
        #expect(world.machine.held.byteCount == 0)
    }

    @Test func gapsAreBoundedByRangesAndCounted() throws {
        var world = QueueWorld()
        let birth = try Fixture.birth(channels: [("t", .celsius, -2)])
        world.receive(birth, from: peer, at: 0)
        for number in 1...5_000 as ClosedRange<UInt64> {
            let gap = Gap(run: birth.run, range: number * 2..<number * 2 + 1, reason: .damaged)
            world.give(
                .received(TelemetryMessage.gap(gap).bytes, from: peer, hops: 1), at: 0)
        }
        let settled = world.machine.peers[peer]?.settled(of: birth.run)
        #expect(settled?.ranges.count == Limits.sequenceRangesMax)
        #expect(world.count(of: .readingTableFull) == 5_000 - Limits.sequenceRangesMax)
    }

    @Test func aGapThatIsToldAgainIsQueuedOnce() throws {
        var world = QueueWorld()
        let birth = try Fixture.birth(channels: [("t", .celsius, -2)])
        world.receive(birth, from: peer, at: 0)
        let gap = TelemetryMessage.gap(Gap(run: birth.run, range: 5..<9, reason: .spoolFull))
        for _ in 0..<50 { world.give(.received(gap.bytes, from: peer, hops: 1), at: 0) }
        let due = world.commit(at: 1_000)
        let batch = try #require(due)
        #expect(batch.gaps.count == 1)
    }

    @Test func whatIsCommittedIsRememberedOfABoundedNumberOfRuns() throws {
        var committed = CommittedRuns()
        for run in 1...200 as ClosedRange<UInt64> {
            var numbers = NumberRanges()
            for number in 0..<5_000 as Range<UInt64> { numbers.insert(number * 2..<number * 2 + 1) }
            committed.formUnion(numbers, of: RunID(value: run))
        }
        #expect(committed[RunID(value: 200 - 64)] == nil)
        #expect(committed[RunID(value: 200 - 63)]?.ranges.count == Limits.committedRangesMax)
        #expect(committed[RunID(value: 200)]?.contains(9_998) == true)
    }

    /// A collector without a clock of its own learns the time after hours.
    @Test func aThousandBootsWithAllTheirStretchesFindRoom() throws {
        var ledger = CommitLedger()
        var dropped = 0
        for boot in 0..<1_000 as Range<UInt64> {
            for stretch in 0..<64 as Range<Int64> {
                let mapping = ClockMapping(
                    boot: BootID(high: boot, low: 2),
                    clock: ClockReading(rank: .network, unixOffset: .seconds(stretch)),
                    uncertainty: .zero, since: .zero + .seconds(stretch * 500))
                dropped += ledger.add(mapping, now: .zero)
            }
        }
        #expect(dropped == 0)
        let batch = ledger.takeDue(now: .zero, isLast: true) { _ in nil }
        #expect(batch?.clocks.count == 64_000)
    }

    @Test func clockMappingsThatWaitAreBounded() throws {
        var ledger = CommitLedger()
        var dropped = 0
        for number in 0..<10_000 as Range<Int64> {
            let mapping = ClockMapping(
                boot: BootID(high: 1, low: 2),
                clock: ClockReading(rank: .network, unixOffset: .seconds(number)),
                uncertainty: .zero, since: Instant(nanoseconds: number))
            dropped += ledger.add(mapping, now: .zero)
        }
        #expect(dropped == 10_000 - Limits.uncommittedClocksPerBootMax)
        // One that holds from the beginning of the boot takes the place of all of them.
        let whole = ClockMapping(
            boot: BootID(high: 1, low: 2),
            clock: ClockReading(rank: .satellite, unixOffset: .zero), uncertainty: .zero)
        _ = ledger.add(whole, now: .zero)
        let batch = ledger.takeDue(now: .zero, isLast: true) { _ in nil }
        #expect(batch?.clocks == [whole])
    }

    // MARK: A store that is asked in time

    /// Half of what may wait is due at once, the rest fills meanwhile; what comes then is refused
    /// without a look at what is in it, and the agent is not forgotten as silent.
    @Test func aBatchThatIsHalfFullDoesNotWaitForTheSecond() throws {
        var world = QueueWorld()
        let birth = try Fixture.birth(channels: [("t", .celsius, -2)])
        let agents = (0..<40 as Range<UInt64>).map { Fixture.peer(100 + $0) }
        for agent in agents { world.receive(birth, from: agent, at: 0) }
        var taken = 0
        var due: [Int] = []
        var batch: StoreBatch?
        for turn in 0..<20 as Range<UInt64> {
            for agent in agents {
                let report = Fixture.report(birth, first: turn * 250 + 1, count: 250)
                world.give(.received(report, from: agent, hops: 1), at: 0)
                taken += 250
                guard world.machine.nextDeadline == Fixture.at(0) else { continue }
                due.append(taken)
                batch = world.commit(at: 0)
            }
        }
        let count = batch?.parts.reduce(0) { $0 + $1.readings.count }
        let refused = world.count(of: .storeBehind)
        #expect(due == [Limits.uncommittedReadingsMax / 2] && count == due.first)
        #expect(taken == Limits.uncommittedReadingsMax && refused == 0)
        var nonsense = Array(Fixture.report(birth, first: 9_000).prefix(3))
        nonsense += [0xff, 0xff]
        world.give(.received(nonsense, from: agents[0], hops: 1), at: 400)
        let unread = world.count(of: .storeBehind)
        let heard = world.machine.peers[agents[0]]?.lastHeard
        #expect(unread == 1 && heard == Fixture.at(400))
    }

    // MARK: Births that are needed

    /// A report, then so many births that its own would be forgotten before the commit.
    @Test func aBirthWhoseReadingsWaitIsNotForgotten() throws {
        var world = QueueWorld()
        let first = try Fixture.birth(run: 0x1_0001, channels: [("t", .celsius, -2)])
        world.receive(first, from: peer, at: 0)
        world.give(.received(Fixture.report(first, first: 1), from: peer, hops: 1), at: 0)
        for run in 2...40 as ClosedRange<UInt64> {
            let birth = try Fixture.birth(run: run << 32 | run, channels: [("t", .celsius, -2)])
            world.receive(birth, from: peer, at: 1)
        }
        #expect(world.machine.peers[peer]?.birth(of: first.run) == first)
        // Nor when more agents come than there is room for.
        for number in 0..<Limits.collectorPeersMax {
            let agent = Fixture.peer(1_000 + UInt64(number))
            let report = Fixture.report(first, first: 1)
            world.give(.received(report, from: agent, hops: 1), at: 2)
        }
        #expect(world.machine.peers[peer]?.birth(of: first.run) == first)
    }

    // MARK: Parts that the store leaves out

    @Test func aPartThatCannotBeWrittenIsDroppedAndToldAndTheRestGetsItsReceipt() throws {
        var world = QueueWorld()
        let other = Fixture.peer(8)
        let births = [0x1_0001, 0x2_0002] as [UInt64]
        for (agent, run) in zip([peer, other], births) {
            let birth = try Fixture.birth(run: run, channels: [("t", .celsius, -2)])
            world.receive(birth, from: agent, at: 0)
            world.give(
                .received(Fixture.report(birth, first: 1, count: 4), from: agent, hops: 1), at: 0)
        }
        let first = world.commit(at: 1_000)
        #expect(first?.parts.count == 2)
        let key = RunKey(peer: peer, run: RunID(value: births[0]))
        let refusal = StoreBatch.Refusal(key: key, reason: .unwritable("too big"))
        world.give(.partsRefused([refusal]), at: 1_010)
        world.give(.committed, at: 1_010)
        #expect(world.receipts.map(\.run.value) == [births[1]])
        #expect(world.count(of: .storePartRefused) == 1)
        #expect(world.diagnostics == [.partRefused(key, reason: "too big")])
        #expect(world.machine.uncommittedCount == 0)
        #expect(world.machine.queuedByteCount == 0)
        // The agent has no receipt and sends again: it is asked for its birth, and taken anew.
        let birth = try Fixture.birth(run: births[0], channels: [("t", .celsius, -2)])
        world.receive(birth, from: peer, at: 2_000)
        world.give(
            .received(Fixture.report(birth, first: 1, count: 4), from: peer, hops: 1), at: 2_000)
        let due = world.commit(at: 3_000)
        let batch = try #require(due)
        #expect(batch.parts.map(\.readings.count) == [4])
        world.give(.committed, at: 3_010)
        #expect(world.receipts.last?.through == 4)
    }

    /// The store lost the birth, as one does that was set aside as damaged.
    @Test func aPartWhoseBirthTheStoreLostIsWrittenAgainWithIt() throws {
        var world = QueueWorld()
        let birth = try Fixture.birth(run: 0x1_0001, channels: [("t", .celsius, -2)])
        world.receive(birth, from: peer, at: 0)
        _ = world.commit(at: 1_000)
        world.give(.committed, at: 1_010)
        let gap = Gap(run: birth.run, range: 8..<10, reason: .spoolFull)
        world.give(.received(TelemetryMessage.gap(gap).bytes, from: peer, hops: 1), at: 2_000)
        world.give(
            .received(Fixture.report(birth, first: 1, count: 4), from: peer, hops: 1), at: 2_000)
        let lost = world.commit(at: 3_000)
        #expect(lost?.births.isEmpty == true)
        let key = RunKey(peer: peer, run: birth.run)
        world.give(
            .partsRefused([StoreBatch.Refusal(key: key, reason: .birthMissing)]), at: 3_010)
        world.give(.committed, at: 3_010)
        #expect(world.receipts.isEmpty)
        let due = world.commit(at: 4_020)
        let batch = try #require(due)
        #expect(batch.births.map(\.birth) == [birth])
        #expect(batch.parts.map { $0.readings.map(\.sequence) } == [[1, 2, 3, 4]])
        #expect(batch.gaps.map(\.gap) == [gap])
        world.give(.committed, at: 4_030)
        #expect(world.receipts.map(\.through) == [9])
        #expect(world.count(of: .storePartRefused) == 0)
        #expect(world.machine.queuedByteCount == 0)
    }

    // MARK: Parts

    private static func wideBirth(_ run: UInt64) throws -> Birth {
        try Fixture.birth(
            run: run << 32 | run,
            channels: (0..<1_024).map { ("a channel with a long name \($0)", .celsius, -2) })
    }
}

/// A durable collector's machine, and what it said.
struct QueueWorld {
    var machine: CollectorMachine
    private(set) var drops: [DropReason: Int] = [:]
    private(set) var diagnostics: [CollectorDiagnostic] = []
    private(set) var receipts: [Receipt] = []
    private(set) var born: [Birth] = []
    private(set) var batch: StoreBatch?
    private(set) var acceptedCount = 0

    init(quotas: CollectorQuotas = CollectorQuotas()) {
        machine = CollectorMachine(isDurable: true, quotas: quotas)
        _ = machine.handle(.restored([], []), now: .zero)
    }

    func count(of reason: DropReason) -> Int { drops[reason] ?? 0 }

    mutating func receive(_ birth: Birth, from peer: PeerID, at milliseconds: Int64) {
        give(
            .received(TelemetryMessage.birth(birth).bytes, from: peer, hops: 1), at: milliseconds)
    }

    mutating func commit(at milliseconds: Int64) -> StoreBatch? {
        batch = nil
        give(.deadlineReached, at: milliseconds)
        return batch
    }

    /// The store takes nothing of what is due.
    mutating func refuse(at milliseconds: Int64) {
        if commit(at: milliseconds) != nil { give(.refused, at: milliseconds) }
    }

    mutating func give(_ input: CollectorMachine.Input, at milliseconds: Int64) {
        for output in machine.handle(input, now: Fixture.at(milliseconds)) {
            switch output {
            case .accepted(let delivery): acceptedCount += delivery.readings.count
            case .born(_, let birth): born.append(birth)
            case .commit(let new): batch = new
            case .diagnostic(let diagnostic): diagnostics.append(diagnostic)
            case .drop(let reason, let count): drops[reason, default: 0] += count
            case .sendUnreliable(let bytes, _):
                if case .receipt(let receipt)? = try? TelemetryMessage(parsing: bytes) {
                    receipts.append(receipt)
                }
            case .send: break
            }
        }
    }
}

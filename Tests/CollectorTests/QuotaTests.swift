import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// What one agent may bring, and what was settled elsewhere.
@Suite struct QuotaTests {
    private let peer = Fixture.peer(7)

    private func quotas(readings: Int = 5_000, bytes: Int = 4 << 30) -> CollectorQuotas {
        var quotas = CollectorQuotas()
        quotas.readingsPerSecond = readings
        quotas.storeBytesPerDay = bytes
        return quotas
    }

    private func birth(_ run: UInt64 = 0x1_0001) throws -> Birth {
        try Fixture.birth(run: run, channels: [("t", .celsius, -2)])
    }

    /// So many reports of so many readings each, at once.
    private func send(
        _ reports: Range<UInt64>, of count: UInt64, _ birth: Birth, to world: inout QueueWorld
    ) {
        for number in reports {
            let report = Fixture.report(birth, first: number * count + 1, count: count)
            world.give(.received(report, from: peer, hops: 1), at: 0)
        }
    }

    // MARK: Readings a second

    @Test func moreThanABurstIsNotTakenAndGetsNoReceipt() throws {
        var world = QueueWorld(quotas: quotas(readings: 10))
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        send(0..<100, of: 10, birth, to: &world)
        #expect(world.acceptedCount == 50)
        #expect(world.count(of: .readingQuota) == 95)
        #expect(world.diagnostics == [.quotaReached(.readings, of: peer)])
        _ = world.commit(at: 1_000)
        world.give(.committed, at: 1_000)
        #expect(world.receipts.map(\.through) == [50])
        // Ten a second go on, and the others follow in time: nothing is lost.
        for second in 0..<40 as Range<UInt64> {
            let report = Fixture.report(birth, first: 51 + second * 10, count: 10)
            world.give(
                .received(report, from: peer, hops: 1), at: Int64(second) * 1_000 + 1_000)
        }
        #expect(world.acceptedCount == 450)
    }

    @Test func thatAQuotaIsKeptAgainIsTold() throws {
        var world = QueueWorld(quotas: quotas(readings: 1))
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        send(0..<10, of: 60, birth, to: &world)
        world.give(.deadlineReached, at: 59_999)
        #expect(world.diagnostics == [.quotaReached(.readings, of: peer)])
        #expect(world.machine.nextDeadline != nil)
        world.give(.deadlineReached, at: 60_000)
        #expect(
            world.diagnostics == [
                .quotaReached(.readings, of: peer), .quotaKept(.readings, of: peer),
            ])
    }

    @Test func whatWasThereAlreadyCostsNothing() throws {
        var world = QueueWorld(quotas: quotas(readings: 10))
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        let report = Fixture.report(birth, first: 1, count: 40)
        for _ in 0..<100 { world.give(.received(report, from: peer, hops: 1), at: 0) }
        #expect(world.count(of: .readingQuota) == 0)
        #expect(world.acceptedCount == 40)
    }

    /// 200 readings a second were kept for an hour, and come as fast as they can: what is refused
    /// comes again.
    @Test func anHoursBacklogOfABusyAgentIsTakenInMinutesAndWhole() throws {
        var world = QueueWorld(quotas: quotas(readings: 5_000))
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        var next: UInt64 = 1
        var at: Int64 = 0
        while next <= 720_000, at < 150_000 {
            at += 30
            let before = world.acceptedCount
            let report = Fixture.report(birth, first: next, count: 300)
            world.give(.received(report, from: peer, hops: 1), at: at)
            if world.acceptedCount > before { next += 300 }
            if world.commit(at: at) != nil { world.give(.committed, at: at) }
        }
        #expect(world.acceptedCount == 720_000)
        #expect(world.receipts.last?.missing.isEmpty == true)
        #expect(world.count(of: .readingQuota) > 0)
        #expect(world.count(of: .storeQuota) == 0)
    }

    @Test func oneAgentsQuotaIsNotAnothers() throws {
        var world = QueueWorld(quotas: quotas(readings: 1))
        let (birth, other) = (try birth(), Fixture.peer(8))
        for agent in [peer, other] { world.receive(birth, from: agent, at: 0) }
        send(0..<10, of: 60, birth, to: &world)
        world.give(.received(Fixture.report(birth, first: 1), from: other, hops: 1), at: 0)
        #expect(world.acceptedCount == 61)
    }

    @Test func theQuotasAreThoseThatAreDocumented() throws {
        #expect(CollectorQuotas().readingsPerSecond == 10_000)
        #expect(CollectorQuotas().storeBytesPerDay == 4 << 30)
        #expect(WindowAggregator.Settings().seriesPerPeerMax == 4_096)
        // What five seconds allow may come at once, and then 10,000 a second.
        var world = QueueWorld()
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        var next: UInt64 = 1
        for second in 0..<4 as Range<Int64> {
            for _ in 0..<240 {
                let before = world.acceptedCount
                let report = Fixture.report(birth, first: next, count: 250)
                world.give(.received(report, from: peer, hops: 1), at: second * 1_000)
                if world.acceptedCount > before { next += 250 }
            }
            if world.commit(at: second * 1_000) != nil {
                world.give(.committed, at: second * 1_000)
            }
            #expect(world.acceptedCount == 50_000 + Int(second) * 10_000)
        }
        #expect(world.diagnostics == [.quotaReached(.readings, of: peer)])
        // A day's bytes are 67 million readings.
        var table = QuotaTable()
        table.spend((4 << 30) - 1, of: .store, by: peer, now: .zero)
        #expect(!table.isSpent(.store, of: peer, now: .zero))
        table.spend(2, of: .store, by: peer, now: .zero)
        #expect(table.isSpent(.store, of: peer, now: .zero))
    }

    // MARK: Bytes a day

    @Test func aDaysBytesEndAndComeBackOverTheDay() throws {
        let perReading = Limits.storedReadingBytes
        var world = QueueWorld(quotas: quotas(bytes: 10_000 * perReading))
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        var first: UInt64 = 1
        for hour in 0..<24 as Range<Int64> {
            for _ in 0..<40 {
                let report = Fixture.report(birth, first: first, count: 100)
                let before = world.acceptedCount
                world.give(.received(report, from: peer, hops: 1), at: hour * 3_600_000)
                if world.acceptedCount > before { first += 100 }
            }
            if world.commit(at: hour * 3_600_000 + 1_000) != nil {
                world.give(.committed, at: hour * 3_600_000 + 1_000)
            }
        }
        // At once, and then again evenly; one report a time may overdraw it.
        #expect((19_000...22_500).contains(world.acceptedCount))
        #expect(world.count(of: .storeQuota) > 0)
        #expect(world.diagnostics.first == .quotaReached(.store, of: peer))
    }

    @Test func theDisksFreeSpaceLowersTheDaysBytes() throws {
        var world = QueueWorld(quotas: quotas(readings: 1_000_000))
        world.give(.storeSpace(8 << 20), at: 0)
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        send(0..<1_000, of: 100, birth, to: &world)
        let share = (8 << 20) / Limits.storeShareDivisor / Limits.storedReadingBytes
        #expect((share - 100...share + 100).contains(world.acceptedCount))
        #expect(world.count(of: .storeQuota) > 0)
    }

    @Test func birthsAreLimitedByTheMinute() throws {
        var world = QueueWorld()
        for run in 1...200 as ClosedRange<UInt64> {
            world.receive(try birth(run << 32 | run), from: peer, at: 0)
        }
        #expect(world.born.count == Limits.birthsPerMinuteMax)
        #expect(world.count(of: .birthQuota) == 200 - Limits.birthsPerMinuteMax)
        #expect(world.diagnostics == [.quotaReached(.births, of: peer)])
        // The same birth again is nothing new.
        world.receive(world.born[59], from: peer, at: 0)
        #expect(world.count(of: .birthQuota) == 200 - Limits.birthsPerMinuteMax)
        world.receive(try birth(0x999), from: peer, at: 1_000)
        #expect(world.born.count == Limits.birthsPerMinuteMax + 1)
    }

    @Test func theTableOfQuotasIsBoundedAndForgetsWhoUsedLeast() {
        var table = QuotaTable()
        table.spend(900_000, of: .readings, by: peer, now: .zero)
        for number in 0..<UInt64(Limits.quotaPeersMax) * 2 {
            table.spend(1, of: .readings, by: Fixture.peer(1_000 + number), now: .zero)
        }
        #expect(table.isSpent(.readings, of: peer, now: .zero))
    }

    // MARK: Settled elsewhere

    @Test func whatTheAgentHoldsNoMoreAndNeverCameIsToldOnceAndStoredAsAGap() throws {
        var world = QueueWorld()
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        world.give(
            .received(Fixture.report(birth, first: 1, count: 3), from: peer, hops: 1), at: 0)
        // 4 to 9 were settled by another collector.
        world.give(
            .received(Fixture.report(birth, first: 10, count: 2), from: peer, hops: 1), at: 1)
        world.give(
            .received(Fixture.report(birth, first: 20, count: 2), from: peer, hops: 1), at: 2)
        let key = RunKey(peer: peer, run: birth.run)
        #expect(world.diagnostics == [.settledElsewhere(key, 4..<10)])
        let due = world.commit(at: 1_000)
        let batch = try #require(due)
        #expect(batch.gaps.map(\.gap.range) == [4..<10, 12..<20])
        #expect(batch.gaps.allSatisfy { $0.gap.reason == .settledElsewhere })
        world.give(.committed, at: 1_010)
        #expect(world.receipts.map(\.through) == [21])
    }

    /// More identities than there is room for: the agent that was silent meanwhile was forgotten,
    /// and its readings are in the store all the same.
    @Test func whatWasForgottenHereIsNotCalledSettledElsewhere() throws {
        var world = QueueWorld()
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        world.give(
            .received(Fixture.report(birth, first: 1, count: 9), from: peer, hops: 1), at: 0)
        _ = world.commit(at: 1_000)
        world.give(.committed, at: 1_000)
        for number in 0..<UInt64(Limits.collectorPeersMax) {
            world.receive(birth, from: Fixture.peer(10_000 + number), at: 2_000)
        }
        _ = world.commit(at: 4_000)
        world.give(.committed, at: 4_000)
        world.receive(birth, from: peer, at: 5_000)
        world.give(
            .received(Fixture.report(birth, first: 10, count: 2), from: peer, hops: 1), at: 5_000)
        #expect(world.diagnostics.isEmpty)
        let due = world.commit(at: 7_000)
        #expect(due?.gaps.isEmpty == true)
        world.give(.committed, at: 7_000)
        #expect(world.receipts.last?.through == 11)
        // From then on it is known again what came.
        world.give(
            .received(Fixture.report(birth, first: 20, count: 2), from: peer, hops: 1), at: 8_000)
        #expect(
            world.diagnostics == [.settledElsewhere(RunKey(peer: peer, run: birth.run), 12..<20)])
    }

    @Test func whatCameHereAndWhatTheAgentAnnouncedAsLostIsNotSettledElsewhere() throws {
        var world = QueueWorld()
        let birth = try birth()
        world.receive(birth, from: peer, at: 0)
        world.give(
            .received(Fixture.report(birth, first: 1, count: 3), from: peer, hops: 1), at: 0)
        let gap = TelemetryMessage.gap(Gap(run: birth.run, range: 4..<8, reason: .spoolFull))
        world.give(.received(gap.bytes, from: peer, hops: 1), at: 0)
        world.give(
            .received(Fixture.report(birth, first: 8, count: 3), from: peer, hops: 1), at: 0)
        #expect(world.diagnostics.isEmpty)
        let due = world.commit(at: 1_000)
        let batch = try #require(due)
        #expect(batch.gaps.map(\.gap.reason) == [.spoolFull])
    }

    @Test func aViewerStoresAndTellsNothingOfWhatOthersSettled() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        var outputs = machine.handle(
            .received(TelemetryMessage.birth(birth).bytes, from: peer, hops: 1), now: .zero)
        outputs += machine.handle(
            .received(Fixture.report(birth, first: 10), from: peer, hops: 1), now: .zero)
        let hasDiagnostic = outputs.contains { if case .diagnostic = $0 { true } else { false } }
        #expect(!hasDiagnostic)
        #expect(machine.queuedByteCount == 0)
    }
}

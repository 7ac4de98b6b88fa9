import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// The collector's machine and the real store together.
@Suite struct CollectorStoreTests {
    private let liar = Fixture.peer(7)
    private let honest = Fixture.peer(8)

    /// The store has let a run go that had no readings, as retention does; then a report on it
    /// comes, and in the same second more births than the collector remembers.
    @Test func aReportOnARunThatTheStoreLetGoKeepsNobodyElsesReadingsOut() throws {
        try withStorePath { path in
            var pair = Pair(try Store.open(path).store)
            let first = try Self.birth(0x1_0001)
            pair.receive(.birth(first), from: liar, at: 0)
            try pair.commit(at: 1_000)
            try pair.store.database.execute("DELETE FROM runs; DELETE FROM channels")
            pair.receive(Self.report(first, 1), from: liar, at: 2_000)
            for run in 2...18 as ClosedRange<UInt64> {
                pair.receive(.birth(try Self.birth(run << 32 | run)), from: liar, at: 2_000)
            }
            let other = try Self.birth(0x9_0009)
            pair.receive(.birth(other), from: honest, at: 2_000)
            for second in 0..<5 as Range<Int64> {
                let at = 2_000 + second * 1_000
                pair.receive(Self.report(other, UInt64(second) + 1), from: honest, at: at)
                try pair.commit(at: at + 1_000)
            }
            #expect(pair.receipts[honest]?.through == 5)
            #expect(pair.receipts[liar]?.through == 1)
            #expect(pair.machine.uncommittedCount == 0)
            #expect(pair.machine.queuedByteCount == 0)
            #expect(try pair.store.allReadings().count == 6)
        }
    }

    /// A row that SQLite refuses for what is in it.
    @Test func whatTheStoreCannotWriteIsDroppedAndTheOthersHaveTheirReceipts() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            try store.database.execute(
                """
                CREATE TEMP TRIGGER refusing BEFORE INSERT ON main.readings
                WHEN NEW.sequence = 3 BEGIN SELECT RAISE(ABORT, 'not this one'); END
                """)
            var pair = Pair(store)
            let births = [try Self.birth(0x1_0001), try Self.birth(0x2_0002)]
            for (agent, birth) in zip([liar, honest], births) {
                pair.receive(.birth(birth), from: agent, at: 0)
            }
            pair.receive(Self.report(births[0], 3), from: liar, at: 0)
            pair.receive(Self.report(births[1], 1), from: honest, at: 0)
            try pair.commit(at: 1_000)
            #expect(pair.receipts[honest]?.through == 1)
            #expect(pair.receipts[liar] == nil)
            #expect(pair.refusedCount == 1)
            #expect(try store.allReadings().count == 1)
            #expect(pair.machine.queuedByteCount == 0)
        }
    }

    /// Each second another collector's share is passed over; the store tells which numbers.
    @Test func whatAnotherCollectorSwallowedCanBeQueried() throws {
        try withStorePath { path in
            var pair = Pair(try Store.open(path).store)
            let birth = try Self.birth(0x1_0001)
            pair.receive(.birth(birth), from: honest, at: 0)
            for number in [1, 2, 60, 61] as [UInt64] {
                pair.receive(Self.report(birth, number), from: honest, at: 0)
            }
            try pair.commit(at: 1_000)
            #expect(pair.receipts[honest]?.through == 61)
            let gaps = try StoreReader(path).gaps(StoreQuery())
            #expect(gaps.map(\.gap.range) == [3..<60])
            #expect(gaps.map(\.gap.reason.description) == ["elsewhere"])
        }
    }

    // MARK: Parts

    private static func birth(_ run: UInt64) throws -> Birth {
        try Fixture.birth(Fixture.key(run), channels: ["air"]).birth
    }

    /// A report with one reading; nothing below is held any more.
    private static func report(_ birth: Birth, _ sequence: UInt64) -> TelemetryMessage {
        let entry = Report.Entry(
            sequence: sequence, channel: 1, milliseconds: Int64(sequence), cell: .scaled(1))
        return .report(Report(birth: birth.reference, lowestHeld: sequence, entries: [entry]))
    }
}

/// A collector's machine with its store behind it.
private struct Pair {
    let store: Store
    var machine = CollectorMachine(isDurable: true)
    /// The last one of each agent.
    private(set) var receipts: [PeerID: Receipt] = [:]
    private(set) var refusedCount = 0
    private var batch: StoreBatch?

    init(_ store: Store) {
        self.store = store
        _ = machine.handle(.restored([], []), now: .zero)
    }

    mutating func receive(_ message: TelemetryMessage, from peer: PeerID, at milliseconds: Int64) {
        give(.received(message.bytes, from: peer, hops: 1), at: milliseconds)
    }

    /// What is due is written.
    mutating func commit(at milliseconds: Int64) throws {
        give(.deadlineReached, at: milliseconds)
        guard let batch else { return }
        self.batch = nil
        let refused = try store.commit(batch)
        if !refused.isEmpty { give(.partsRefused(refused), at: milliseconds) }
        give(.committed, at: milliseconds)
    }

    private mutating func give(_ input: CollectorMachine.Input, at milliseconds: Int64) {
        for output in machine.handle(input, now: Fixture.at(milliseconds)) {
            switch output {
            case .commit(let batch): self.batch = batch
            case .sendUnreliable(let bytes, let peer):
                if case .receipt(let receipt)? = try? TelemetryMessage(parsing: bytes) {
                    receipts[peer] = receipt
                }
            case .drop(.storePartRefused, let count): refusedCount += count
            case .accepted, .born, .send, .diagnostic, .drop: break
            }
        }
    }
}

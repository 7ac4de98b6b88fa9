import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Rows of the table of blocks that no store wrote.
@Suite struct BlockDamageTests {
    private let right = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)

    /// 8,000 readings, one a second, all in blocks, of which an hour is kept.
    private func filled(_ path: String) throws -> Store {
        var settings = Store.Settings()
        settings.keep = .seconds(3_600)
        let store = try Store.open(path, settings).store
        var batch = Fixture.batch(Fixture.readings(count: 8_000), births: [try Fixture.birth()])
        batch.clocks = [Fixture.mapping()]
        try store.commit(batch)
        try store.pack()
        return store
    }

    /// The block that was written first, and what it has.
    private func first(
        _ store: Store
    ) throws -> (id: Int64, channel: UInt16, sequences: ClosedRange<UInt64>) {
        let row = try store.database.prepare(
            "SELECT id, channel, first_sequence, last_sequence FROM blocks ORDER BY id LIMIT 1")
        #expect(try row.step())
        defer { row.reset() }
        return (
            row.integer(0), UInt16(row.integer(1)),
            UInt64(row.integer(2))...UInt64(row.integer(3))
        )
    }

    /// Sweeps once; returns what was told of blocks.
    private func sweep(_ store: Store) throws -> [String] {
        var told: [String] = []
        for _ in 0..<10_000 {
            let report = try store.tidy(now: Fixture.at(8_000_000), clock: right, budget: 60)
            told += report.damagedBlocks
            if report.isDone { return told }
        }
        Issue.record("tidying does not come to an end")
        return told
    }

    @Test(arguments: [
        "count = 9223372036854775807", "count = -1", "count = 0",
        "first_sequence = last_sequence + 1", "first_sequence = -5",
        "first_sequence = 1, last_sequence = 9223372036854775807, count = 9223372036854775806",
        "last_sequence = -9223372036854775808", "first_milliseconds = -9223372036854775808",
        "last_milliseconds = 9223372036854775807", "last_milliseconds = first_milliseconds - 1",
        "channel = 70000", "channel = -1",
    ])
    func anAbsurdRowIsToldOnceAndRetentionGoesOn(damage: String) throws {
        try withStorePath { path in
            let store = try filled(path)
            let (id, channel, sequences) = try first(store)
            try store.database.execute("UPDATE blocks SET \(damage) WHERE id = \(id)")
            let all = Fixture.readings(count: 8_000).filter {
                $0.channel != channel || !sequences.contains($0.sequence)
            }
            // Whoever asks for readings goes by it.
            #expect(try store.readings.count(of: 1, sequences: 1...Int64.max) == Int64(all.count))
            #expect(try store.allReadings() == all)
            let told = try sweep(store)
            #expect(told.count == 1)
            let words = "block \(id) is damaged (no store writes such a row)"
            #expect(told.first?.hasPrefix(words) == true)
            #expect(try store.allReadings() == all.filter { $0.sequence > 4_399 })
            #expect(try store.database.integer("SELECT 1 FROM blocks WHERE id = \(id)") == nil)
            #expect(try store.database.integrity() == ["ok"])
        }
    }

    /// Its beginning would be the oldest that its run has, for ever.
    @Test func anUnreadableBlockAtTheEdgeGoesWithItsBeginning() throws {
        try withStorePath { path in
            let store = try filled(path)
            let row = try store.database.prepare(
                """
                SELECT id FROM blocks WHERE first_milliseconds < 4400000
                AND last_milliseconds >= 4400000 ORDER BY id LIMIT 1
                """)
            #expect(try row.step())
            let id = row.integer(0)
            row.reset()
            try store.database.execute("UPDATE blocks SET bytes = x'00' WHERE id = \(id)")
            #expect(try sweep(store).count == 1)
            #expect(try store.database.integer("SELECT 1 FROM blocks WHERE id = \(id)") == nil)
            let oldest = try store.database.integer("SELECT min(first_milliseconds) FROM blocks")
            #expect(oldest ?? 0 >= 4_400_000)
        }
    }

    /// What no store wrote keeps no run that has nothing else.
    @Test func aRunOfAbsurdRowsAloneGoes() throws {
        try withStorePath { path in
            let store = try filled(path)
            try store.database.execute(
                """
                INSERT INTO blocks (run_id, channel, first_sequence, last_sequence,
                    first_milliseconds, last_milliseconds, count, bytes)
                VALUES (1, 1, 9, 9, \(Int64.max), \(Int64.max - 1), 1, x'')
                """)
            var batch = StoreBatch()
            let boot = BootID(high: 5, low: 5)
            batch.births = [try Fixture.birth(Fixture.key(0x200), boot: boot)]
            try store.commit(batch)
            let day: Int64 = 86_400_000
            for hour in 0..<3 as Range<Int64> {
                let now = Fixture.at(30 * day + hour * 3_600_000)
                for _ in 0..<10_000 {
                    if try store.tidy(now: now, clock: right).isDone { break }
                }
            }
            #expect(try Store.open(path).runs.map(\.key) == [Fixture.key(0x200)])
            #expect(try store.database.integer("SELECT count(*) FROM blocks") == 0)
        }
    }
}

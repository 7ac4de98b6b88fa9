import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct FaultTests {
    private func batch(_ count: UInt64 = 2_000) throws -> StoreBatch {
        Fixture.batch(Fixture.readings(count: count), births: [try Fixture.birth()])
    }

    @Test(arguments: [(Store.Settings.inRows, 2_000 as UInt64), (.inBlocks(from: 128), 20_000)])
    func aFullDiskIsTypedAndTheSameBatchSucceedsOnceLater(
        settings: Store.Settings, count: UInt64
    ) throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            let pages = try store.database.integer("PRAGMA page_count") ?? 0
            try store.database.execute("PRAGMA max_page_count = \(pages + 3)")
            for _ in 0..<3 {
                #expect(throws: StoreError.full) { try store.commit(try batch(count)) }
                #expect(try store.allReadings().isEmpty)
                #expect(try store.database.integer("SELECT count(*) FROM runs") == 0)
            }
            try store.database.execute("PRAGMA max_page_count = 1000000")
            try store.commit(try batch(count))
            try store.commit(try batch(count))
            #expect(UInt64(try store.allReadings().count) == count)
            #expect(try store.database.integrity() == ["ok"])
        }
    }

    @Test func aReadOnlyStoreIsTypedAndTheSameBatchSucceedsLater() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            try store.database.execute("PRAGMA query_only = ON")
            #expect(throws: StoreError.readOnly) { try store.commit(try batch()) }
            try store.database.execute("PRAGMA query_only = OFF")
            try store.commit(try batch())
            #expect(try store.allReadings().count == 2_000)
        }
    }

    @Test func anotherWriterIsTypedAndTheSameBatchSucceedsLater() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            let other = try Database(path, .writing)
            try other.execute("BEGIN IMMEDIATE")
            try store.database.execute("PRAGMA busy_timeout = 0")
            #expect(throws: StoreError.busy) { try store.commit(try batch()) }
            try other.execute("COMMIT")
            try store.commit(try batch())
            #expect(try store.allReadings().count == 2_000)
        }
    }

    @Test func aReaderSeesWhatWasCommittedWhileTheStoreIsOpen() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            let reader = try StoreReader(path)
            for round in 1...3 as ClosedRange<UInt64> {
                var batch = Fixture.batch(
                    Fixture.readings(first: round * 5_000, count: 5_000),
                    births: [try Fixture.birth()])
                batch.clocks = [Fixture.mapping()]
                try store.commit(batch)
                var count: UInt64 = 0
                try reader.readings(StoreQuery()) { _, _ in
                    count += 1
                    return true
                }
                #expect(count == round * 5_000)
            }
        }
    }
}

extension Database {
    /// What SQLite's own check finds: "ok", or each fault.
    func integrity() throws -> [String] {
        let rows = try prepare("PRAGMA integrity_check")
        var lines: [String] = []
        while try rows.step() { lines.append(rows.text(0)) }
        return lines
    }
}

import Collector
import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct SchemaTests {
    @Test func aNewStoreHasTheTablesOfTheGoldenFile() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            #expect(try tables(store.database) == vector("schema"))
        }
    }

    @Test func aStoreOfVersion1IsBroughtUpToDateWithAllThatIsInIt() throws {
        try withStorePath { path in
            try Database(path, .writing).execute(vector("version-1"))
            #expect(throws: StoreError.older(path: path)) { try StoreReader(path) }
            let opened = try Store.open(path)
            #expect(opened.diagnostics.isEmpty)
            #expect(try tables(opened.store.database) == vector("schema"))
            let run = try #require(opened.runs.first)
            #expect(run.key == Fixture.key())
            let birth = try Fixture.birth().birth
            #expect(run.birth == birth)
            #expect(run.settled.ranges == [1..<31, 40..<45])
            // On whose word it rests, version 1 did not write down.
            #expect(opened.clocks == [Fixture.mapping(isForeign: true)])
            #expect(try opened.store.allReadings() == Fixture.readings(count: 30))
            let clock = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)
            let report = try opened.store.tidy(now: Fixture.at(100_000), clock: clock)
            #expect(report.isDone)
            #expect(report.windowCount == 4)
        }
    }

    @Test func allWindowsOfAStoreOfVersion2AreLaidAnew() throws {
        try withStorePath { path in
            let old = try Database(path, .writing)
            try old.execute(vector("version-1"))
            try old.execute(Schema.steps[1])
            try old.execute(
                """
                PRAGMA user_version = 2;
                INSERT INTO run_windows VALUES (1, 5, 1, 2, 2);
                INSERT INTO due_windows VALUES (6, 1);
                UPDATE runs SET marked_from = 7
                """)
            let opened = try Store.open(path)
            #expect(try tables(opened.store.database) == vector("schema"))
            #expect(opened.clocks == [Fixture.mapping(isForeign: true)])
            #expect(try opened.store.finish() == 4)
            let database = opened.store.database
            #expect(try database.integer("SELECT count(*) FROM run_windows WHERE number < 7") == 0)
            #expect(try database.integer("SELECT count(*) FROM due_windows") == 0)
        }
    }

    /// What SQLite wrote down of the tables and indexes, one statement after the other.
    private func tables(_ database: Database) throws -> String {
        let rows = try database.prepare(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        var text = ""
        while try rows.step() { text += rows.text(0) + ";\n" }
        return text
    }

    private func vector(_ name: String, of file: StaticString = #filePath) -> String {
        let source = "\(file)"
        let directory = source[..<(source.lastIndex(of: "/") ?? source.startIndex)]
        guard let stream = fopen("\(directory)/Vectors/\(name).sql", "r") else { return "" }
        defer { fclose(stream) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(stream), byte != EOF {
            bytes.append(UInt8(truncatingIfNeeded: byte))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

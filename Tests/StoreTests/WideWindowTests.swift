import Collector
import NearbyCore
import SlowStatistics
import Telemetry
import Testing

@testable import Store

/// Narrow windows are kept for a day, wide ones for as long as readings.
@Suite struct WideWindowTests {
    /// Two and a half days, a reading every fifty seconds.
    private static let count: UInt64 = 4_320

    private func readings() -> [Reading] {
        (1...Self.count).map { (number: UInt64) in
            Fixture.reading(
                number, channel: UInt16(number % 3 + 1), at: Int64(number) * 50_000,
                Int64(number * 37 % 1_000))
        }
    }

    private func tidy(
        _ store: Store, now milliseconds: Int64, rank: ClockRank = .network
    ) throws {
        let clock = ClockReading(rank: rank, unixOffset: Fixture.unixOffset)
        for _ in 0..<10_000 {
            let report = try store.tidy(now: Fixture.at(milliseconds), clock: clock, budget: 700)
            if report.isDone { return }
        }
        Issue.record("tidying does not come to an end")
    }

    private struct Found: Hashable {
        var channel: UInt16
        var start: Int64
        var statistics: Statistics
        var last: Outcome
        var expected: Int64?
        var received: Int64?
    }

    private func windows(_ path: String, _ width: Duration) throws -> [Found] {
        var found: [Found] = []
        try StoreReader(path).windows(StoreQuery(), width: width) {
            found.append(
                Found(
                    channel: $0.number, start: $1.start, statistics: $1.statistics, last: $1.last,
                    expected: $1.expected, received: $1.received))
            return true
        }
        return found
    }

    private func expect(_ found: [Found], _ width: Int64, of readings: [Reading]) {
        var total = 0
        for window in found {
            let inside = readings.filter {
                let utc = ($0.time + Fixture.unixOffset).nanoseconds
                return $0.channel == window.channel && utc >= window.start
                    && utc < window.start + width
            }
            #expect(SlowStatistics(inside).differences(from: window.statistics) == [])
            #expect(window.last == inside.last?.outcome)
            total += inside.count
        }
        #expect(total == readings.count)
    }

    @Test func oldWindowsGoAndQueriesSayTheSame() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            let all = readings()
            var batch = Fixture.batch(
                all.filter { $0.sequence != 70 }, births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            let end = Int64(Self.count) * 50_000 + 7_300_000
            // Nothing goes by a clock that may be wrong.
            try tidy(store, now: end, rank: .none)
            let narrow = try windows(path, .seconds(10))
            let wide = try windows(path, .seconds(600))
            expect(wide, 600_000_000_000, of: all.filter { $0.sequence != 70 })
            let rows = "SELECT count(*) FROM windows"
            #expect(try store.database.integer(rows) == Int64(Self.count - 1))
            for hour in 1...3 as ClosedRange<Int64> { try tidy(store, now: end + hour * 3_600_000) }
            let left = try store.database.integer(rows) ?? 0
            #expect(left > 1_000 && left < 1_800)
            #expect(try windows(path, .seconds(10)) == narrow)
            #expect(try windows(path, .seconds(600)) == wide)
            #expect(try store.database.integer("SELECT count(*) FROM due_wide_windows") == 0)
            // A late one, of a time whose narrow windows are gone.
            try store.commit(Fixture.batch([all[69]]))
            for _ in 0..<2 {
                expect(try windows(path, .seconds(600)), 600_000_000_000, of: all)
                let now = try windows(path, .seconds(10))
                #expect(now.reduce(0) { $0 + $1.statistics.count } == all.count)
                try tidy(store, now: end + 4 * 3_600_000)
            }
            let afterwards = try windows(path, .seconds(10))
            #expect(afterwards.allSatisfy { $0.expected == $0.received })
            #expect(try store.database.integer(rows) ?? 0 <= left)
            // Another time for everything: wide windows are laid anew as well.
            var moved = StoreBatch()
            moved.clocks = [Fixture.mapping(offset: Fixture.unixOffset + .seconds(300))]
            try store.commit(moved)
            try tidy(store, now: end + 5 * 3_600_000)
            let starts = try windows(path, .seconds(600)).filter { $0.channel == 1 }
            #expect(starts.reduce(0) { $0 + $1.statistics.count } == Int(Self.count / 3))
            #expect(starts.first?.start != wide.first?.start || starts.first != wide.first)
        }
    }

    @Test func aChartOfWeeksTakesWideWindowsAndOneOfADayNarrowOnes() throws {
        try withStorePath { path in
            _ = try Store.open(path)
            let reader = try StoreReader(path)
            #expect(reader.chartWidth(86_400_000_000_000 / 500) == .seconds(10))
            #expect(reader.chartWidth(30 * 86_400_000_000_000 / 500) == .seconds(600))
        }
    }

    /// What was there before has no wide windows; whoever wants them gets them from readings.
    @Test func anOldStoreHasNarrowWindowsUpToNow() throws {
        try withStorePath { path in
            let old = try Database(path, .writing)
            for step in Schema.steps.dropLast() { try old.execute(step) }
            try old.execute(
                """
                PRAGMA application_id = \(Schema.applicationID);
                PRAGMA user_version = \(Schema.version - 1);
                INSERT INTO run_windows VALUES (1, 650, 1, 2, 2);
                INSERT INTO runs (id, peer_id, run, boot, birth, settled)
                    VALUES (1, 1, x'00', x'00', x'00', x''), (2, 1, x'01', x'00', x'00', x'')
                """)
            let store = try Store.open(path).store
            let from = try store.database.integer("SELECT wide_from FROM runs WHERE id = 1")
            #expect(from == 12)
            let whole = "SELECT count(*) FROM runs WHERE id = 2 AND wide_from IS NULL"
            #expect(try store.database.integer(whole) == 1)
        }
    }

    /// A chart of a month asks for thousands of windows: none of them may cost a walk through a
    /// table.
    @Test(arguments: StoreReader.Tier.allCases)
    func noTableIsReadWhole(tier: StoreReader.Tier) throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            let sql = StoreReader.windowsSQL(tier)
            let plan = try store.database.prepare("EXPLAIN QUERY PLAN " + sql)
            var steps: [String] = []
            while try plan.step() { steps.append(plan.text(3)) }
            #expect(steps.contains { $0.hasPrefix("SEARCH windows") }, "\(steps)")
            #expect(!steps.contains { $0.hasPrefix("SCAN") }, "\(steps)")
        }
    }
}

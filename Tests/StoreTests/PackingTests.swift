import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Readings go from rows into blocks, and nobody sees a difference.
@Suite struct PackingTests {
    private let right = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)

    private func filled(_ path: String, count: UInt64 = 5_000) throws -> Store {
        let store = try Store.open(path, .inRows).store
        var batch = Fixture.batch(Fixture.readings(count: count), births: [try Fixture.birth()])
        batch.clocks = [Fixture.mapping()]
        try store.commit(batch)
        return store
    }

    private func tidy(_ store: Store, now milliseconds: Int64) throws {
        for _ in 0..<1_000 {
            let clock = ClockReading(rank: .none, unixOffset: Fixture.unixOffset)
            if try store.tidy(now: Fixture.at(milliseconds), clock: clock).isDone { return }
        }
        Issue.record("tidying does not come to an end")
    }

    @Test func whatIsOlderThanAnHourIsPackedAndTheRestWhenNothingMoreComes() throws {
        try withStorePath { path in
            let store = try filled(path)
            let before = try store.allReadings()
            try tidy(store, now: 5_000_000)
            let places = try store.places()
            #expect(places.rows == 3_601)
            #expect(places.blocks == 1_399)
            #expect(try store.allReadings() == before)
            try tidy(store, now: 5_000_000 + 3_599_000)
            #expect(try store.places().rows == 3_601)
            try tidy(store, now: 5_000_000 + 3_660_000)
            #expect(try store.places() == (0, 5_000))
            #expect(try store.allReadings() == before)
            #expect(try store.database.integrity() == ["ok"])
            // 3 channels, full blocks but for the last of each.
            #expect(try store.database.integer("SELECT count(*) FROM blocks") ?? 0 < 15)
        }
    }

    /// Numbers that went to another collector, or whose readings are deleted.
    @Test func pagesOverHolesInTheNumbersAreAsLongAsAsked() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            let births = [try Fixture.birth()]
            for first in [1, 40_001, 5_000_001, 5_009_001] as [UInt64] {
                let readings = (first..<first + 4_000).map { number in
                    Fixture.reading(number, at: Int64(number % 20_000), 5)
                }
                try store.commit(Fixture.batch(readings, births: births))
            }
            try store.pack()
            let all = try store.allReadings().map(\.sequence)
            #expect(all.count == 16_000)
            for limit in [1, 7, 100, 5_000] {
                for start in [1, 3_990, 4_001, 39_999, 44_001, 5_004_001, 5_013_001] as [Int64] {
                    let page = try store.readings.rows(
                        of: 1, sequences: start...Int64.max, limit: limit)
                    let expected = all.filter { $0 >= UInt64(start) }.prefix(limit)
                    #expect(page.map { UInt64($0.reading.sequence) } == Array(expected))
                }
            }
        }
    }

    @Test func whatIsPackedIsPassedOverWhenItComesAgain() throws {
        try withStorePath { path in
            var store = try filled(path, count: 3_000)
            let before = try store.allReadings()
            try store.pack()
            var again = Fixture.batch(Fixture.readings(first: 2_000, count: 2_000))
            try store.commit(again)
            #expect(try store.places() == (999, 3_000))
            // Where nobody can say what is settled, the blocks themselves are looked into.
            try store.pack()
            try store.database.execute("UPDATE runs SET settled = x'ff'")
            store = try Store.open(path, .inRows).store
            again = Fixture.batch(Fixture.readings(first: 1, count: 4_100))
            try store.commit(again)
            #expect(try store.places() == (101, 3_999))
            #expect(try store.allReadings().prefix(3_000) == before[...])
        }
    }

    @Test func lateReadingsGoBetweenThoseThatArePacked() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            let all = Fixture.readings(count: 6_000)
            var batch = Fixture.batch(
                all.filter { $0.sequence % 7 != 0 }, births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            try store.pack()
            let late = all.filter { $0.sequence % 7 == 0 }.reversed()
            for reading in late.prefix(400) {
                try store.commit(Fixture.batch([reading]))
                if reading.sequence % 5 == 0 { try store.pack(limit: 3) }
            }
            try store.commit(Fixture.batch(Array(late)))
            #expect(try store.allReadings() == all)
            try store.pack(limit: 97)
            #expect(try store.allReadings() == all)
            #expect(try store.places() == (0, 6_000))
        }
    }

    @Test func aRunOfManyNumbersIsPackedThoughItsClockStandsStill() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            let last = UInt64(Limits.rowsOfRunMax) + 10
            let readings = [1, 2, 3, last].map { Fixture.reading($0, at: 5, 1) }
            try store.commit(Fixture.batch(readings, births: [try Fixture.birth()]))
            try tidy(store, now: 0)
            #expect(try store.places() == (1, 3))
        }
    }

    /// One shape after another, against a plain list.
    @Test func queriesSayTheSameBeforeAndAfterAndInTheMiddle() throws {
        for seed in 0..<6 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            try withStorePath { path in
                let all = randomReadings(&generator)
                var waiting = all
                let isBlocked = seed % 2 == 1
                let store = try Store.open(path, isBlocked ? .inBlocks(from: 20) : .inRows).store
                var batch = StoreBatch()
                batch.births = [try Fixture.birth()]
                batch.clocks = [
                    Fixture.mapping(),
                    Fixture.mapping(
                        offset: Fixture.unixOffset - .seconds(60), since: Fixture.at(400_000)),
                ]
                try store.commit(batch)
                while !waiting.isEmpty {
                    let count = min(waiting.count, Int.random(in: 1...400, using: &generator))
                    try store.commit(Fixture.batch(Array(waiting.prefix(count))))
                    waiting.removeFirst(count)
                    if Bool.random(using: &generator) { _ = try store.finish() }
                    if Bool.random(using: &generator) {
                        try store.pack(limit: .random(in: 1...300, using: &generator))
                    }
                    let there = all.filter { reading in
                        !waiting.contains { $0.sequence == reading.sequence }
                    }
                    try check(path, store, there, &generator)
                }
                try store.pack()
                try check(path, store, all, &generator)
                #expect(try store.places().rows == 0)
            }
        }
    }

    private func randomReadings(_ generator: inout SeededGenerator) -> [Reading] {
        var time: Int64 = 0
        var readings = (1...1_500).map { (number: UInt64) -> Reading in
            time += Int64.random(in: 0...700, using: &generator)
            let isBack = UInt8.random(in: 0..<30, using: &generator) == 0
            return Fixture.reading(
                number * 3, channel: .random(in: 1...3, using: &generator),
                at: isBack ? time / 2 : time, .random(in: -900...900, using: &generator))
        }
        for place in readings.indices where UInt8.random(in: 0..<6, using: &generator) == 0 {
            readings.swapAt(place, Int.random(in: readings.indices, using: &generator))
        }
        return readings
    }

    private func check(
        _ path: String, _ store: Store, _ there: [Reading], _ generator: inout SeededGenerator
    ) throws {
        var clock = SlowClock()
        clock.take(Fixture.mapping())
        clock.take(
            Fixture.mapping(offset: Fixture.unixOffset - .seconds(60), since: Fixture.at(400_000)))
        let reader = try StoreReader(path)
        let begin = Fixture.unixOffset.nanoseconds
        var query = StoreQuery()
        query.from = begin + Int64.random(in: 0...300, using: &generator) * 1_000_000_000
        query.to = begin + Int64.random(in: 300...600, using: &generator) * 1_000_000_000
        let wanted = there.filter {
            let utc = clock.utc($0.time)
            return utc >= query.from ?? 0 && utc < query.to ?? 0
        }
        var found: [UInt16: [StoredReading]] = [:]
        try reader.readings(query) { series, reading in
            found[series.number, default: []].append(reading)
            return true
        }
        for channel in 1...3 as ClosedRange<UInt16> {
            let own = wanted.filter { $0.channel == channel }
                .sorted { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
            #expect(found[channel, default: []].map(\.sequence) == own.map(\.sequence))
            #expect(found[channel, default: []].map(\.outcome) == own.map(\.outcome))
        }
        let limit = Int.random(in: 1...50, using: &generator)
        let newest = try reader.newestReadings(query, limit: limit).map(\.reading.utc)
        let times = wanted.map { clock.utc($0.time) }.sorted(by: >)
        #expect(newest == times.prefix(limit).map { $0 })
        let low = Int64.random(in: 1...4_500, using: &generator)
        let high = Int64.random(in: low...4_600, using: &generator)
        let inside = there.map { Int64($0.sequence) }.filter { (low...high).contains($0) }.sorted()
        let readings = store.readings
        #expect(try readings.count(of: 1, sequences: low...high) == Int64(inside.count))
        let rows = try readings.rows(of: 1, sequences: low...high, limit: limit)
        #expect(rows.map(\.reading.sequence) == inside.prefix(limit).map { $0 })
        let before = there.map { Int64($0.sequence) }.filter { $0 < low }.max()
        #expect(try readings.row(of: 1, before: low)?.reading.sequence == before)
        var windows = 0
        try reader.windows(StoreQuery(), width: .seconds(10)) {
            windows += $1.statistics.count
            return true
        }
        #expect(windows == there.count)
    }

    @Test func outputsGetEachReadingOnceWhateverIsPackedMeanwhile() throws {
        for (isHistory, isBlocked) in [(false, false), (false, true), (true, false), (true, true)] {
            try withStorePath { path in
                var settings: Store.Settings = isBlocked ? .inBlocks(from: 30) : .inRows
                let output = OutputRegistration(
                    name: "database", wantsHistory: isHistory, hold: .seconds(3_600))
                if !isHistory { settings.outputs = [output] }
                let opened = try Store.open(path, settings)
                let store = opened.store
                var batch = Fixture.batch([], births: [try Fixture.birth()])
                batch.parts = []
                batch.clocks = [Fixture.mapping()]
                try store.commit(batch)
                for first in stride(from: UInt64(1), to: 1_000, by: 90) {
                    try store.commit(Fixture.batch(Fixture.readings(first: first, count: 90)))
                }
                let registered = try store.register([output])
                let follower = try Follower(path, #require(registered.progress.first))
                for limit in 0..<100_000 {
                    let page = try follower.feed.next(
                        after: follower.progress.cursor, limit: 37, utc: 0)
                    follower.take(page)
                    if page.batch.isEmpty, !page.isMore { break }
                    if limit % 3 == 0 {
                        try store.database.transaction { () throws(StoreError) in
                            var left = 50
                            try store.packing.step(
                                now: Fixture.at(Int64(limit) * 4_000_000), &left)
                        }
                    }
                }
                try store.pack()
                try follower.follow()
                #expect(follower.times.count == 1_080)
                #expect(follower.times.values.allSatisfy { $0.count == 1 })
                #expect(follower.progress.lostCount == 0)
                // Another time for all that is packed: each comes once more, none is forgotten.
                var moved = StoreBatch()
                moved.clocks = [Fixture.mapping(offset: Fixture.unixOffset + .seconds(9))]
                try store.commit(moved)
                try follower.follow()
                for (number, times) in follower.times {
                    let old = Fixture.unixOffset.nanoseconds + Int64(number) * 1_000_000_000
                    #expect(times == [old, old + 9_000_000_000])
                }
            }
        }
    }

    @Test func retentionDeletesBlocksAndCutsThoseAtTheEdge() throws {
        try withStorePath { path in
            var settings = Store.Settings()
            settings.keep = .seconds(3_600)
            let store = try Store.open(path, settings).store
            let all = Fixture.readings(count: 8_000)
            var batch = Fixture.batch(all, births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            try store.pack()
            let blocks = try store.database.integer("SELECT count(*) FROM blocks") ?? 0
            var deleted = 0
            while true {
                let report = try store.tidy(now: Fixture.at(8_000_000), clock: right, budget: 60)
                deleted += report.deletedReadingCount
                if report.isDone { break }
            }
            #expect(deleted == 4_399)
            #expect(try store.allReadings() == Array(all.dropFirst(4_399)))
            #expect(try store.database.integer("SELECT count(*) FROM blocks") ?? 0 < blocks)
            #expect(try store.database.integrity() == ["ok"])
        }
    }

    @Test func anOldStoreIsPackedInTheBackground() throws {
        try withStorePath { path in
            let old = try Database(path, .writing)
            for step in Schema.steps.dropLast() { try old.execute(step) }
            let version = Schema.version - 1
            try old.execute(
                """
                PRAGMA application_id = \(Schema.applicationID);
                PRAGMA user_version = \(version)
                """)
            let birth = try Fixture.birth()
            let peer = birth.peer.bytes
            try old.prepare("INSERT INTO peers VALUES (1, ?1, 'north')").bind(1, peer).run()
            try old.prepare(
                """
                INSERT INTO runs (id, peer_id, run, boot, birth, settled)
                VALUES (1, 1, ?1, ?2, ?3, x'')
                """
            ).bind(1, birth.birth.run.storedBytes).bind(2, birth.birth.boot.storedBytes)
                .bind(3, TelemetryMessage.birth(birth.birth).bytes).run()
            for number in 1...3 {
                try old.execute("INSERT INTO channels VALUES (1, \(number), 'c', 'Cel', -2)")
            }
            let row = try old.prepare(
                "INSERT INTO readings VALUES (1, ?1, ?2, ?3, ?4, -2, NULL, 1)")
            try old.execute("BEGIN")
            for reading in Fixture.readings(count: 20_000) {
                try row.bind(1, Int64(reading.sequence)).bind(2, Int64(reading.channel))
                    .bind(3, reading.time.nanoseconds / 1_000_000)
                    .bind(4, reading.outcome.value?.coefficient ?? 0).run()
            }
            try old.execute("COMMIT")
            let store = try Store.open(path, .inRows).store
            let before = try store.allReadings()
            #expect(before == Fixture.readings(count: 20_000))
            var steps = 0
            var isDone = false
            while !isDone {
                isDone = try store.tidy(now: .zero, clock: right, budget: 500).isDone
                steps += 1
                // It is a store like any other meanwhile.
                if steps == 10 {
                    try store.commit(Fixture.batch(Fixture.readings(first: 1, count: 20_001)))
                }
            }
            #expect(steps > 30)
            #expect(try store.places() == (3_601, 16_400))
            #expect(try store.allReadings() == Fixture.readings(count: 20_001))
        }
    }

    @Test func aDamagedBlockIsToldWithItsPlaceAndTheRestIsRead() throws {
        try withStorePath { path in
            let store = try filled(path)
            try store.pack()
            let database = store.database
            let bad = try database.prepare(
                """
                SELECT id, first_sequence, last_sequence, count, bytes, channel
                FROM blocks LIMIT 1
                """)
            #expect(try bad.step())
            var bytes = bad.bytes(4)
            bytes[bytes.count / 2] ^= 8
            let (id, lost) = (bad.integer(0), Int(bad.integer(3)))
            let place = "numbers \(bad.integer(1)) to \(bad.integer(2))"
            let (first, last) = (bad.integer(1), bad.integer(2))
            let channel = UInt16(bad.integer(5))
            bad.reset()
            try database.prepare("UPDATE blocks SET bytes = ?2 WHERE id = ?1").bind(1, id)
                .bind(2, bytes).run()
            let reader = try StoreReader(path)
            var count = 0
            for _ in 0..<2 {
                count = 0
                try reader.readings(StoreQuery()) { _, _ in
                    count += 1
                    return true
                }
            }
            #expect(count == 5_000 - lost)
            #expect(reader.damagedBlockCount == 1)
            let lines = reader.takeDiagnostics()
            #expect(lines.count == 1)
            #expect(lines.first?.contains(place) == true)
            #expect(reader.takeDiagnostics().isEmpty)
            // A late reading of its time does not touch it; the store tells of it as well.
            let late = Fixture.reading(
                UInt64(first) + 1, channel: channel, at: (first + 1) * 1_000, 1)
            try store.database.execute("UPDATE runs SET settled = x''")
            try store.commit(Fixture.batch([late]))
            try store.pack()
            let clock = ClockReading(rank: .none, unixOffset: Fixture.unixOffset)
            var told: [String] = []
            for _ in 0..<3_000 {
                let report = try store.tidy(now: Fixture.at(20_000_000), clock: clock)
                told += report.damagedBlocks
                if report.isDone { break }
            }
            #expect(told.count == 1)
            #expect(last > first)
            let kept = try database.integer("SELECT count FROM blocks WHERE id = \(id)")
            #expect(kept == Int64(lost))
        }
    }
}

import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct RetentionTests {
    private static let day: Int64 = 86_400_000
    private let right = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)

    private var settings: Store.Settings {
        var settings = Store.Settings()
        settings.keep = .seconds(10 * 86_400)
        return settings
    }

    /// A reading every six hours for 30 days.
    private func fill(_ store: Store, _ mapping: ClockMapping) throws {
        let readings = (0..<120).map {
            Fixture.reading(UInt64($0) + 1, at: Int64($0) * Self.day / 4, 5)
        }
        var batch = Fixture.batch(readings, births: [try Fixture.birth()])
        batch.clocks = [mapping]
        try store.commit(batch)
    }

    private func learn(_ mapping: ClockMapping, _ store: Store) throws {
        var batch = StoreBatch()
        batch.clocks = [mapping]
        try store.commit(batch)
    }

    private func tidy(
        _ store: Store, now milliseconds: Int64, _ clock: ClockReading
    ) throws -> Int {
        var deleted = 0
        while true {
            let report = try store.tidy(now: Fixture.at(milliseconds), clock: clock, budget: 3)
            deleted += report.deletedReadingCount
            if report.isDone { return deleted }
        }
    }

    @Test func atMostADayOfReadingsGoesInAnHour() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            try fill(store, Fixture.mapping())
            let end = 30 * Self.day
            for hour in 0..<30 as Range<Int64> {
                let deleted = try tidy(store, now: end + hour * 3_600_000, right)
                #expect(hour < 20 ? deleted == 4 : deleted <= 4)
                #expect(try tidy(store, now: end + hour * 3_600_000 + 3_599_999, right) == 0)
            }
            let left = try store.allReadings()
            #expect(left.first.map { $0.time >= Fixture.at(20 * Self.day) } == true)
            #expect(left.count >= 34)
            let oldest = try store.database.integer("SELECT min(number) FROM run_windows") ?? 0
            let limit = Fixture.unixOffset + .seconds(20 * 86_400)
            #expect(oldest >= limit.nanoseconds / 10_000_000_000)
            let windows = try store.database.integer("SELECT count(*) FROM run_windows")
            #expect(windows == Int64(left.count))
        }
    }

    @Test func whatGoesIsDatedByItsStretch() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            try fill(store, Fixture.mapping())
            // The first three days on board were four.
            try learn(
                Fixture.mapping(
                    offset: Fixture.unixOffset + .seconds(86_400), since: Fixture.at(3 * Self.day)),
                store)
            let end = 30 * Self.day
            var deleted = 0
            for hour in 0..<40 as Range<Int64> {
                deleted += try tidy(store, now: end + hour * 3_600_000, right)
            }
            // What goes in the end is from before day 21.6, which was 20.6 on board.
            #expect(deleted == 83)
            #expect(try store.allReadings().first?.time == Fixture.at(83 * Self.day / 4))
            #expect(try store.database.integer("SELECT count(*) FROM run_windows") == 120 - 83)
        }
    }

    @Test func withoutARightClockNothingGoes() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            try fill(store, Fixture.mapping())
            for rank in [ClockRank.none, .hardware] {
                let clock = ClockReading(rank: rank, unixOffset: Fixture.unixOffset)
                #expect(try tidy(store, now: 400 * Self.day, clock) == 0)
            }
        }
    }

    @Test func aRestartIsNoReasonToDeleteSooner() throws {
        try withStorePath { path in
            try fill(try Store.open(path, settings).store, Fixture.mapping())
            let end = 30 * Self.day
            for minute in 0..<120 as Range<Int64> {
                let store = try Store.open(path, settings).store
                let deleted = try tidy(store, now: end + minute * 60_000, right)
                #expect(deleted == (minute % 60 == 0 ? 4 : 0))
            }
        }
    }

    @Test func withoutKeepNothingGoes() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            try fill(store, Fixture.mapping())
            #expect(try tidy(store, now: 400 * Self.day, right) == 0)
        }
    }

    @Test func readingsThatNobodyDatedGoAfterARightClockKnewThemForLong() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            // By this mapping they are from 1970.
            try fill(store, Fixture.mapping(rank: .none, offset: .zero))
            #expect(try tidy(store, now: 0, right) == 0)
            #expect(try tidy(store, now: 9 * Self.day, right) == 0)
            #expect(try tidy(store, now: 10 * Self.day, right) == 4)
            #expect(try tidy(store, now: 10 * Self.day + 3_600_000, right) == 4)
        }
    }

    /// A board's readings of 30 days, which an agent's clock dates to 2024.
    @Test(arguments: [ClockRank.network, .satellite])
    func byAnAgentsWordNothingGoes(rank: ClockRank) throws {
        try withStorePath { path in
            let lie = Fixture.mapping(
                rank: rank, offset: .seconds(1_706_000_000), isForeign: true)
            var store = try Store.open(path, settings).store
            try fill(store, lie)
            let end = 30 * Self.day
            for hour in 0..<48 as Range<Int64> {
                #expect(try tidy(store, now: end + hour * 3_600_000, right) == 0)
            }
            #expect(try store.allReadings().count == 120)
            // Over a restart of the collector, too.
            store = try Store.open(path, settings).store
            for hour in 48..<72 as Range<Int64> {
                #expect(try tidy(store, now: end + hour * 3_600_000, right) == 0)
            }
            #expect(try store.allReadings().count == 120)
        }
    }

    @Test func anAgentsWordDoesNotReplaceWhatOurClockSaid() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            try fill(store, Fixture.mapping())
            try learn(
                Fixture.mapping(
                    rank: .satellite, offset: .seconds(1_706_000_000), isForeign: true),
                store)
            #expect(try Store.open(path).clocks == [Fixture.mapping()])
            var deleted = 0
            for hour in 0..<40 as Range<Int64> {
                deleted += try tidy(store, now: 30 * Self.day + hour * 3_600_000, right)
            }
            // What is older than ten days, and nothing else.
            let left = try store.allReadings()
            #expect(deleted > 80 && left.count == 120 - deleted)
            #expect(left.first.map { $0.time >= Fixture.at(20 * Self.day) } == true)
        }
    }

    /// While nothing that can be believed is said of a boot, its readings go by when they came.
    @Test func whatOurClockDidNotDateIsKeptUntilItIsOldForSure() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            try fill(store, Fixture.mapping(rank: .satellite, offset: .zero, isForeign: true))
            let start = 30 * Self.day
            #expect(try tidy(store, now: start, right) == 0)
            let fresh = Fixture.reading(500, at: start + 9 * Self.day, 5)
            try store.commit(Fixture.batch([fresh]))
            var deleted = 0
            for hour in 0..<80 as Range<Int64> {
                deleted += try tidy(store, now: start + 10 * Self.day + hour * 3_600_000, right)
            }
            #expect(deleted == 120)
            #expect(try store.allReadings() == [fresh])
        }
    }

    @Test func oneAgentsAbsurdTimesDoNotStopTheRetentionOfOthers() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            try fill(store, Fixture.mapping())
            let (liar, boot) = (Fixture.key(0x900, peer: 9), BootID(high: 9, low: 9))
            var batch = StoreBatch()
            batch.births = [try Fixture.birth(liar, boot: boot)]
            // By this its readings are from 1966.
            batch.clocks = [Fixture.mapping(boot: boot, offset: .seconds(-126_000_000))]
            try store.commit(batch)
            let end = 30 * Self.day
            var deleted = 0
            for hour in 0..<30 as Range<Int64> {
                let readings = [Fixture.reading(UInt64(hour) + 1, at: hour, 1)]
                var batch = StoreBatch()
                batch.parts = [Fixture.part(readings, key: liar)]
                try store.commit(batch)
                deleted += try tidy(store, now: end + hour * 3_600_000, right)
            }
            let left = try store.allReadings()
            #expect(deleted - 30 >= 80)
            #expect(left.first.map { $0.time >= Fixture.at(20 * Self.day) } == true)
        }
    }

    @Test func runsWithoutReadingsGoButNeverThePeersNewest() throws {
        try withStorePath { path in
            let store = try Store.open(path, settings).store
            try fill(store, Fixture.mapping())
            let second = Fixture.key(0x200)
            var batch = StoreBatch()
            batch.births = [try Fixture.birth(second, boot: BootID(high: 5, low: 5))]
            batch.clocks = [Fixture.mapping(boot: BootID(high: 5, low: 5))]
            try store.commit(batch)
            for hour in 0..<40 as Range<Int64> {
                _ = try tidy(store, now: 100 * Self.day + hour * 3_600_000, right)
            }
            let opened = try Store.open(path)
            #expect(opened.runs.map(\.key) == [second])
            #expect(opened.clocks.map(\.boot) == [BootID(high: 5, low: 5)])
            #expect(try store.database.integer("SELECT count(*) FROM windows") == 0)
            #expect(try store.database.integer("SELECT count(*) FROM channels") == 3)
            let refused = try store.commit(Fixture.batch(Fixture.readings(count: 1)))
            #expect(refused == [StoreBatch.Refusal(key: Fixture.key(), reason: .birthMissing)])
        }
    }
}

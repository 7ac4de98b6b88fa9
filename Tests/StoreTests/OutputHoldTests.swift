import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Retention and outputs that are behind.
@Suite struct OutputHoldTests {
    private static let day: Int64 = 86_400_000
    private let right = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)

    private func settings(hold days: Int64, history: Bool = false) -> Store.Settings {
        var settings = Store.Settings()
        settings.keep = .seconds(10 * 86_400)
        settings.outputs = [
            OutputRegistration(
                name: "database", wantsHistory: history, hold: .seconds(days * 86_400))
        ]
        return settings
    }

    /// A reading every six hours for 30 days, in 30 commits.
    private func fill(_ store: Store) throws {
        for day in 0..<30 as Range<Int64> {
            let readings = (0..<4).map { (quarter: Int64) in
                Fixture.reading(
                    UInt64(day * 4 + quarter) + 1, at: day * Self.day + quarter * Self.day / 4, 5)
            }
            var batch = Fixture.batch(readings, births: [try Fixture.birth()])
            if day == 0 { batch.clocks = [Fixture.mapping()] }
            try store.commit(batch)
        }
    }

    /// An hour's sweep for each of so many hours from day 30 on. Returns what was deleted.
    private func sweep(_ store: Store, hours: Range<Int64>) throws -> (Int, Store.Holds) {
        var deleted = 0
        var holds = Store.Holds()
        for hour in hours {
            while true {
                let report = try store.tidy(
                    now: Fixture.at(30 * Self.day + hour * 3_600_000), clock: right, budget: 50)
                deleted += report.deletedReadingCount
                holds.held = report.holds.held
                holds.lost.formUnion(report.holds.lost)
                if report.isDone { break }
            }
        }
        return (deleted, holds)
    }

    /// Its place in one entry would be taken for a place in the next.
    @Test func theEntryThatAnOutputIsWithinStaysInTheLog() throws {
        try withStorePath { path in
            let opened = try Store.open(path, settings(hold: 0))
            try fill(opened.store)
            var progress = try #require(opened.outputs.progress.first)
            progress.cursor.change = 2
            progress.cursor.place.sequence = 10
            try opened.store.save([progress])
            try opened.store.database.execute(
                "DELETE FROM changes WHERE \(ChangeLog.isNotUnderWay)")
            let left = try opened.store.database.prepare("SELECT id FROM changes")
            var ids: [Int64] = []
            while try left.step() { ids.append(left.integer(0)) }
            #expect(ids.count == 1 && ids.first ?? 0 > 2)
        }
    }

    @Test func whatAnOutputNeedsStays() throws {
        try withStorePath { path in
            let opened = try Store.open(path, settings(hold: 100))
            try fill(opened.store)
            let (deleted, holds) = try sweep(opened.store, hours: 0..<30)
            #expect(deleted == 0)
            #expect(holds.held == ["database"])
            #expect(holds.lost.isEmpty)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try follower.follow()
            #expect(follower.times.count == 120)
            #expect(follower.progress.lostCount == 0)
            try opened.store.save([follower.progress])
            let (later, free) = try sweep(opened.store, hours: 30..<80)
            #expect(later > 80)
            #expect(free == Store.Holds())
        }
    }

    @Test func whatItHasGoesAndWhatItHasNotStays() throws {
        try withStorePath { path in
            let opened = try Store.open(path, settings(hold: 100))
            try fill(opened.store)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            // Ten days and a half.
            follower.take(
                try follower.feed.next(after: follower.progress.cursor, limit: 42, utc: 0))
            try opened.store.save([follower.progress])
            #expect(try sweep(opened.store, hours: 0..<40).0 == 40)
            try follower.follow()
            #expect(follower.times.count == 120)
            #expect(follower.progress.lostCount == 0)
        }
    }

    @Test func beyondItsHoldWhatItNeedsGoesAndIsCounted() throws {
        try withStorePath { path in
            let opened = try Store.open(path, settings(hold: 5))
            try fill(opened.store)
            let (deleted, holds) = try sweep(opened.store, hours: 0..<40)
            #expect(holds.lost == ["database"])
            // Up to day 15, and what passed meanwhile.
            #expect((60...67).contains(deleted))
            // The log does not keep what has nothing behind it.
            let rows = try opened.store.database.integer("SELECT count(*) FROM changes") ?? 0
            #expect(rows <= 15)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try follower.follow()
            #expect(follower.times.count == 120 - deleted)
            #expect(follower.progress.lostCount == UInt64(deleted))
        }
    }

    /// The one that is further behind has shorter patience, and stands before the other in the log.
    @Test func whatOneOutputNeedsStaysWhileAnotherIsFurtherBehind() throws {
        try withStorePath { path in
            var settings = settings(hold: 1)
            settings.outputs.append(
                OutputRegistration(
                    name: "quick", wantsHistory: false, hold: .seconds(100 * 86_400)))
            let opened = try Store.open(path, settings)
            try fill(opened.store)
            let quick = try Follower(path, #require(opened.outputs.progress.last))
            quick.take(try quick.feed.next(after: quick.progress.cursor, limit: 42, utc: 0))
            try opened.store.save([quick.progress])
            _ = try sweep(opened.store, hours: 0..<40)
            try quick.follow()
            #expect(quick.times.count == 120)
            #expect(quick.progress.lostCount == 0)
        }
    }

    @Test func historyIsHeldToo() throws {
        try withStorePath { path in
            try fill(Store.open(path).store)
            let opened = try Store.open(path, settings(hold: 100, history: true))
            #expect(try sweep(opened.store, hours: 0..<30).0 == 0)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try follower.follow()
            #expect(follower.times.count == 120)
            try opened.store.save([follower.progress])
            #expect(try sweep(opened.store, hours: 30..<80).0 > 80)
        }
    }

    /// Two peers' readings of 30 days, and a sweep that has taken the second's share of them.
    private func begunSweep(_ store: Store) throws {
        for peer in 1...2 as ClosedRange<UInt64> {
            let key = Fixture.key(0x100 * peer, peer: peer)
            let boot = BootID(high: peer, low: peer)
            let readings = (0..<120 as Range<Int64>).map {
                Fixture.reading(UInt64($0) + 1, at: $0 * Self.day / 4, 5)
            }
            var batch = StoreBatch()
            batch.births = [try Fixture.birth(key, boot: boot)]
            batch.parts = [Fixture.part(readings, key: key)]
            batch.clocks = [Fixture.mapping(boot: boot)]
            try store.commit(batch)
        }
        _ = try store.finish()
    }

    /// A block takes more than the budget: the first step ends with the peer that came last.
    private func step(_ store: Store) throws -> Int {
        let report = try store.tidy(now: Fixture.at(30 * Self.day), clock: right, budget: 1)
        #expect(!report.isDone)
        return report.deletedReadingCount
    }

    @Test func anOutputThatComesDuringASweepKeepsWhatItNeeds() throws {
        try withStorePath { path in
            var settings = settings(hold: 100, history: true)
            let outputs = settings.outputs
            settings.outputs = []
            let store = try Store.open(path, settings).store
            try begunSweep(store)
            #expect(try step(store) == 4)
            let registered = try store.register(outputs)
            #expect(try sweep(store, hours: 0..<1).0 == 0)
            let follower = try Follower(path, #require(registered.progress.first))
            try follower.follow()
            #expect(follower.batches.reduce(0) { $0 + $1.readings.count } == 236)
        }
    }

    @Test func anEntryOfTheLogThatIsBegunDuringASweepKeepsWhatItNeeds() throws {
        try withStorePath { path in
            let opened = try Store.open(path, settings(hold: 100))
            try begunSweep(opened.store)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try follower.follow()
            try opened.store.save([follower.progress])
            #expect(try opened.store.finish() == 0)
            #expect(try step(opened.store) == 4)
            // Another time for all that the first peer has.
            var batch = StoreBatch()
            batch.clocks = [
                Fixture.mapping(
                    boot: BootID(high: 1, low: 1), offset: Fixture.unixOffset + .seconds(10))
            ]
            try opened.store.commit(batch)
            #expect(try sweep(opened.store, hours: 0..<1).0 == 0)
        }
    }

    @Test func anOutputThatIsNotConfiguredAnyMoreHoldsNothing() throws {
        try withStorePath { path in
            let opened = try Store.open(path, settings(hold: 100))
            try fill(opened.store)
            #expect(try opened.store.register([]).departed.map(\.name) == ["database"])
            #expect(try sweep(opened.store, hours: 0..<40).0 > 80)
        }
    }
}

import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Clocks that drift, in the store.
@Suite struct DriftTests {
    private static let unix = Fixture.unixOffset.nanoseconds
    /// Nanoseconds that a clock which is too slow by 100 ppm has lost at a time of its own.
    private static func lost(_ time: Instant) -> Int64 { time.nanoseconds / 10_000 }

    /// A reading every 100 s, and every 1,000 s a mapping, right to within 110 ms, as a drift of
    /// 100 ppm is followed. Returns how many windows were computed.
    private func drift(_ store: Store, seconds: Int64) throws -> Int {
        // Thousands of commits: no test of the disk.
        try store.database.execute("PRAGMA synchronous = OFF")
        var births = [try Fixture.birth()]
        var windows = 0
        var sequence: UInt64 = 1
        for begin in stride(from: 0, to: seconds, by: 1_000) {
            let since = Fixture.at(begin * 1_000)
            let readings = (0..<10 as Range<Int64>).map { number in
                Fixture.reading(
                    sequence + UInt64(number), channel: UInt16(number % 3) + 1,
                    at: (begin + number * 100) * 1_000 + 7, begin)
            }
            sequence += 10
            var batch = Fixture.batch(readings, births: births)
            batch.clocks = [
                Fixture.mapping(
                    offset: .nanoseconds(Self.unix + Self.lost(since)),
                    uncertainty: .milliseconds(110), since: since)
            ]
            births = []
            try store.commit(batch)
            windows += try store.finish(budget: 5_000)
        }
        return windows
    }

    @Test func tenDaysOf100PPMAreDatedAsWellAsTheirStretchesSay() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            let computed = try drift(store, seconds: 864_000)
            let clocks = try Store.open(path).clocks
            #expect(clocks.count == Limits.storedStretchesMax)
            #expect(try #require(clocks.map(\.uncertainty).max()) < .seconds(4))
            var count = 0
            try StoreReader(path).readings(StoreQuery()) { _, reading in
                count += 1
                let time = Fixture.at(reading.milliseconds)
                let truth = time.nanoseconds + Self.unix + Self.lost(time)
                let stretch = clocks.last { $0.since <= time } ?? clocks[0]
                let error = (reading.utc ?? 0) - truth
                #expect(abs(error) <= stretch.uncertainty.nanoseconds)
                return true
            }
            #expect(count == 8_640)
            // Each has a window of its own, and few were laid anew although stretches became one.
            #expect(computed >= 8_640)
            #expect(computed < 4 * 8_640)
            try checkWindows(path, SlowClock(mappings: clocks), shift: 500_000_000)
        }
    }

    /// That stored windows hold all readings, each at most `shift` beside where it belongs.
    private func checkWindows(_ path: String, _ clock: SlowClock, shift: Int64) throws {
        let reader = try StoreReader(path)
        var times: [UInt16: [Int64]] = [:]
        try reader.readings(StoreQuery()) { series, reading in
            times[series.number, default: []].append(
                clock.utc(Fixture.at(reading.milliseconds)))
            return true
        }
        var total = 0
        try reader.windows(StoreQuery(), width: .seconds(10)) { series, window in
            #expect(window.expected != nil)
            let near = (window.start - shift)..<(window.start + 10_000_000_000 + shift)
            let count = times[series.number]?.count { near.contains($0) } ?? 0
            #expect(count >= window.statistics.count)
            total += window.statistics.count
            return true
        }
        #expect(total == times.values.reduce(0) { $0 + $1.count })
    }

    @Test func oneMappingOfTheWholeBootRedatesAllStretches() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            _ = try drift(store, seconds: 30_000)
            var batch = StoreBatch()
            let offset: Duration = .nanoseconds(Self.unix) + .seconds(86_400)
            batch.clocks = [Fixture.mapping(rank: .satellite, offset: offset)]
            try store.commit(batch)
            let clock = SlowClock(mappings: batch.clocks)
            #expect(try Store.open(path).clocks == batch.clocks)
            // From the readings while the windows move, and from the table afterwards.
            let wanted = try starts(path, clock)
            #expect(try starts(path) == wanted)
            #expect(try store.finish() == 300)
            #expect(try starts(path) == wanted)
            #expect(try store.database.integer("SELECT count(*) FROM windows") == 300)
            #expect(try store.database.integer("SELECT count(*) FROM window_clocks") == 1)
            try checkWindows(path, clock, shift: 0)
        }
    }

    private func starts(_ path: String) throws -> [Int64] {
        var starts: [Int64] = []
        try StoreReader(path).windows(StoreQuery(), width: .seconds(10)) {
            starts.append($1.start)
            return true
        }
        return starts.sorted()
    }

    /// Of windows with one reading each.
    private func starts(_ path: String, _ clock: SlowClock) throws -> [Int64] {
        try Store.open(path).store.allReadings().map {
            clock.utc($0.time) / 10_000_000_000 * 10_000_000_000
        }.sorted()
    }

    @Test func aNewStretchLeavesTheWindowsBeforeItAlone() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            var batch = Fixture.batch(
                Fixture.readings(count: 100), births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            #expect(try store.finish() == 11)
            // A mark that a window computed anew would not have.
            try store.database.execute("UPDATE windows SET hops = 99")
            var clocks = StoreBatch()
            for (moved, windows) in [(400, 0), (600, 2)] as [(Int64, Int)] {
                clocks.clocks = [
                    Fixture.mapping(
                        offset: Fixture.unixOffset + .milliseconds(moved),
                        since: Fixture.at(95_000))
                ]
                try store.commit(clocks)
                #expect(try store.finish() == windows)
            }
            let first = Self.unix / 10_000_000_000
            let old = try store.database.integer(
                "SELECT count(*) FROM windows WHERE hops = 99 AND number < \(first + 9)")
            #expect(old == 27)
            #expect(try store.database.integer("SELECT count(*) FROM windows WHERE hops = 1") == 4)
        }
    }

    /// A republished track says the whole boot anew, stretch by stretch, and changes nothing.
    @Test func stretchesThatAreToldAgainMoveNoWindows() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            let track = (0..<5 as Range<Int64>).map {
                Fixture.mapping(
                    offset: Fixture.unixOffset + .seconds($0), since: Fixture.at($0 * 20_000))
            }
            var batch = Fixture.batch(
                Fixture.readings(count: 100), births: [try Fixture.birth()])
            batch.clocks = track
            try store.commit(batch)
            #expect(try store.finish() > 0)
            var again = StoreBatch()
            again.clocks = track
            try store.commit(again)
            #expect(try store.finish() == 0)
            again.clocks[2].clock.unixOffset = again.clocks[2].clock.unixOffset + .milliseconds(9)
            try store.commit(again)
            #expect(try store.finish() == 0)
            #expect(try Store.open(path).clocks == again.clocks)
        }
    }

    @Test func aMappingOfALowerRankIsPassedOver() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            var batch = Fixture.batch(
                Fixture.readings(count: 100), births: [try Fixture.birth()])
            let good = [
                Fixture.mapping(),
                Fixture.mapping(
                    offset: Fixture.unixOffset + .seconds(1), since: Fixture.at(50_000)),
            ]
            batch.clocks = good
            try store.commit(batch)
            #expect(try store.finish() > 0)
            var worse = StoreBatch()
            worse.clocks = [
                Fixture.mapping(rank: .none, offset: .zero),
                Fixture.mapping(rank: .hardware, offset: .zero, since: Fixture.at(70_000)),
            ]
            try store.commit(worse)
            #expect(try store.finish() == 0)
            #expect(try Store.open(path).clocks == good)
        }
    }

    @Test func boundsHoldAcrossTheBordersOfStretches() throws {
        // 3 s are left out, then 5 s are gone through twice.
        let mappings = [
            Fixture.mapping(),
            Fixture.mapping(offset: Fixture.unixOffset + .seconds(3), since: Fixture.at(40_500)),
            Fixture.mapping(
                rank: .network, offset: Fixture.unixOffset - .seconds(2),
                since: Instant(nanoseconds: 70_000_000_001)),
        ]
        let clock = SlowClock(mappings: mappings)
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            let all = Fixture.readings(count: 120)
            var batch = Fixture.batch(all, births: [try Fixture.birth()])
            batch.clocks = mappings
            try store.commit(batch)
            let reader = try StoreReader(path)
            for first in stride(from: Self.unix, to: Self.unix + 130_000_000_000, by: 700_000_000) {
                for span in [1, 2_000_000_000, 45_000_000_000] as [Int64] {
                    var query = StoreQuery()
                    (query.from, query.to) = (first, first + span)
                    var found: [UInt64] = []
                    try reader.readings(query) { _, reading in
                        #expect(reading.utc == clock.utc(Fixture.at(reading.milliseconds)))
                        found.append(reading.sequence)
                        return true
                    }
                    let wanted = all.filter { (first..<first + span).contains(clock.utc($0.time)) }
                    #expect(found.sorted() == wanted.map(\.sequence))
                }
            }
            let run = try #require(try reader.runs(StoreQuery()).first)
            #expect(run.first == clock.utc(Fixture.at(1_000)))
            #expect(run.last == clock.utc(Fixture.at(120_000)))
        }
    }

    @Test func manyMovesOfOneRunAreKeptAsOne() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inRows).store
            let moves = store.moves
            let numbers = (0...Int64(MovedWindows.entriesMax)).map { $0 * 10...$0 * 10 + 1 }
            try moves.add(Array(numbers.dropLast()), of: 1)
            #expect(
                try store.database.integer("SELECT count(*) FROM moved_windows")
                    == Int64(MovedWindows.entriesMax))
            try moves.add([numbers[numbers.count - 1]], of: 1)
            #expect(try store.database.integer("SELECT count(*) FROM moved_windows") == 1)
            let last = numbers[numbers.count - 1].upperBound
            #expect(try moves.next()?.numbers == 0...last)
            #expect(try store.finish() == 0)
            #expect(try store.database.integer("SELECT count(*) FROM moved_windows") == 0)
        }
    }
}

import Collector
import NearbyCore
import SlowStatistics
import Telemetry
import Testing

@testable import Store

@Suite struct StoredWindowTests {
    private static let width: Int64 = 10_000_000_000
    /// Exact: any change of a mapping lays the windows anew.
    private static var settings: Store.Settings {
        var settings = Store.Settings()
        settings.windowShift = .zero
        return settings
    }

    @Test func windowsAgreeWithASlowOracleThroughLateDataAndRedating() throws {
        for seed in 0..<8 as Range<UInt64> { try compareWithOracle(seed: seed) }
    }

    /// Random readings in random batches, mappings that change in between, tidying now and then.
    private func compareWithOracle(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try withStorePath { path in
            var settings = Self.settings
            settings.blockedAtOnce = seed % 2 == 0 ? .max : 4
            var store = try Store.open(path, settings).store
            var first = StoreBatch()
            first.births = [try Fixture.birth()]
            try store.commit(first)
            var waiting = randomReadings(400, &generator)
            let all = waiting
            var clock = SlowClock()
            while !waiting.isEmpty {
                var batch = StoreBatch()
                let count = min(waiting.count, Int.random(in: 1...60, using: &generator))
                batch.parts = [Fixture.part(Array(waiting.prefix(count)))]
                waiting.removeFirst(count)
                if UInt8.random(in: 0..<4, using: &generator) == 0 {
                    batch.clocks = randomMappings(&generator)
                    for mapping in batch.clocks { clock.take(mapping) }
                }
                try store.commit(batch)
                switch UInt8.random(in: 0..<6, using: &generator) {
                case 0: _ = try store.finish()
                case 1:
                    _ = try store.tidy(
                        now: Fixture.at(150_000), clock: clock.mappings.last?.clock ?? Self.unset,
                        budget: Int.random(in: 1...50, using: &generator))
                case 2: store = try Store.open(path, settings).store
                default: break
                }
                if batch.clocks.isEmpty == false { try check(path, all, waiting, clock) }
            }
            var last = StoreBatch()
            last.clocks = randomMappings(&generator)
            for mapping in last.clocks { clock.take(mapping) }
            try store.commit(last)
            try check(path, all, [], clock)
            _ = try store.finish()
            try check(path, all, [], clock)
            #expect(try store.database.integer("SELECT count(*) FROM due_windows") == 0)
            let stored = try store.database.integer("SELECT count(*) FROM run_windows") ?? 0
            #expect(stored > 20)
            #expect(try store.finish() == 0)
        }
    }

    private static let unset = ClockReading(rank: .none, unixOffset: .zero)

    /// Of the whole boot or of a part; a little further on or far away; alone or several.
    private func randomMappings(_ generator: inout SeededGenerator) -> [ClockMapping] {
        (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            let isWhole = UInt8.random(in: 0..<4, using: &generator) == 0
            let isFar = UInt8.random(in: 0..<4, using: &generator) == 0
            let since = Int64.random(in: -1_000...300_000_000_000, using: &generator)
            let offset = Int64.random(
                in: isFar ? -40_000...1_800_000_000_000 : 1_000_000...1_030_000, using: &generator)
            return Fixture.mapping(
                offset: .milliseconds(offset), since: Instant(nanoseconds: isWhole ? 0 : since))
        }
    }

    private func randomReadings(
        _ count: UInt64, _ generator: inout SeededGenerator
    ) -> [Reading] {
        var readings: [Reading] = []
        for sequence in 1...count {
            let value = DecimalValue(
                coefficient: Int64.random(in: -5_000...5_000, using: &generator), exponent: -2)
            let isNull = UInt8.random(in: 0..<10, using: &generator) == 0
            let jitter = Int64.random(in: 0..<900, using: &generator)
            readings.append(
                Reading(
                    sequence: sequence, channel: UInt16.random(in: 1...3, using: &generator),
                    time: Fixture.at(Int64(sequence) * 700 + jitter),
                    outcome: isNull ? .null(.timeout) : .value(value)))
        }
        // Some come much later than their neighbours.
        for place in readings.indices where UInt8.random(in: 0..<5, using: &generator) == 0 {
            readings.swapAt(place, Int.random(in: 0..<readings.count, using: &generator))
        }
        return readings
    }

    /// What a query of windows says, against sums over plain lists.
    private func check(
        _ path: String, _ all: [Reading], _ waiting: [Reading], _ clock: SlowClock
    ) throws {
        let there = all.filter { !waiting.contains($0) }
        let times = Dictionary(uniqueKeysWithValues: there.map { ($0, clock.utc($0.time)) })
        var total = 0
        var before: (channel: UInt16, start: Int64)?
        try StoreReader(path).windows(StoreQuery(), width: .seconds(10)) { series, window in
            let end = window.start + Self.width
            let inside = there.filter {
                guard let utc = times[$0], $0.channel == series.number else { return false }
                return utc >= window.start && utc < end
            }
            total += inside.count
            if let before, before.channel == series.number { #expect(before.start < window.start) }
            before = (series.number, window.start)
            check(window, against: inside)
            if let expected = window.expected, let received = window.received {
                let span = there.filter {
                    guard let utc = times[$0] else { return false }
                    return utc >= window.start && utc < end
                }.map(\.sequence)
                let low = span.min() ?? 0
                let high = span.max() ?? 0
                #expect(expected == Int64(high - low) + 1)
                #expect(received == there.count { $0.sequence >= low && $0.sequence <= high })
            }
            return true
        }
        #expect(total == there.count)
    }

    private func check(_ window: StoredWindow, against readings: [Reading]) {
        #expect(window.start % Self.width == 0)
        #expect(SlowStatistics(readings).differences(from: window.statistics) == [])
        let newest = readings.max { ($0.time, $0.sequence) < ($1.time, $1.sequence) }
        #expect(window.last == newest?.outcome)
    }

    @Test func aWindowIsComputedOnceItIsOverAndAgainWhenLateDataComes() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = Fixture.batch(
                [Fixture.reading(1, at: 1_000, 100)], births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            let clock = ClockReading(rank: .none, unixOffset: Fixture.unixOffset)
            #expect(try store.tidy(now: Fixture.at(14_999), clock: clock).windowCount == 0)
            #expect(try store.tidy(now: Fixture.at(15_000), clock: clock).windowCount == 1)
            #expect(try store.tidy(now: Fixture.at(60_000), clock: clock).windowCount == 0)
            try store.commit(Fixture.batch([Fixture.reading(2, at: 2_000, 200)]))
            #expect(try store.tidy(now: Fixture.at(60_000), clock: clock).windowCount == 1)
            #expect(try store.database.integer("SELECT count FROM windows") == 2)
        }
    }

    @Test func aSmallMoveOfAMappingLeavesTheWindowsWhereTheyAre() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = Fixture.batch(
                Fixture.readings(count: 50), births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            #expect(try store.finish() > 0)
            var clocks = StoreBatch()
            clocks.clocks = [Fixture.mapping(offset: Fixture.unixOffset + .milliseconds(400))]
            try store.commit(clocks)
            #expect(try store.finish() == 0)
            clocks.clocks = [Fixture.mapping(offset: Fixture.unixOffset + .milliseconds(600))]
            try store.commit(clocks)
            #expect(try store.finish() > 0)
        }
    }

    @Test func anotherWidthLaysAllWindowsAnew() throws {
        try withStorePath { path in
            var batch = Fixture.batch(
                Fixture.readings(count: 50), births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            var settings = Self.settings
            settings.windowWidth = .seconds(5)
            for wanted in [settings, Self.settings, Self.settings] {
                let store = try Store.open(path, wanted).store
                try store.commit(batch)
                _ = try store.finish()
                var starts: Set<Int64> = []
                try StoreReader(path).windows(StoreQuery(), width: wanted.windowWidth) {
                    starts.insert($1.start)
                    #expect($1.expected != nil)
                    return true
                }
                #expect(starts.count == (wanted.windowWidth == .seconds(5) ? 11 : 6))
            }
        }
    }

    @Test func absurdMappingsAndTimesDoNotTrap() throws {
        for offset in [Int64.min, .max, 1 << 62, -(1 << 62), 0] {
            try withStorePath { path in
                let store = try Store.open(path, Self.settings).store
                var batch = StoreBatch()
                batch.births = [try Fixture.birth()]
                batch.clocks = [Fixture.mapping(offset: .nanoseconds(offset))]
                batch.parts = [
                    Fixture.part([
                        Fixture.reading(1, at: 0, .min, scale: .max),
                        Fixture.reading(2, at: Int64.max / 1_000_000, .max, scale: .max),
                        Fixture.reading(3, at: 1 << 40, .max, scale: .min),
                    ])
                ]
                try store.commit(batch)
                try store.commit(batch)
                _ = try store.finish()
                let right = ClockReading(rank: .satellite, unixOffset: .nanoseconds(offset))
                for now in [Instant.zero, .distantFuture, Instant(nanoseconds: .min)] {
                    _ = try store.tidy(now: now, clock: right)
                }
                var query = StoreQuery()
                for bounds in [(nil, nil), (Int64.min, Int64.max), (0, 1), (Int64.max, .min)]
                    as [(Int64?, Int64?)]
                {
                    (query.from, query.to) = bounds
                    let reader = try StoreReader(path)
                    var printer = StorePrinter(.table)
                    try reader.readings(query) { printer.line($0, $1).utf8.count < 200 }
                    for width in [1, 10_000, 1 << 60] as [Int64] {
                        try reader.windows(query, width: .milliseconds(width)) {
                            printer.line($0, $1).utf8.count < 200
                        }
                    }
                }
            }
        }
    }
}

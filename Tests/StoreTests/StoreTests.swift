import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct StoreTests {
    @Test func whatWasCommittedIsThereAfterReopening() throws {
        try withStorePath { path in
            var readings = Fixture.readings(count: 50)
            readings[7].outcome = .null(.timeout)
            readings[8].outcome = .null(NullReason(rawValue: 200))
            var batch = Fixture.batch(readings, births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            batch.gaps = [
                StoreBatch.PeerGap(
                    peer: Fixture.peer(1),
                    gap: Gap(run: RunID(value: 0x100), range: 60..<70, reason: .spoolFull))
            ]
            let first = try Store.open(path)
            #expect(first.runs.isEmpty)
            #expect(first.diagnostics.isEmpty)
            try first.store.commit(batch)
            let again = try Store.open(path)
            #expect(again.diagnostics.isEmpty)
            #expect(again.clocks == batch.clocks)
            #expect(again.runs.map(\.key) == [Fixture.key()])
            #expect(again.runs.first?.birth == batch.births.first?.birth)
            #expect(again.runs.first?.settled.ranges == [1..<51, 60..<70])
            #expect(try again.store.allReadings() == readings)
        }
    }

    @Test func whatWasSaidOfABootThatNoRunHasIsForgotten() throws {
        try withStorePath { path in
            let other = BootID(high: 3, low: 4)
            var batch = Fixture.batch(
                Fixture.readings(count: 2), births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping(), Fixture.mapping(boot: other)]
            try Store.open(path).store.commit(batch)
            #expect(try Store.open(path).clocks.map(\.boot) == [Fixture.boot])
            // Who shows that boot now is not dated by what another said.
            let key = Fixture.key(0x200, peer: 2)
            let store = try Store.open(path).store
            try store.commit(
                Fixture.batch([], births: [try Fixture.birth(key, boot: other)]))
            #expect(try Store.open(path).clocks.map(\.boot) == [Fixture.boot])
        }
    }

    @Test func aBatchThatIsGivenTwiceIsStoredOnce() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            let batch = Fixture.batch(
                Fixture.readings(count: 20), births: [try Fixture.birth()])
            try store.commit(batch)
            try store.commit(batch)
            #expect(try store.allReadings().count == 20)
        }
    }

    @Test func aReadingThatIsThereIsNotChangedByAnother() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            let birth = try Fixture.birth()
            try store.commit(Fixture.batch([Fixture.reading(1, at: 5, 7)], births: [birth]))
            try store.commit(Fixture.batch([Fixture.reading(1, at: 6, 8)]))
            #expect(try store.allReadings() == [Fixture.reading(1, at: 5, 7)])
        }
    }

    @Test func aPartWithoutABirthIsLeftOutAndTheRestOfItsBatchIsStored() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = Fixture.batch(Fixture.readings(count: 3), births: [try Fixture.birth()])
            let stranger = Fixture.key(0x200)
            batch.parts.append(Fixture.part(Fixture.readings(count: 3), key: stranger))
            batch.gaps = [
                StoreBatch.PeerGap(
                    peer: stranger.peer,
                    gap: Gap(run: stranger.run, range: 9..<10, reason: .spoolFull))
            ]
            let refused = try store.commit(batch)
            #expect(refused == [StoreBatch.Refusal(key: stranger, reason: .birthMissing)])
            #expect(try store.allReadings().count == 3)
            batch.births.append(try Fixture.birth(stranger))
            try store.commit(batch)
            #expect(try store.allReadings().count == 6)
        }
    }

    @Test func aLaterBirthReplacesTheEarlierOne() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = StoreBatch()
            batch.births = [try Fixture.birth(name: "old", channels: ["air"])]
            try store.commit(batch)
            batch.births = [try Fixture.birth(name: "new", channels: ["air", "soil"])]
            try store.commit(batch)
            let opened = try Store.open(path)
            #expect(opened.runs.map(\.birth) == batch.births.map(\.birth))
            #expect(try store.database.integer("SELECT count(*) FROM peers") == 1)
            #expect(try store.database.integer("SELECT count(*) FROM channels") == 2)
        }
    }

    @Test func absurdNumbersAreStoredOrCountedAndNeverTrap() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            let most = Int64.max / 1_000_000
            let readings = [
                Fixture.reading(1, at: 0, .min, scale: .min),
                Fixture.reading(2, at: most, .max, scale: .max),
                Fixture.reading(UInt64(Int64.max), channel: .max, at: most, .min, scale: .max),
                Fixture.reading(3, channel: 0, at: 1, 0, scale: .min),
            ]
            let illegal = [
                Fixture.reading(0, at: 1, 1), Fixture.reading(.max, at: 1, 1),
                Fixture.reading(UInt64(Int64.max) + 1, at: 1, 1), Fixture.reading(9, at: -1, 1),
            ]
            var batch = StoreBatch()
            let lastBoot = BootID(high: .max, low: .max)
            batch.births = [
                try Fixture.birth(), try Fixture.birth(Fixture.key(0x300), boot: lastBoot),
            ]
            var settled = NumberRanges()
            settled.insert(0..<UInt64.max)
            batch.parts = [
                StoreBatch.Part(
                    key: Fixture.key(), readings: readings + illegal, settled: settled, hops: .max)
            ]
            batch.gaps = [0..<UInt64.max, UInt64.max - 1..<UInt64.max].map {
                StoreBatch.PeerGap(
                    peer: Fixture.peer(1),
                    gap: Gap(run: RunID(value: 0x100), range: $0, reason: GapReason(rawValue: 255)))
            }
            batch.clocks = [
                Fixture.mapping(offset: .nanoseconds(Int64.max)),
                Fixture.mapping(
                    boot: lastBoot, rank: .none, offset: .nanoseconds(Int64.min)),
            ]
            try store.commit(batch)
            #expect(store.illegalReadingCount == illegal.count)
            #expect(
                try store.allReadings() == readings.sorted { $0.sequence < $1.sequence })
            let opened = try Store.open(path)
            #expect(opened.runs.first?.settled == settled)
            #expect(opened.clocks == batch.clocks)
        }
    }

    /// A batch may have been gathered before the collector knew what is stored.
    @Test func whatIsSettledStaysSettled() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            try store.commit(
                Fixture.batch(Fixture.readings(count: 20), births: [try Fixture.birth()]))
            try store.commit(Fixture.batch(Fixture.readings(first: 19, count: 3)))
            let opened = try Store.open(path)
            #expect(opened.runs.first?.settled.ranges == [1..<22])
        }
    }

    @Test func settledRangesReadAsTheyWereWritten() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<50 {
            var set = NumberRanges()
            for _ in 0..<Int.random(in: 0..<20, using: &generator) {
                let first = UInt64.random(in: 0..<1_000, using: &generator)
                set.insert(first..<first + UInt64.random(in: 1..<50, using: &generator))
            }
            #expect(try NumberRanges(parsingStored: set.storedBytes) == set)
            for count in 0..<set.storedBytes.count {
                _ = try? NumberRanges(parsingStored: Array(set.storedBytes.prefix(count)))
            }
        }
        #expect(throws: WireError.self) { try NumberRanges(parsingStored: [5, 0]) }
    }
}

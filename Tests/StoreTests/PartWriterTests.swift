import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Many readings of one channel at once lie in blocks from their commit on.
@Suite struct PartWriterTests {
    @Test func onlyTheChannelsThatHaveManyAreBlocks() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            let many = (1...300 as ClosedRange<UInt64>).map { number in
                Fixture.reading(
                    number, channel: number % 100 == 0 ? 2 : 1, at: Int64(number), Int64(number))
            }
            try store.commit(Fixture.batch(many))
            #expect(try store.places() == (3, 297))
            #expect(try store.allReadings() == many)
            #expect(try store.finish() == 1)
            #expect(try store.database.integer("SELECT sum(count) FROM windows") == 300)
            #expect(try store.database.integer("SELECT received FROM run_windows") == 300)
        }
    }

    @Test func whatComesAgainIsPassedOverWhereverItLies() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            let all = Fixture.readings(count: 900)
            try store.commit(Fixture.batch(Array(all[..<600])))
            #expect(try store.places() == (0, 600))
            try store.commit(Fixture.batch(Array(all[..<600])))
            // Some of it is there: what is new goes into rows, once.
            try store.commit(Fixture.batch(Array(all[300...])))
            try store.commit(Fixture.batch(all))
            #expect(try store.places() == (300, 600))
            #expect(try store.allReadings() == all)
            try store.pack()
            #expect(try store.places() == (0, 900))
            #expect(try store.allReadings() == all)
        }
    }

    /// An agent that counts wrongly, or lies.
    @Test func ofTwoReadingsWithOneNumberTheFirstCounts() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            let right = Fixture.readings(count: 600)
            let again = right.map { Fixture.reading($0.sequence, channel: 3, at: 1, 7) }
            try store.commit(Fixture.batch(right + again))
            #expect(try store.allReadings() == right)
            #expect(try store.readings.count(of: 1, sequences: 1...600) == 600)
        }
    }

    /// Rows whose numbers are not settled, as a store that somebody has edited may have.
    @Test func whatIsInARowIsNotPutIntoABlockBesideIt() throws {
        try withStorePath { path in
            let store = try Fixture.store(path, from: .max)
            let all = Fixture.readings(count: 600)
            try store.commit(Fixture.batch(Array(all[..<300])))
            try store.database.execute("UPDATE runs SET settled = x''")
            let reopened = try Store.open(path, .inBlocks(from: 100)).store
            try reopened.commit(Fixture.batch(all))
            #expect(try reopened.allReadings() == all)
            #expect(try reopened.places() == (600, 0))
        }
    }

    /// Whatever comes after numbers were damaged, readings or gaps: what is stored stays settled.
    @Test func settledNumbersThatCannotBeReadAreTakenFromTheReadings() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            let all = Fixture.readings(count: 900)
            try store.commit(Fixture.batch(Array(all[..<600])))
            try store.commit(Fixture.batch(Array(all[700..<720])))
            try store.database.execute("UPDATE runs SET settled = x'ff'")
            var gap = StoreBatch()
            gap.gaps = [
                StoreBatch.PeerGap(
                    peer: Fixture.key().peer,
                    gap: Gap(
                        run: Fixture.key().run, range: 1..<651, reason: .settledElsewhere))
            ]
            try store.commit(gap)
            #expect(try store.database.integer("SELECT sum(count) FROM gaps") == 50)
            try store.database.execute("UPDATE runs SET settled = x'ff'")
            try store.commit(Fixture.batch(Array(all[850...])))
            try store.commit(Fixture.batch(all))
            #expect(try store.allReadings() == all)
            #expect(try StoreReader(path).runs(StoreQuery()).map(\.settledCount) == [900])
        }
    }

    /// A fast sensor, second by second: its blocks become full, and what reads them stays quick.
    @Test func blocksOfSmallCommitsAreFilledUp() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            var all: [Reading] = []
            for second in 0..<60 as Range<UInt64> {
                let readings = (1...200 as ClosedRange<UInt64>).map { index in
                    let number = second * 200 + index
                    return Fixture.reading(
                        number, at: Int64(number) * 5, Int64(2_000 + number * 7919 % 512))
                }
                try store.commit(Fixture.batch(readings))
                all += readings
            }
            #expect(try store.places() == (0, 12_000))
            let count = try store.database.integer("SELECT count(*) FROM blocks") ?? 0
            let bytes = try store.database.integer("SELECT sum(length(bytes)) FROM blocks") ?? 0
            #expect(bytes / Int64(Limits.blockBytesFull) + 1 >= count)
            #expect(try store.allReadings() == all)
        }
    }

    /// Each would need a block of its own: rows take less.
    @Test func whatWouldFillNoBlockIsRows() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            let apart = (1...200 as ClosedRange<UInt64>).map { number in
                Fixture.reading(number, at: Int64(number % 2) * 200_000_000 + Int64(number), 1)
            }
            try store.commit(Fixture.batch(apart))
            #expect(try store.places() == (200, 0))
            #expect(try store.allReadings() == apart)
        }
    }

    /// Backwards, far apart, at the ends of what there is, with many kinds of value.
    @Test func whateverComesAtOnceComesBack() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<40 {
            try withStorePath { path in
                let store = try Fixture.store(path, from: 5)
                var numbers: Set<UInt64> = []
                while numbers.count < 60 {
                    numbers.insert(
                        Bool.random(using: &generator)
                            ? .random(in: 1...100, using: &generator)
                            : .random(in: 1...UInt64(Int64.max), using: &generator))
                }
                let all = numbers.map { number in
                    let outcome: Outcome =
                        UInt8.random(in: 0..<8, using: &generator) == 0
                        ? .null(NullReason(rawValue: .random(in: 0...9, using: &generator)))
                        : .value(
                            DecimalValue(
                                coefficient: .random(in: .min ... .max, using: &generator),
                                exponent: .random(in: -3...3, using: &generator)))
                    return Reading(
                        sequence: number, channel: .random(in: 1...3, using: &generator),
                        time: Fixture.at(
                            .random(in: 0...Report.Entry.millisecondsMax, using: &generator)),
                        outcome: outcome)
                }
                for first in stride(from: 0, to: all.count, by: 20) {
                    let refused = try store.commit(
                        Fixture.batch(Array(all[first..<(first + 20)])))
                    #expect(refused.isEmpty)
                }
                let sorted = all.sorted { $0.sequence < $1.sequence }
                #expect(try store.allReadings() == sorted)
                try store.pack()
                #expect(try store.allReadings() == sorted)
            }
        }
    }
}

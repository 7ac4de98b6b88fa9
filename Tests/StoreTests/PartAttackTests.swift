import Collector
import NearbyCore
import Outputs
import Telemetry
import Testing

@testable import Store

/// What an adversary tried against blocks that are made at a commit.
@Suite struct PartAttackTests {
    /// A part whose `settled` does not tell of its own readings.
    @Test(arguments: [100, Int.max]) func numbersThatNobodySettledAreStoredOnce(from count: Int)
        throws
    {
        try withStorePath { path in
            let store = try Fixture.store(path, from: count)
            let all = Fixture.readings(count: 600)
            var batch = Fixture.batch(all)
            batch.parts[0].settled = NumberRanges()
            try store.commit(batch)
            try store.commit(batch)
            #expect(try store.allReadings().count == 600)
            try store.pack()
            #expect(try store.allReadings().count == 600)
        }
    }

    /// A slow channel beside a fast one, and a packet that comes a commit later.
    @Test func aLatePacketBesideASlowChannelSendsNothingElseIntoRows() throws {
        try withStorePath { path in
            let store = try Fixture.store(path, from: 128)
            var late: [Reading] = []
            var sequence: UInt64 = 1
            var total = 0
            for second in 0..<100 as Range<Int64> {
                var readings = late
                late = []
                for index in 0..<1000 as Range<Int64> {
                    let reading = Fixture.reading(
                        sequence, channel: index == 500 ? 2 : 1, at: second * 1_000 + index, index)
                    // One packet in a hundred comes a second later.
                    if second % 2 == 0, index < 20 {
                        late.append(reading)
                    } else {
                        readings.append(reading)
                    }
                    sequence += 1
                }
                total += readings.count
                try store.commit(Fixture.batch(readings))
            }
            let places = try store.places()
            #expect(places.rows < 1_000 + 100)
            #expect(places.rows + places.blocks == Int64(total))
        }
    }

    /// A part of the batch that SQLite refuses, after blocks of it were written.
    @Test func whatIsRefusedAfterItsBlocksLeavesNoTrace() throws {
        try withStorePath { path in
            var settings = Store.Settings.inBlocks(from: 50)
            settings.outputs = [
                OutputRegistration(name: "broker", wantsHistory: false, hold: .zero)
            ]
            let opened = try Store.open(path, settings)
            let store = opened.store
            let other = Fixture.key(0x200, peer: 2)
            var batch = StoreBatch()
            batch.births = [
                try Fixture.birth(), try Fixture.birth(other, boot: BootID(high: 7, low: 7)),
            ]
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            // A reading with hops 99 is refused by a trigger, as a constraint.
            try store.database.execute(
                """
                CREATE TRIGGER refuse BEFORE INSERT ON readings WHEN NEW.milliseconds = 99
                BEGIN SELECT RAISE(ABORT, 'no'); END
                """)
            func readings(_ first: UInt64, _ base: Int64, _ bad: Bool) -> [Reading] {
                (first..<first + 100).map {
                    Fixture.reading($0, at: Int64($0) * 1000, base + Int64($0))
                }
                    + (bad ? [Fixture.reading(first + 100, channel: 2, at: 99, 1)] : [])
            }
            for round in 0..<6 as Range<UInt64> {
                var batch = StoreBatch()
                batch.parts = [
                    Fixture.part(readings(1 + round * 200, 0, true)),
                    Fixture.part(readings(1 + round * 200, 5_000, false), key: other),
                ]
                let refused = try store.commit(batch)
                #expect(refused.count == 1)
                _ = try store.allReadings()
                _ = try store.finish()
            }
            try store.database.execute("DROP TRIGGER refuse")
            #expect(try store.allReadings().count == 600)
            var again = StoreBatch()
            again.parts = [
                Fixture.part((0..<6 as Range<UInt64>).flatMap { readings(1 + $0 * 200, 0, true) })
            ]
            #expect(try store.commit(again).isEmpty)
            let all = try store.allReadings()
            #expect(all.count == 1206)
            #expect(Set(all.map(\.outcome)).count >= 1200)
            let fresh = try Store.open(path, settings).store
            #expect(try fresh.allReadings() == all)
            #expect(try store.database.integer("SELECT sum(count) FROM changes") == 1206)
        }
    }

    /// Random commits, repeated, overlapping, late, retried after errors, with packing, sweeps of
    /// the caches, reopening: always the same as a dictionary.
    @Test(arguments: 1...30 as ClosedRange<UInt64>) func alwaysAsADictionary(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try withStorePath { path in
            let settings = Store.Settings.inBlocks(
                from: [2, 5, 20, 128].randomElement(using: &generator)!)
            var store = try Store.open(path, settings).store
            var first = StoreBatch()
            first.births = [try Fixture.birth()]
            first.clocks = [Fixture.mapping()]
            try store.commit(first)
            var model: [UInt64: Reading] = [:]
            for _ in 0..<60 {
                switch UInt8.random(in: 0..<10, using: &generator) {
                case 0: try store.pack(limit: .random(in: 1...300, using: &generator))
                case 1: store = try Store.open(path, settings).store
                case 2:
                    _ = try store.tidy(
                        now: Fixture.at(.random(in: 0...100_000_000, using: &generator)),
                        clock: ClockReading(rank: .network, unixOffset: Fixture.unixOffset),
                        budget: .random(in: 1...400, using: &generator))
                default:
                    let base = UInt64.random(in: 1...2_000, using: &generator)
                    let count = Int.random(in: 1...400, using: &generator)
                    var readings: [Reading] = []
                    for _ in 0..<count {
                        let number = base + .random(in: 0...600, using: &generator)
                        readings.append(
                            Fixture.reading(
                                number, channel: .random(in: 1...3, using: &generator),
                                at: Bool.random(using: &generator)
                                    ? Int64(number) * 1_000
                                    : .random(in: 0...200_000_000, using: &generator),
                                .random(in: .min ... .max, using: &generator),
                                scale: .random(in: -3...(-1), using: &generator)))
                    }
                    // Mostly only what is new, as the collector sends it.
                    if UInt8.random(in: 0..<4, using: &generator) > 0 {
                        readings.removeAll { model[$0.sequence] != nil }
                    }
                    if Bool.random(using: &generator) {
                        readings.sort { $0.sequence < $1.sequence }
                    }
                    // As the collector does: the first of a number in a commit.
                    for reading in readings where model[reading.sequence] == nil {
                        model[reading.sequence] = reading
                    }
                    #expect(try store.commit(Fixture.batch(readings)).isEmpty)
                }
                let all = try store.allReadings()
                #expect(all == model.values.sorted { $0.sequence < $1.sequence })
                for channel in 1...3 as ClosedRange<Int64> {
                    let begin = ReadingTable.Place(milliseconds: -1, sequence: .min)
                    let forward = try store.readings.rows(
                        of: 1, channel: channel, after: begin, before: .max, limit: .max)
                    let end = ReadingTable.Place(milliseconds: .max - 1, sequence: .max)
                    let backward = try store.readings.rowsBackwards(
                        of: 1, channel: channel, before: end, from: 0, limit: .max)
                    #expect(
                        forward.map(\.reading.sequence)
                            == backward.reversed().map(\.reading.sequence))
                    #expect(
                        forward.count == model.values.filter { $0.channel == UInt16(channel) }.count
                    )
                }
                let low = Int64.random(in: 1...2600, using: &generator)
                let high = Int64.random(in: low...2700, using: &generator)
                #expect(
                    try store.readings.count(of: 1, sequences: low...high)
                        == model.keys.filter { (UInt64(low)...UInt64(high)).contains($0) }.count)
            }
        }
    }

    /// The last numbers and values there are.
    @Test func atTheLimits() throws {
        try withStorePath { path in
            let store = try Fixture.store(path, from: 10)
            var all: [Reading] = []
            for index in 0..<200 as Range<UInt64> {
                all.append(
                    Reading(
                        sequence: UInt64(Int64.max) - index, channel: index % 2 == 0 ? 0 : 65_535,
                        time: Instant(nanoseconds: .max - Int64(index)),
                        outcome: .value(
                            DecimalValue(
                                coefficient: index % 3 == 0 ? .min : .max,
                                exponent: index % 5 == 0 ? -128 : 127))))
            }
            // None of them is legal.
            all.append(
                Reading(
                    sequence: 0, channel: 1, time: .zero, outcome: .null(NullReason(rawValue: 0))))
            all.append(
                Reading(
                    sequence: .max, channel: 1, time: .zero, outcome: .null(NullReason(rawValue: 0))
                ))
            func batch() -> StoreBatch {
                var batch = Fixture.batch(Array(all[..<200]))
                batch.parts[0].readings = all
                return batch
            }
            #expect(try store.commit(batch()).isEmpty)
            #expect(store.illegalReadingCount == 2)
            #expect(try store.places() == (0, 200))
            #expect(try store.allReadings().map(\.sequence) == all[..<200].map(\.sequence).sorted())
            _ = try store.finish()
            try store.commit(batch())
            #expect(try store.places() == (0, 200))
            #expect(try store.allReadings().map(\.outcome) == all[..<200].reversed().map(\.outcome))
        }
    }
}

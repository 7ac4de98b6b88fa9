import CFaultyDisk
import Collector
import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// What an adversary tried against windows that are computed in pieces.
@Suite struct TidyAttackTests {
    /// Random commits, packing, sweeps, mappings, births, failures and reopening between pieces of
    /// any size: in the end it is as if all had come at once and been computed at once.
    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func piecesComeToTheSameAsOneGo(seed: UInt64) throws {
        try withStorePath { path in
            var model = try TidyModel(path, seed: seed)
            for _ in 0..<120 { try model.step() }
            try model.finish()
            let found = try model.dump()
            let wanted = try withStorePath { try model.inOneGo($0) }
            #expect(found == wanted)
            #expect(found.count > 15)
        }
    }

    /// One agent fills one window for ever, faster than it can be computed between two commits.
    @Test(arguments: [100, Int.max]) func aWindowThatGrowsHoldsUpNobody(from count: Int) throws {
        try withStorePath { path in
            var settings = Store.Settings.inBlocks(from: count)
            settings.keep = .seconds(86_400)
            let store = try Store.open(path, settings).store
            let other = Fixture.key(0x200, peer: 2)
            var batch = StoreBatch()
            batch.births = [try Fixture.birth(), try Fixture.birth(other)]
            batch.clocks = [Fixture.mapping()]
            let old = (1...100 as ClosedRange<UInt64>).map {
                Fixture.reading($0, at: Int64($0) * 10_000, 5)
            }
            let new = (101...200 as ClosedRange<UInt64>).map {
                Fixture.reading($0, at: 250_000_000 + Int64($0) * 10_000, 5)
            }
            batch.parts = [Fixture.part(old + new, key: other)]
            try store.commit(batch)
            let clock = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)
            var deleted = 0
            for round in 0..<120 as Range<UInt64> {
                let readings = (1...400 as ClosedRange<UInt64>).map {
                    Fixture.reading(round * 400 + $0, at: 200_000_000, Int64($0))
                }
                try store.commit(Fixture.batch(readings))
                for _ in 0..<4 {
                    let report = try store.tidy(
                        now: Fixture.at(260_000_000), clock: clock, budget: count == 100 ? 60 : 200)
                    deleted += report.deletedReadingCount
                }
            }
            #expect(deleted == 100)
            for table in ["windows", "wide_windows"] {
                let others = try store.database.integer(
                    "SELECT count(*) FROM \(table) WHERE run_id = 2")
                #expect(others ?? 0 > (table == "windows" ? 99 : 1))
            }
            _ = try store.finish(budget: 1_000)
            let all = try store.database.integer("SELECT count FROM windows WHERE run_id = 1")
            #expect(all == 48_000)
        }
    }

    /// Retention takes what a window that is begun has summed up already.
    @Test func whatIsDeletedIsInNoWindowThatIsBegun() throws {
        try withStorePath { path in
            var settings = Store.Settings.inRows
            settings.keep = .seconds(1)
            let store = try Store.open(path, settings).store
            var batch = StoreBatch()
            batch.births = [try Fixture.birth()]
            batch.clocks = [Fixture.mapping()]
            // Two channels, in ten minutes of a wide window.
            let readings = (1...1_000 as ClosedRange<UInt64>).map {
                Fixture.reading($0, channel: UInt16($0 % 2 + 1), at: Int64($0) * 599, 1)
            }
            batch.parts = [Fixture.part(readings)]
            try store.commit(batch)
            let unset = ClockReading(rank: .none, unixOffset: Fixture.unixOffset)
            while try store.count("due_windows") > 0 {
                _ = try store.tidy(now: Fixture.at(1_000_000), clock: unset, budget: 30)
            }
            for _ in 0..<3 {
                _ = try store.tidy(now: Fixture.at(9_000_000), clock: unset, budget: 30)
            }
            // Our clock was set back: what is begun waits, and readings go.
            let right = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)
            let report = try store.tidy(now: Fixture.at(301_000), clock: right, budget: 3_000)
            #expect(report.deletedReadingCount == 500)
            _ = try store.finish()
            let total = try store.database.integer("SELECT sum(count) FROM wide_windows")
            #expect(total == 500)
            let most = try store.database.integer("SELECT max(count) FROM wide_windows")
            #expect(most == 250)
        }
    }

    /// An agent whose clock stands still: each page of them would read all blocks of that time.
    @Test func manyBlocksOfOneTimeAreEachReadOnce() throws {
        try withStorePath { path in
            let store = try Fixture.store(path, from: 100)
            for round in 0..<40 as Range<UInt64> {
                // Values that do not pack well.
                let readings = (1...1_000 as ClosedRange<UInt64>).map {
                    Fixture.reading(
                        round * 1_000 + $0, at: 5_000,
                        Int64(truncatingIfNeeded: ($0 &* 0x9e37_79b9_7f4a_7c15) >> 32))
                }
                try store.commit(Fixture.batch(readings))
            }
            let blocks = try store.count("blocks")
            #expect(blocks > 40)
            let before = store.readings.cost
            _ = try store.finish(budget: 500)
            // Ten readings count as one, and pages of fifty of them read blocks several times.
            #expect(store.readings.cost - before < 40_000)
            let count = try store.database.integer("SELECT count FROM windows")
            #expect(count == 40_000)
            let begin = ReadingTable.Place(milliseconds: 0, sequence: .min)
            let first = try store.readings.rows(
                of: 1, channel: 1, after: begin, before: .max, limit: 7)
            #expect(first.map(\.reading.sequence) == Array(1...7))
            let place = ReadingTable.Place(milliseconds: 5_000, sequence: 12_345)
            let next = try store.readings.rows(
                of: 1, channel: 1, after: place, before: .max, limit: 30_000)
            #expect(next.map(\.reading.sequence) == Array(12_346...40_000))
        }
    }

    /// What a damaged block says of itself costs nothing.
    @Test func aDamagedBlocksCountIsNoReasonToStop() throws {
        try withStorePath { path in
            let store = try Fixture.store(path, from: .max)
            try store.commit(Fixture.batch(Fixture.readings(count: 600)))
            try store.pack()
            try store.database.execute(
                """
                UPDATE blocks SET count = 4000000, last_sequence = first_sequence + 4100000
                """)
            let clock = ClockReading(rank: .none, unixOffset: .nanoseconds(Int64.max / 2))
            var calls = 1
            while try !store.tidy(now: .zero, clock: clock).isDone { calls += 1 }
            #expect(calls < 10)
        }
    }

    /// Each block of hundreds of channels is read once, in whatever order.
    @Test func settledNumbersOfManyChannelsAreFoundQuickly() throws {
        try withStorePath { path in
            let store = try Store.open(path, .inBlocks(from: 1)).store
            var batch = StoreBatch()
            batch.births = [try Fixture.birth(channels: (1...300).map { "c\($0)" })]
            let readings = (1...90_000 as ClosedRange<UInt64>).filter { $0 % 1_000 != 7 }.map {
                Fixture.reading($0, channel: UInt16($0 % 300 + 1), at: Int64($0), 5)
            }
            batch.parts = [Fixture.part(readings)]
            try store.commit(batch)
            try store.database.execute("UPDATE runs SET settled = x'ff'")
            let before = store.readings.cost
            let settled = try store.readings.numbers(of: 1)
            #expect(store.readings.cost - before < 10_000)
            #expect(settled == batch.parts[0].settled)
            try store.commit(batch)
            let rows = try store.count("readings")
            #expect(rows == 0)
            let opened = try Store.open(path)
            #expect(opened.runs.map(\.settled) == [batch.parts[0].settled])
        }
    }

    /// Old windows of channels that have none are looked for with one row of a budget left.
    @Test func narrowWindowsArePrunedHoweverLittleIsLeft() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            try store.commit(Fixture.batch(Fixture.readings(count: 60)))
            let clock = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)
            for hour in 1...3 as ClosedRange<Int64> {
                let now = Fixture.at(200_000_000 + hour * 3_600_000)
                var isDone = false
                for _ in 0..<2_000 where !isDone {
                    isDone = try store.tidy(now: now, clock: clock, budget: 2).isDone
                    if !isDone { isDone = try store.tidy(now: now, clock: clock, budget: 1).isDone }
                }
                #expect(isDone)
            }
            let left = try store.count("windows")
            #expect(left == 0)
        }
    }
}

/// A store to which random things happen, and what it must have in the end.
private struct TidyModel {
    private struct Run {
        var key: RunKey
        var boot: BootID
        var channels: Int
        var next: UInt64 = 1
        var readings: [UInt64: Reading] = [:]
    }

    private static let names = ["air", "soil", "rain", "wind", "sun", "snow"]
    private let path: String
    private var settings = Store.Settings()
    private var store: Store
    private var generator: SeededGenerator
    private var runs: [Run]
    /// What a window that readings were deleted of says depends on when it was computed.
    private var deleted: [[Reading]]
    private let deletes: Bool

    init(_ path: String, seed: UInt64) throws {
        self.path = path
        generator = SeededGenerator(seed: seed)
        settings.windowShift = .zero
        settings.blockedAtOnce = [2, 20, .max][Int(seed % 3)]
        deletes = seed % 4 == 0
        if deletes { settings.keep = .seconds(86_400) }
        store = try Store.open(path, settings).store
        let other = BootID(high: 7, low: 7)
        runs = [
            Run(key: Fixture.key(), boot: Fixture.boot, channels: 2),
            Run(key: Fixture.key(0x200, peer: 3), boot: Fixture.boot, channels: 1),
            Run(key: Fixture.key(0x300, peer: 2), boot: other, channels: 3),
        ]
        deleted = runs.map { _ in [] }
        var batch = StoreBatch()
        batch.births = try runs.map(birth)
        batch.clocks = [Fixture.mapping(), Fixture.mapping(boot: other)]
        try store.commit(batch)
    }

    private func birth(_ run: Run) throws -> StoreBatch.PeerBirth {
        try Fixture.birth(
            run.key, boot: run.boot, channels: Array(Self.names.prefix(run.channels)))
    }

    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    mutating func step() throws {
        switch number(0...13) {
        case 0...3: try commit()
        case 4: try addChannel()
        case 5: try move()
        case 6: try store.pack(limit: number(1...200))
        case 7: store = try Store.open(path, settings).store
        case 8: try fail()
        case 9: failingDisk()
        default: try tidy()
        }
    }

    private mutating func commit() throws {
        let index = number(0...runs.count - 1)
        var readings: [Reading] = []
        // Late ones: anywhere, among them the windows that are begun.
        let isLate = number(0...3) == 0
        let base = number(0...3) == 0 ? Int64(number(0...90_000_000)) : Int64(number(0...60_000))
        for _ in 0..<number(1...250) {
            let sequence = runs[index].next
            runs[index].next += UInt64(number(1...3) == 1 ? number(1...3) : 1)
            let time = isLate ? Int64(number(0...100_000)) : base + Int64(sequence % 500) * 40
            readings.append(
                Fixture.reading(
                    sequence, channel: UInt16(number(1...runs[index].channels)), at: time,
                    Int64(number(-5_000...5_000))))
        }
        if number(0...2) == 0 { readings.shuffle(using: &generator) }
        if number(0...4) == 0, let old = runs[index].readings.values.randomElement() {
            readings.append(old)
        }
        var batch = StoreBatch()
        batch.parts = [Fixture.part(readings, key: runs[index].key)]
        if number(0...4) == 0 {
            // What fails is given again, whether it came through or not.
            faulty_disk_arm(Int32(number(0...12)), EIO)
            _ = try? store.commit(batch)
            faulty_disk_disarm()
        }
        let refused = try store.commit(batch)
        #expect(refused.isEmpty)
        for reading in readings { runs[index].readings[reading.sequence] = reading }
    }

    private mutating func addChannel() throws {
        let index = number(0...runs.count - 1)
        runs[index].channels = min(runs[index].channels + 1, Self.names.count)
        var batch = StoreBatch()
        batch.births = [try birth(runs[index])]
        try store.commit(batch)
    }

    private mutating func move() throws {
        let since = number(0...2) == 0 ? 0 : Int64(number(0...80_000))
        let offset = Fixture.unixOffset + .milliseconds(number(-20_000...20_000))
        var batch = StoreBatch()
        batch.clocks = [
            Fixture.mapping(
                boot: runs[number(0...runs.count - 1)].boot, offset: offset,
                since: Fixture.at(since))
        ]
        try store.commit(batch)
    }

    /// Pieces that come to nothing.
    private mutating func fail() throws {
        let (store, budget) = (self.store, number(1...300))
        let count = number(0...3)
        #expect(throws: StoreError.self) {
            try store.transaction { () throws(StoreError) in
                var left = budget
                for _ in 0..<count {
                    if let moved = try store.moves.next(), let boot = moved.boot {
                        try store.moves.lay(moved, try store.grid(of: boot), &left)
                    } else if let due = try store.windows.nextDue(before: .max) {
                        let grid = try due.boot.flatMap { boot throws(StoreError) in
                            try store.grid(of: boot)
                        }
                        _ = try store.windows.compute(due, grid, isKept: true, &left)
                    }
                }
                try store.packing.packAll(limit: budget)
                throw .damaged("for a test")
            }
        }
    }

    private mutating func tidy() throws {
        let budget = number(0...2) == 0 ? 1 : number(1...120)
        let now = Fixture.at(Int64(number(0...(deletes ? 180_000_000 : 12_000_000))))
        let clock = ClockReading(
            rank: deletes ? .network : .none, unixOffset: Fixture.unixOffset)
        let report = try store.tidy(now: now, clock: clock, budget: budget)
        if report.deletedReadingCount > 0 { try noteDeleted() }
    }

    private mutating func failingDisk() {
        faulty_disk_arm(Int32(number(0...8)), EIO)
        defer { faulty_disk_disarm() }
        let clock = ClockReading(rank: .none, unixOffset: Fixture.unixOffset)
        _ = try? store.tidy(now: Fixture.at(9_000_000), clock: clock, budget: number(1...200))
    }

    private mutating func noteDeleted() throws {
        for index in runs.indices {
            let rows = try store.readings.rows(
                of: Int64(index + 1), sequences: 1...Int64.max, limit: .max)
            let left = Set(rows.map { UInt64($0.reading.sequence) })
            for reading in runs[index].readings.values where !left.contains(reading.sequence) {
                runs[index].readings[reading.sequence] = nil
                deleted[index].append(reading)
            }
        }
    }

    mutating func finish() throws {
        let budget = number(0...1) == 0 ? 1 : 50
        _ = try store.finish(budget: budget)
    }

    /// All windows but those that readings were deleted of.
    func dump() throws -> [String] { try dump(store) }

    private func dump(_ other: Store) throws -> [String] {
        var lines: [String] = []
        let begin = try NarrowWindows.begin(store.database)
        let cut = try cutWindows()
        for table in ["due_windows", "due_wide_windows", "moved_windows"] {
            let count = try other.count(table)
            if count > 0 { lines.append("\(table): \(count)") }
        }
        for table in ["windows", "wide_windows", "run_windows"] {
            let names = try other.database.prepare("SELECT name FROM pragma_table_info('\(table)')")
            var columns: [String] = []
            while try names.step() {
                if deletes, names.text(0) == "received" { continue }
                columns.append("quote(\(names.text(0)))")
            }
            let all = columns.joined(separator: " || ' ' || ")
            let text = "SELECT run_id, number, \(all) FROM \(table) ORDER BY 3"
            let rows = try other.database.prepare(text)
            while try rows.step() {
                let (run, number) = (rows.integer(0), rows.integer(1))
                if table == "windows", number < begin { continue }
                if cut.contains([table == "wide_windows" ? 1 : 0, run, number]) { continue }
                lines.append(table + " " + rows.text(2))
            }
        }
        return lines
    }

    private func cutWindows() throws -> Set<[Int64]> {
        var cut: Set<[Int64]> = []
        for (index, run) in runs.enumerated() {
            guard let grid = try store.grid(of: run.boot) else { continue }
            for reading in deleted[index] {
                let milliseconds = reading.time.nanoseconds / 1_000_000
                guard let number = grid.number(at: milliseconds) else { continue }
                cut.insert([0, Int64(index + 1), number])
                cut.insert([1, Int64(index + 1), WideWindows.number(of: number)])
            }
        }
        return cut
    }

    /// What a store says that was given all of it, and then computed it.
    func inOneGo(_ path: String) throws -> [String] {
        var settings = settings
        settings.keep = nil
        let fresh = try Store.open(path, settings).store
        var batch = StoreBatch()
        batch.births = try runs.map(birth)
        for boot in [runs[0].boot, runs[2].boot] {
            batch.clocks += try store.clocks.mappings(of: boot).all
        }
        batch.parts = runs.map { run in
            Fixture.part(run.readings.values.sorted { $0.sequence < $1.sequence }, key: run.key)
        }
        try fresh.commit(batch)
        _ = try fresh.finish(budget: .max / 2)
        return try dump(fresh)
    }
}

extension Store {
    fileprivate func count(_ table: String) throws -> Int64 {
        try database.integer("SELECT count(*) FROM \(table)") ?? 0
    }
}

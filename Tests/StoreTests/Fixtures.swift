import Collector
import FailingFiles
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Births, readings and batches for the tests of this room.
enum Fixture {
    static func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    static func peer(_ number: UInt64) -> PeerID { PeerID(high: number, low: number) }

    static let boot = BootID(high: 1, low: 2)

    static func key(_ run: UInt64 = 0x100, peer number: UInt64 = 1) -> RunKey {
        RunKey(peer: peer(number), run: RunID(value: run))
    }

    static func birth(
        _ key: RunKey = key(), name: String = "north", boot: BootID = boot,
        channels: [String] = ["air", "soil", "rain"]
    ) throws -> StoreBatch.PeerBirth {
        let list = try channels.enumerated().map { index, name in
            guard let description = ChannelDescription(name: name, unit: .celsius, scale: -2) else {
                throw WireError.invalid(field: name)
            }
            return Channel(number: UInt16(index + 1), description: description)
        }
        return StoreBatch.PeerBirth(
            peer: key.peer,
            birth: Birth(
                number: 1, run: key.run, boot: boot,
                node: try NodeDescription(name: name), channels: list))
    }

    static func reading(
        _ sequence: UInt64, channel: UInt16 = 1, at milliseconds: Int64, _ coefficient: Int64,
        scale: Int8 = -2
    ) -> Reading {
        Reading(
            sequence: sequence, channel: channel, time: at(milliseconds),
            outcome: .value(DecimalValue(coefficient: coefficient, exponent: scale)))
    }

    /// `count` readings, one a second from `first` s on, over three channels in turn.
    static func readings(first: UInt64 = 1, count: UInt64) -> [Reading] {
        (first..<first + count).map { (sequence: UInt64) -> Reading in
            let channel = UInt16(sequence % 3 + 1)
            let coefficient = Int64(sequence % 100) + 2_000
            return reading(sequence, channel: channel, at: Int64(sequence) * 1_000, coefficient)
        }
    }

    static func part(_ readings: [Reading], key: RunKey = key(), hops: UInt8 = 1) -> StoreBatch.Part
    {
        var settled = NumberRanges()
        for reading in readings { settled.insert(reading.sequence..<reading.sequence &+ 1) }
        return StoreBatch.Part(key: key, readings: readings, settled: settled, hops: hops)
    }

    static func mapping(
        boot: BootID = boot, rank: ClockRank = .network, offset: Duration = unixOffset,
        uncertainty: Duration = .milliseconds(3), since: Instant = .zero, isForeign: Bool = false
    ) -> ClockMapping {
        ClockMapping(
            boot: boot, clock: ClockReading(rank: rank, unixOffset: offset),
            uncertainty: uncertainty, since: since, isForeign: isForeign)
    }

    /// 2026-11-21T05:20:00Z.
    static let unixOffset: Duration = .seconds(1_795_238_400)

    /// A store that knows birth and clock; so many readings of a channel at once are blocks.
    static func store(_ path: String, from count: Int = 100) throws -> Store {
        let store = try Store.open(path, .inBlocks(from: count)).store
        var first = StoreBatch()
        first.births = [try birth()]
        first.clocks = [mapping()]
        try store.commit(first)
        return store
    }

    static func batch(_ readings: [Reading], births: [StoreBatch.PeerBirth] = []) -> StoreBatch {
        var batch = StoreBatch()
        batch.births = births
        batch.parts = [part(readings)]
        return batch
    }
}

/// The rule of stretches, as slow as it can be said. Empty, it takes the clock for UTC.
struct SlowClock {
    var mappings: [ClockMapping] = []

    mutating func take(_ mapping: ClockMapping) {
        mappings = mappings.filter { $0.since < mapping.since } + [mapping]
    }

    /// Nanoseconds.
    func utc(_ time: Instant) -> Int64 {
        let mapping = mappings.last { $0.since <= time } ?? mappings.first
        return (time + (mapping?.clock.unixOffset ?? .zero)).nanoseconds
    }
}

/// Runs `body` with the path of a store that is not there yet.
func withStorePath<Result>(_ body: (String) throws -> Result) rethrows -> Result {
    try withTemporaryDirectory { try body($0 + "/readings.sqlite") }
}

extension Store.Settings {
    /// Whatever comes at once is rows.
    static var inRows: Store.Settings { inBlocks(from: .max) }

    static func inBlocks(from count: Int) -> Store.Settings {
        var settings = Store.Settings()
        settings.blockedAtOnce = count
        return settings
    }
}

extension Store {
    /// Tidies until nothing is left, at a time at which all windows are over and by a clock that
    /// deletes nothing. Returns how many windows were computed.
    func finish(budget: Int = 37) throws -> Int {
        var windows = 0
        for _ in 0..<100_000 {
            let report = try tidy(
                now: .zero,
                clock: ClockReading(rank: .none, unixOffset: .nanoseconds(Int64.max / 2)),
                budget: budget)
            windows += report.windowCount
            if report.isDone { return windows }
        }
        Issue.record("tidying does not come to an end")
        return windows
    }

    /// All readings of the store, in order of run and sequence.
    func allReadings() throws -> [Reading] {
        let rows = try database.prepare("SELECT id FROM runs ORDER BY id")
        var runs: [Int64] = []
        while try rows.step() { runs.append(rows.integer(0)) }
        return try runs.flatMap { run in
            try readings.rows(of: run, sequences: 1...Int64.max, limit: .max).map { row in
                Reading(
                    sequence: UInt64(row.reading.sequence), channel: row.reading.channel,
                    time: Fixture.at(row.reading.milliseconds), outcome: row.reading.outcome)
            }
        }
    }

    /// Puts all rows into blocks, however new they are.
    func pack(limit: Int = 1_000) throws {
        try transaction { () throws(StoreError) in try packing.packAll(limit: limit) }
    }

    /// How many readings lie in rows, and how many in blocks.
    func places() throws -> (rows: Int64, blocks: Int64) {
        (
            try database.integer("SELECT count(*) FROM readings") ?? 0,
            try database.integer("SELECT coalesce(sum(count), 0) FROM blocks") ?? 0
        )
    }
}

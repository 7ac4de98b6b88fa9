import Collector
import Glibc
import NearbyCore
import Store
import Telemetry

// store-bench PATH [READINGS [AGENTS]]: fills a store at PATH, which must not exist, with readings
// of ten agents, or so many, with twenty channels each, one a second, by commits of 2,000 readings,
// and tidies them into windows and blocks. Before and after, it prints the bytes a reading and
// times queries of one channel over an hour and a day, and what a chart of all its time reads. Then
// it times commits of one second's readings, and what a new stretch of every clock and a new date
// of everything cost. Prints `name: value unit` a line.

/// Commits, tidies and queries against a clock.
struct Bench {
    static let channels: UInt64 = 20
    static let offset: Duration = .seconds(1_795_238_400)
    static let perCommit: UInt64 = 2_000

    private let path: String
    private let agents: UInt64
    private let store: Store
    private var committed: UInt64 = 0

    init(_ path: String, agents: UInt64) throws(StoreError) {
        self.path = path
        self.agents = agents
        store = try Store.open(path).store
        var batch = StoreBatch()
        for agent in 1...agents {
            guard let birth = Self.birth(agent) else { continue }
            batch.births.append(birth)
            batch.clocks.append(Self.mapping(agent, .zero))
        }
        try store.commit(batch)
    }

    /// Until so many readings are there.
    mutating func fill(_ count: UInt64) throws(StoreError) {
        let start = Self.seconds()
        var next = start + 10
        while committed < count {
            try store.commit(nextBatch(Self.perCommit))
            if Self.seconds() > next {
                next += 10
                say("readings so far", Double(committed), "")
            }
        }
        say("bulk commits", Double(count) / (Self.seconds() - start), "readings/s")
    }

    /// A stretch at the end of every clock, 600 ms off, and then a second's move of everything.
    func redate() throws(StoreError) {
        let newest = Int64(committed / Self.channels / agents) * 1_000_000_000
        for (name, since, moved) in [
            ("a new stretch", newest - 60_000_000_000, .milliseconds(600)),
            ("a new date of everything", 0, .seconds(1)),
        ] as [(String, Int64, Duration)] {
            var batch = StoreBatch()
            for agent in 1...agents {
                batch.clocks.append(
                    Self.mapping(agent, moved, since: Instant(nanoseconds: since)))
            }
            let before = Self.seconds()
            try store.commit(batch)
            say("commit of \(name) of all clocks", (Self.seconds() - before) * 1_000, "ms")
            let start = Self.seconds()
            try tidy()
            say("tidying after \(name)", (Self.seconds() - start) * 1_000, "ms")
        }
    }

    /// Bytes of the database for each reading, its windows included.
    func size(_ what: String) throws(StoreError) {
        let bytes = try store.byteCounts()
        say("bytes a reading, \(what)", Double(bytes.used) / Double(committed), "")
        say("free in the file", Double(bytes.free) / 1e6, "MB")
    }

    /// All work, at a time at which everything is over: in one go.
    func tidy(pass: Int64 = 0) throws(StoreError) {
        let start = Self.seconds()
        // By the readings' own clock three hours after the newest, and an hour more each pass.
        let newest = Int64(committed / Self.channels / agents)
        let now = Instant(nanoseconds: (newest + (3 + pass) * 3_600) * 1_000_000_000)
        var windows = 0
        var worst = 0.0
        while true {
            let before = Self.seconds()
            let clock = ClockReading(rank: .network, unixOffset: Self.offset)
            let report = try store.tidy(now: now, clock: clock)
            worst = max(worst, Self.seconds() - before)
            windows += report.windowCount
            if report.isDone { break }
        }
        let span = Self.seconds() - start
        if windows > 0 { say("windows of a run computed", Double(windows) / span, "/s") }
        say("work of tidy", span, "s")
        say("longest call of tidy", worst * 1_000, "ms")
    }

    /// As a collector at work commits: one second's readings of all agents.
    mutating func commitSeconds(_ count: Int) throws(StoreError) {
        var times: [Double] = []
        for _ in 0..<count {
            let batch = nextBatch(agents * Self.channels)
            let before = Self.seconds()
            try store.commit(batch)
            times.append(Self.seconds() - before)
        }
        times.sort()
        say(
            "commit of \(agents * Self.channels) readings, p50", times[count / 2] * 1_000, "ms"
        )
        say("commit, worst of \(count)", (times.last ?? 0) * 1_000, "ms")
    }

    /// What the page reads for a chart of 600 points over all the time there is.
    func chart() throws(StoreError) {
        var query = StoreQuery()
        query.channels = [Glob("channel 7")]
        query.peers = [.id(asked)]
        query.from = Self.offset.nanoseconds
        query.to = Self.offset.nanoseconds + 365 * 86_400_000_000_000
        let seconds = Int64(committed / Self.channels / agents)
        let days = (Double(seconds) / 8_640).rounded() / 10
        try time("one channel of one agent over \(days) days, for a chart") {
            (reader: StoreReader) throws(StoreError) in
            var rows = 0
            try reader.windows(query, width: reader.chartWidth(seconds * 1_000_000_000 / 600)) {
                rows += $1.statistics.count > 0 ? 1 : 0
                return true
            }
            return rows
        }
    }

    /// Readings alone, without a printer.
    func day() throws(StoreError) {
        var query = StoreQuery()
        query.channels = [Glob("channel 7")]
        query.peers = [.id(asked)]
        query.from = Self.offset.nanoseconds
        query.to = Self.offset.nanoseconds + 86_400_000_000_000
        try time("one channel of one agent over one day") {
            (reader: StoreReader) throws(StoreError) in
            var rows = 0
            try reader.readings(query) { _, _ in
                rows += 1
                return true
            }
            return rows
        }
    }

    func query() throws(StoreError) {
        var query = StoreQuery()
        query.channels = [Glob("channel 7")]
        let middle =
            Self.offset.nanoseconds
            + Int64(committed / Self.channels / agents / 2) * 1_000_000_000
        for (name, from, peer) in [
            ("one channel of one agent over one hour", middle, asked),
            ("one channel of all agents over one hour", middle, nil),
            ("one channel of all agents, everything", .min, nil),
        ] as [(String, Int64, PeerID?)] {
            query.peers = peer.map { [.id($0)] } ?? []
            query.from = from
            query.to = from == .min ? .max : from + 3_600_000_000_000
            try time(name) { (reader: StoreReader) throws(StoreError) in
                var printer = StorePrinter(.csv)
                var rows = 0
                try reader.readings(query) {
                    rows += printer.line($0, $1).isEmpty ? 0 : 1
                    return true
                }
                return rows
            }
            for width in [10, 60] as [Int64] {
                try time("\(name), windows of \(width) s") {
                    (reader: StoreReader) throws(StoreError) in
                    var printer = StorePrinter(.csv)
                    var rows = 0
                    try reader.windows(query, width: .seconds(width)) {
                        rows += printer.line($0, $1).isEmpty ? 0 : 1
                        return true
                    }
                    return rows
                }
            }
        }
    }

    /// Opening is in it, as in `rivulet query`.
    private func time(
        _ name: String, _ body: (StoreReader) throws(StoreError) -> Int
    ) throws(StoreError) {
        let before = Self.seconds()
        let rows = try body(try StoreReader(path))
        say("\(name) (\(rows) rows)", (Self.seconds() - before) * 1_000, "ms")
    }

    // MARK: Readings

    /// The agents take turns second by second, each with all of its channels.
    private mutating func nextBatch(_ count: UInt64) -> StoreBatch {
        var readings: [UInt64: [Reading]] = [:]
        for number in committed..<committed + count {
            let agent = number / Self.channels % agents + 1
            let second = number / Self.channels / agents
            let channel = number % Self.channels + 1
            let value = Int64(2_000 + (number &* 0x9E37_79B9 >> 7) % 500)
            readings[agent, default: []].append(
                Reading(
                    sequence: second * Self.channels + channel, channel: UInt16(channel),
                    time: Instant(nanoseconds: Int64(second) * 1_000_000_000),
                    outcome: .value(DecimalValue(coefficient: value, exponent: -2))))
        }
        committed += count
        var batch = StoreBatch()
        for agent in readings.keys.sorted() {
            var settled = NumberRanges()
            let part = readings[agent] ?? []
            settled.insert(1..<(part.last?.sequence ?? 1) + 1)
            batch.parts.append(
                StoreBatch.Part(key: Self.key(agent), readings: part, settled: settled, hops: 1))
        }
        return batch
    }

    /// Whose readings the queries are for.
    private var asked: PeerID { Self.key(min(3, agents)).peer }

    private static func key(_ agent: UInt64) -> RunKey {
        RunKey(peer: PeerID(high: agent, low: agent), run: RunID(value: agent << 8))
    }

    private static func mapping(
        _ agent: UInt64, _ moved: Duration, since: Instant = .zero
    ) -> ClockMapping {
        ClockMapping(
            boot: BootID(high: agent, low: agent),
            clock: ClockReading(rank: .network, unixOffset: offset + moved),
            uncertainty: .milliseconds(3), since: since)
    }

    private static func birth(_ agent: UInt64) -> StoreBatch.PeerBirth? {
        guard let node = try? NodeDescription(name: "agent \(agent)") else { return nil }
        let list = (1...UInt16(channels)).compactMap { number in
            ChannelDescription(name: "channel \(number)", unit: .celsius, scale: -2)
                .map { Channel(number: number, description: $0) }
        }
        let run = key(agent).run
        return StoreBatch.PeerBirth(
            peer: key(agent).peer,
            birth: Birth(
                number: 1, run: run, boot: BootID(high: agent, low: agent),
                node: node, channels: list))
    }

    private func say(_ name: String, _ value: Double, _ unit: String) {
        let tenths = (value * 10).rounded()
        print("\(name): \(tenths / 10) \(unit)")
        fflush(nil)
    }

    private static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

let arguments = CommandLine.arguments
guard arguments.count >= 2, access(arguments[1], F_OK) != 0,
    let count = UInt64(arguments.count > 2 ? arguments[2] : "10000000"),
    let agents = UInt64(arguments.count > 3 ? arguments[3] : "10"), agents > 0
else {
    print("usage: store-bench PATH-OF-A-NEW-FILE [READINGS [AGENTS]]")
    exit(64)
}
do {
    var bench = try Bench(arguments[1], agents: agents)
    try bench.fill(count)
    print("rows:")
    try bench.size("rows without windows")
    try bench.day()
    try bench.tidy()
    print("blocks:")
    try bench.size("blocks and all windows")
    try bench.day()
    try bench.chart()
    for pass in 1...2 as ClosedRange<Int64> { try bench.tidy(pass: pass) }
    try bench.size("blocks, narrow windows of the last day")
    try bench.day()
    try bench.chart()
    try bench.commitSeconds(100)
    try bench.query()
    try bench.redate()
} catch {
    print(error)
    exit(1)
}

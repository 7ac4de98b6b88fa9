import Collector
import Fleet
import NearbyCore
import Telemetry

/// Reads a store, also while a collector writes to it, and never writes.
///
/// Rows come in order of node, channel and time, in pages: between two pages nothing of the file is
/// held, so that a reader who waits for its own reader does not make the log grow.
public final class StoreReader {
    let database: Database
    private let page = 4_096
    let stored: ReadingTable
    let selectRunWindow: Statement
    let clocks: ClockTable
    /// What nodes and channels are called, and what becomes of values. Queries go by these names
    /// and by those that are stored.
    public var words = FleetWords.none
    /// Whether results are as agents sent them; queries match the shown names all the same.
    public var isRaw = false
    /// Of the stored windows; nil where none can be stored.
    public let windowWidth: Duration?

    /// Throws `.missing`, `.empty`, `.foreign`, `.older` or `.newer` where no store of this
    /// version's is.
    public init(_ path: String) throws(StoreError) {
        database = try Self.open(path)
        stored = try ReadingTable(database)
        selectRunWindow = try database.prepare(
            """
            SELECT first, last, received FROM run_windows WHERE run_id = ?1 AND number = ?2
            """)
        clocks = try ClockTable(database)
        windowWidth = try database.integer("SELECT value FROM settings WHERE name = 'window'")
            .flatMap { WindowGrid.widths.contains($0) ? .nanoseconds($0) : nil }
    }

    /// The channels that a query is about, in order of node, channel and time.
    public func series(_ query: StoreQuery) throws(StoreError) -> [StoredSeries] {
        let rows = try seriesRows(of: query)
        let oldest = try database.prepare(
            """
            SELECT min(time) FROM (
                SELECT (SELECT min(milliseconds) FROM readings
                    WHERE run_id = ?1 AND channel = ?2) AS time
                UNION ALL SELECT (SELECT min(first_milliseconds) FROM blocks
                    WHERE run_id = ?1 AND channel = ?2))
            """)
        var series: [(series: StoredSeries, begin: Int64)] = []
        var known: [BootID: (mappings: BootMappings, layout: Stretches?)] = [:]
        var labels: [Int64: [Label]] = [:]
        while try rows.step() {
            guard let peer = PeerID(bytes: rows.bytes(0)), let run = RunID(stored: rows.bytes(2)),
                let number = UInt16(exactly: rows.integer(3)), let unit = Unit(rows.text(5)),
                let scale = Int8(exactly: rows.integer(6)),
                let boot = BootID(stored: rows.bytes(7))
            else { continue }
            let node = rows.text(1)
            let name = words.name(of: peer, named: node)
            var shown = words.channel(of: peer, named: node, rows.text(4), unit, scale: scale)
            guard query.matches(peer, node, shown: name),
                query.matches(channel: rows.text(4), shown: shown.name)
            else { continue }
            if isRaw { shown = ShownChannel(name: rows.text(4), unit: unit, scale: scale) }
            if known[boot] == nil {
                known[boot] = (try clocks.mappings(of: boot), try clocks.layout(of: boot))
            }
            guard let clock = known[boot] else { continue }
            let isMoving = rows.integer(8) == 1
            let runID = rows.integer(9)
            if labels[runID] == nil {
                let own = Self.labels(rows.bytes(10))
                labels[runID] = isRaw ? own : words.labels(of: peer, named: node, own)
            }
            let next = StoredSeries(
                peer: peer, node: isRaw ? node : name, labels: labels[runID] ?? [], run: run,
                channel: shown.name, unit: shown.unit, scale: shown.scale,
                rank: clock.mappings.rank, map: shown.map, runID: runID, number: number,
                dating: clock.mappings.stretches, layout: isMoving ? nil : clock.layout,
                wideFrom: rows.optionalInteger(11))
            oldest.bind(1, runID).bind(2, Int64(number))
            let first = try oldest.step() ? oldest.optionalInteger(0) : nil
            oldest.reset()
            series.append((next, first.flatMap { next.dating?.utc($0) } ?? .min))
        }
        try database.checkSeal()
        if !words.isEmpty, !isRaw { Self.sort(&series) }
        return Self.inOrder(series)
    }

    /// By the names that are shown; those that are the same stay as they are.
    private static func sort(_ series: inout [(series: StoredSeries, begin: Int64)]) {
        func key(_ series: StoredSeries) -> (String, PeerID, String) {
            (series.node, series.peer, series.channel)
        }
        series = series.enumerated().sorted {
            let (left, right) = (key($0.element.series), key($1.element.series))
            return left == right ? $0.offset < $1.offset : left < right
        }.map(\.element)
    }

    private static func labels(_ birth: [UInt8]) -> [Label] {
        guard case .birth(let birth)? = try? TelemetryMessage(parsing: birth) else { return [] }
        return birth.node.labels
    }

    /// Runs that have the same channel by their oldest reading; else as they are.
    private static func inOrder(
        _ all: [(series: StoredSeries, begin: Int64)]
    ) -> [StoredSeries] {
        var result: [StoredSeries] = []
        var rest = all[...]
        while let first = rest.first?.series {
            let same = rest.prefix {
                $0.series.peer == first.peer && $0.series.channel == first.channel
            }
            result += same.sorted {
                ($0.begin, $0.series.runID) < ($1.begin, $1.series.runID)
            }.map(\.series)
            rest = rest.dropFirst(same.count)
        }
        return result
    }

    /// Of one peer where the query names just one: a page asks so for each of a thousand.
    private func seriesRows(of query: StoreQuery) throws(StoreError) -> Statement {
        guard query.peers.count == 1, case .id(let peer)? = query.peers.first else {
            return try database.prepare(Self.seriesSQL(""))
        }
        return try database.prepare(Self.seriesSQL("WHERE peers.peer = ?1")).bind(1, peer.bytes)
    }

    private static func seriesSQL(_ condition: String) -> String {
        """
        SELECT peers.peer, peers.name, runs.run, channels.number, channels.name, channels.unit,
            channels.scale, runs.boot,
            EXISTS (SELECT 1 FROM moved_windows WHERE run_id = runs.id), runs.id, runs.birth,
            runs.wide_from
        FROM channels JOIN runs ON runs.id = channels.run_id
        JOIN peers ON peers.id = runs.peer_id
        \(condition)
        ORDER BY peers.name, peers.peer, channels.name, runs.id
        """
    }

    /// All readings of the query, until `each` returns false.
    public func readings(
        _ query: StoreQuery, _ each: (StoredSeries, StoredReading) -> Bool
    ) throws(StoreError) {
        for series in try series(query) {
            for span in series.milliseconds(from: query.from, to: query.to) {
                var wantsMore = true
                try rows(of: series, within: span) { row, hops in
                    wantsMore = each(
                        series,
                        StoredReading(
                            sequence: UInt64(row.sequence),
                            utc: series.dating?.utc(row.milliseconds),
                            milliseconds: row.milliseconds, outcome: series.map(row.outcome),
                            hops: hops))
                    return wantsMore
                }
                if !wantsMore { return }
            }
        }
    }

    /// In order of time and sequence, until `each` returns false.
    func rows(
        of series: StoredSeries, within milliseconds: Range<Int64>,
        _ each: (ReadingRow, UInt8) -> Bool
    ) throws(StoreError) {
        var place = ReadingTable.Place(milliseconds: milliseconds.lowerBound, sequence: .min)
        while true {
            var rows: [StoredRow] = []
            try snapshot { () throws(StoreError) in
                rows = try stored.rows(
                    of: series.runID, channel: Int64(series.number), after: place,
                    before: milliseconds.upperBound, limit: page)
            }
            for row in rows where !each(row.reading, row.hops) { return }
            guard rows.count == page, let last = rows.last else { return }
            place = last.place
        }
    }

    /// What `body` reads is of one moment: a reading that is packed meanwhile would else be in the
    /// rows and in a block, or in neither.
    func snapshot(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try database.execute("BEGIN")
        defer { try? database.execute("COMMIT") }
        try body()
        try database.checkSeal()
    }

    /// Lines about blocks that could not be read, each told once.
    public func takeDiagnostics() -> [String] { stored.blocks.takeDiagnostics() }

    /// Readings that are left out because their blocks cannot be read: so many blocks so far.
    var damagedBlockCount: Int { stored.blocks.damagedCount }

    /// In order of time and sequence from the end on, at most so many, until `each` returns false.
    func rowsBackwards(
        of series: StoredSeries, within milliseconds: Range<Int64>, limit: Int,
        _ each: (ReadingRow, UInt8) -> Bool
    ) throws(StoreError) {
        var place = ReadingTable.Place(milliseconds: milliseconds.upperBound, sequence: .min)
        var left = limit
        while left > 0 {
            let page = min(left, page)
            var rows: [StoredRow] = []
            try snapshot { () throws(StoreError) in
                rows = try stored.rowsBackwards(
                    of: series.runID, channel: Int64(series.number), before: place,
                    from: milliseconds.lowerBound, limit: page)
            }
            for row in rows where !each(row.reading, row.hops) { return }
            guard rows.count == page, let last = rows.last else { return }
            place = last.place
            left -= rows.count
        }
    }

    /// In order of node and of the time at which the store first heard of them.
    public func runs(_ query: StoreQuery) throws(StoreError) -> [StoredRunSummary] {
        let rows = try database.prepare(Self.runsSQL)
        var runs: [StoredRunSummary] = []
        while try rows.step() {
            let node = rows.text(1)
            guard let peer = PeerID(bytes: rows.bytes(0)), let run = RunID(stored: rows.bytes(2)),
                let boot = BootID(stored: rows.bytes(3))
            else { continue }
            let name = words.name(of: peer, named: node)
            guard query.matches(peer, node, shown: name) else { continue }
            let mappings = try clocks.mappings(of: boot)
            let dating = mappings.stretches
            let utc = { (milliseconds: Int64?) in milliseconds.flatMap { dating?.utc($0) } }
            var settled = (try? NumberRanges(parsingStored: rows.bytes(4))) ?? NumberRanges()
            // No reading has it, though ranges begin with it.
            settled.remove(0..<1)
            runs.append(
                StoredRunSummary(
                    peer: peer, node: isRaw ? node : name, run: run, boot: boot,
                    rank: mappings.rank,
                    first: utc(rows.optionalInteger(5)), last: utc(rows.optionalInteger(6)),
                    channelCount: Int(clamping: rows.integer(7)), settledCount: settled.count))
        }
        try database.checkSeal()
        return runs
    }

    private static let runsSQL = """
        SELECT peers.peer, peers.name, runs.run, runs.boot, runs.settled,
            \(Retention.oldestSQL), \(Retention.newestSQL),
            (SELECT count(*) FROM channels WHERE run_id = runs.id)
        FROM runs JOIN peers ON peers.id = runs.peer_id
        ORDER BY peers.name, peers.peer, runs.id
        """
}

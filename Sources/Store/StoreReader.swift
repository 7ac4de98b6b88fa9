import Collector
import NearbyCore
import Telemetry

/// Reads a store, also while a collector writes to it, and never writes.
///
/// Rows come in order of node, channel and time, in pages: between two pages nothing of the file is
/// held, so that a reader who waits for its own reader does not make the log grow.
public final class StoreReader {
    let database: Database
    private let page: Int64 = 4_096
    private let selectReadings: Statement
    private let clocks: ClockTable
    /// Of the stored windows.
    let windowWidth: Duration?

    /// Throws `.foreign` or `.newer` for a file that is no store of ours or of a later version.
    public init(_ path: String) throws(StoreError) {
        database = try Database(path, .reading)
        try Schema.check(database)
        guard try database.integer("PRAGMA user_version") ?? 0 == Schema.version else {
            throw .older(path: path)
        }
        selectReadings = try database.prepare(
            """
            SELECT sequence, milliseconds, coefficient, exponent, reason, hops FROM readings
            WHERE run_id = ?1 AND channel = ?2 AND (milliseconds, sequence) > (?3, ?4)
            AND milliseconds < ?5 ORDER BY milliseconds, sequence LIMIT ?6
            """)
        clocks = try ClockTable(database)
        windowWidth = try database.integer("SELECT value FROM settings WHERE name = 'window'")
            .map { .nanoseconds($0) }
    }

    /// The channels that a query is about, in order of node, channel and time.
    public func series(_ query: StoreQuery) throws(StoreError) -> [StoredSeries] {
        let rows = try database.prepare(Self.seriesSQL)
        if let channel = query.channel { rows.bind(1, channel) }
        switch query.peer {
        case .id(let peer): rows.bind(2, peer.bytes)
        case .name(let name): rows.bind(3, name)
        case nil: break
        }
        var series: [StoredSeries] = []
        var known: [BootID: (mappings: BootMappings, layout: Stretches?)] = [:]
        while try rows.step() {
            guard let peer = PeerID(bytes: rows.bytes(0)), let run = RunID(stored: rows.bytes(2)),
                let number = UInt16(exactly: rows.integer(3)), let unit = Unit(rows.text(5)),
                let scale = Int8(exactly: rows.integer(6)), let boot = BootID(stored: rows.bytes(7))
            else { continue }
            if known[boot] == nil {
                known[boot] = (try clocks.mappings(of: boot), try clocks.layout(of: boot))
            }
            guard let clock = known[boot] else { continue }
            let isMoving = rows.integer(8) == 1
            series.append(
                StoredSeries(
                    peer: peer, node: rows.text(1), run: run, channel: rows.text(4), unit: unit,
                    scale: scale, rank: clock.mappings.rank, runID: rows.integer(9),
                    number: number, dating: clock.mappings.stretches,
                    layout: isMoving ? nil : clock.layout))
        }
        return series
    }

    private static let seriesSQL = """
        SELECT peers.peer, peers.name, runs.run, channels.number, channels.name, channels.unit,
            channels.scale, runs.boot,
            EXISTS (SELECT 1 FROM moved_windows WHERE run_id = runs.id), runs.id,
            (SELECT min(milliseconds) FROM readings
                WHERE run_id = runs.id AND channel = channels.number) AS oldest
        FROM channels JOIN runs ON runs.id = channels.run_id
        JOIN peers ON peers.id = runs.peer_id
        WHERE channels.name = coalesce(?1, channels.name)
        AND peers.peer = coalesce(?2, peers.peer) AND peers.name = coalesce(?3, peers.name)
        ORDER BY peers.name, peers.peer, channels.name, oldest + coalesce(
            (SELECT offset / 1000000 FROM clocks
                WHERE boot = runs.boot AND since <= oldest * 1000000 ORDER BY since DESC LIMIT 1),
            (SELECT offset / 1000000 FROM clocks WHERE boot = runs.boot ORDER BY since LIMIT 1)
        ), runs.id
        """

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
                            milliseconds: row.milliseconds, outcome: row.outcome, hops: hops))
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
        var position: (milliseconds: Int64, sequence: Int64) = (milliseconds.lowerBound, .min)
        while true {
            selectReadings.bind(1, series.runID).bind(2, Int64(series.number))
                .bind(3, position.milliseconds).bind(4, position.sequence)
                .bind(5, milliseconds.upperBound).bind(6, page)
            var rows: [(row: ReadingRow, hops: UInt8)] = []
            var count: Int64 = 0
            while try selectReadings.step() {
                count += 1
                position = (selectReadings.integer(1), selectReadings.integer(0))
                guard let row = ReadingRow(selectReadings, channel: series.number) else { continue }
                rows.append((row, UInt8(clamping: selectReadings.integer(5))))
            }
            for (row, hops) in rows where !each(row, hops) { return }
            if count < page { return }
        }
    }

    /// In order of node and of the time at which the store first heard of them.
    public func runs(_ query: StoreQuery) throws(StoreError) -> [StoredRunSummary] {
        let rows = try database.prepare(Self.runsSQL)
        var runs: [StoredRunSummary] = []
        while try rows.step() {
            let node = rows.text(1)
            guard let peer = PeerID(bytes: rows.bytes(0)), let run = RunID(stored: rows.bytes(2)),
                let boot = BootID(stored: rows.bytes(3)), query.matches(peer, node)
            else { continue }
            let mappings = try clocks.mappings(of: boot)
            let dating = mappings.stretches
            let utc = { (milliseconds: Int64?) in milliseconds.flatMap { dating?.utc($0) } }
            let settled = try? NumberRanges(parsingStored: rows.bytes(4))
            runs.append(
                StoredRunSummary(
                    peer: peer, node: node, run: run, boot: boot, rank: mappings.rank,
                    first: utc(rows.optionalInteger(5)), last: utc(rows.optionalInteger(6)),
                    channelCount: Int(clamping: rows.integer(7)), settledCount: settled?.count ?? 0)
            )
        }
        return runs
    }

    private static let runsSQL = """
        SELECT peers.peer, peers.name, runs.run, runs.boot, runs.settled,
            (SELECT min((SELECT min(milliseconds) FROM readings
                WHERE run_id = runs.id AND channel = channels.number))
            FROM channels WHERE run_id = runs.id),
            (SELECT max((SELECT max(milliseconds) FROM readings
                WHERE run_id = runs.id AND channel = channels.number))
            FROM channels WHERE run_id = runs.id),
            (SELECT count(*) FROM channels WHERE run_id = runs.id)
        FROM runs JOIN peers ON peers.id = runs.peer_id
        ORDER BY peers.name, peers.peer, runs.id
        """

    /// In order of node, run and first number.
    public func gaps(_ query: StoreQuery) throws(StoreError) -> [StoredGap] {
        let rows = try database.prepare(
            """
            SELECT peers.peer, peers.name, runs.run, gaps.first, gaps.count, gaps.reason
            FROM gaps JOIN runs ON runs.id = gaps.run_id JOIN peers ON peers.id = runs.peer_id
            ORDER BY peers.name, peers.peer, runs.id, gaps.first
            """)
        var gaps: [StoredGap] = []
        while try rows.step() {
            let (first, count) = (rows.integer(3), rows.integer(4))
            guard let peer = PeerID(bytes: rows.bytes(0)), let run = RunID(stored: rows.bytes(2)),
                first > 0, count > 0, let reason = UInt8(exactly: rows.integer(5))
            else { continue }
            let node = rows.text(1)
            guard query.matches(peer, node) else { continue }
            let range = UInt64(first)..<UInt64(first.addingSaturating(count))
            guard !range.isEmpty else { continue }
            gaps.append(
                StoredGap(
                    peer: peer, node: node,
                    gap: Gap(run: run, range: range, reason: GapReason(rawValue: reason))))
        }
        return gaps
    }
}

extension StoreQuery {
    func matches(_ id: PeerID, _ node: String) -> Bool {
        switch peer {
        case .id(let wanted): id == wanted
        case .name(let wanted): node == wanted
        case nil: true
        }
    }
}

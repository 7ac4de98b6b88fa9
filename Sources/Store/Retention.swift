import NearbyCore
import Telemetry

/// Deletes what is older than it shall be kept, slowly: at most a day's worth of readings of each
/// peer an hour, so that a clock that went wrong costs a day and not everything, and a peer with
/// absurd times is no hindrance to others.
///
/// Each hour the limit moves to `keep` before now, but for each peer at most to a day after its
/// oldest reading; what is older goes. The hour is counted by our monotonic clock, and over
/// restarts by UTC.
///
/// Only our own right clock deletes anything. Readings go by the mapping of their boot if that is
/// founded on it (`ClockMapping.isFounded`). Whatever else was said of a boot counts for nothing:
/// its readings go by when they came. Each sweep looks how new the newest reading of a run is, and
/// what our clock shows then; so much at least is the age of that one, and with it that of all
/// before it. And they go not before a right clock has known of their run for as long as they shall
/// be kept.
struct Retention {
    private let keep: Duration?
    private var sweep: Sweep?
    private var nextSweep: Instant?

    private struct Sweep {
        /// What is left to do, the last first.
        var runs: [Run]
    }

    private struct Run {
        var id: Int64
        /// Readings before this go, milliseconds of the board's clock.
        var end: Int64
        /// Windows before this go.
        var endWindow: Int64
    }

    init(keep: Duration?) { self.keep = keep }

    static let interval: Duration = .seconds(3_600)
    static let step: Duration = .seconds(86_400)

    /// Goes on with the sweep that is under way, or begins one if it is time. Returns how many
    /// readings were deleted; `left` goes down by all rows that were.
    ///
    /// - Parameter utc: ours, which is right; nanoseconds.
    mutating func sweep(
        _ database: Database, _ clocks: ClockTable, now: Instant, utc: Int64, width: Duration,
        _ left: inout Int
    ) throws(StoreError) -> Int {
        guard let keep, left > 0 else { return 0 }
        if sweep == nil, try isTime(database, now: now, utc: utc) {
            let target = utc.subtractingSaturating(keep.nanoseconds)
            sweep = try begin(database, clocks, target: target, utc: utc, width: width)
            nextSweep = now + Self.interval
        }
        var deleted = 0
        while let run = sweep?.runs.last {
            deleted += try delete(run, in: database, &left)
            if left <= 0 { return deleted }
            sweep?.runs.removeLast()
            if sweep?.runs.isEmpty == true { try deleteEmptyRuns(database) }
        }
        sweep = nil
        return deleted
    }

    private mutating func isTime(
        _ database: Database, now: Instant, utc: Int64
    ) throws(StoreError) -> Bool {
        if let nextSweep { return now >= nextSweep }
        guard let last = try database.integer("SELECT value FROM settings WHERE name = 'swept'")
        else { return true }
        let past = utc.subtractingSaturating(last)
        if past >= Self.interval.nanoseconds { return true }
        nextSweep = now + Self.interval - .nanoseconds(max(0, past))
        return false
    }

    /// A run with readings, and what dates them here.
    private struct DatedRun {
        var id: Int64
        var peerID: Int64
        var boot: BootID
        var dating: Stretches
        /// UTC nanoseconds.
        var oldest: Int64
    }

    private func begin(
        _ database: Database, _ clocks: ClockTable, target: Int64, utc: Int64, width: Duration
    ) throws(StoreError) -> Sweep {
        try database.execute(
            """
            INSERT OR REPLACE INTO settings VALUES ('swept', \(utc));
            UPDATE runs SET undated_since = \(utc) WHERE undated_since IS NULL
            """)
        let dated = try datedRuns(database, clocks, target: target, utc: utc)
        var oldest: [Int64: Int64] = [:]
        for run in dated { oldest[run.peerID] = min(oldest[run.peerID] ?? .max, run.oldest) }
        var runs: [Run] = []
        for run in dated {
            let first = oldest[run.peerID] ?? .max
            let limit = min(target, first.addingSaturating(Self.step.nanoseconds))
            let end = run.dating.firstMillisecond(notBefore: limit)
            runs.append(Self.run(run.id, end: end, try clocks.layout(of: run.boot), width: width))
        }
        return Sweep(runs: runs)
    }

    private func datedRuns(
        _ database: Database, _ clocks: ClockTable, target: Int64, utc: Int64
    ) throws(StoreError) -> [DatedRun] {
        let rows = try database.prepare(
            """
            SELECT id, peer_id, boot, undated_since, latest_offset,
                \(Self.readingTime("min")), \(Self.readingTime("max"))
            FROM runs
            """)
        var runs: [DatedRun] = []
        var bounds: [(id: Int64, offset: Int64)] = []
        while try rows.step() {
            let id = rows.integer(0)
            guard let boot = BootID(stored: rows.bytes(2)),
                let first = rows.optionalInteger(5), let newest = rows.optionalInteger(6)
            else { continue }
            let mappings = try clocks.mappings(of: boot)
            var dating = mappings.isFounded ? mappings.stretches : nil
            if dating == nil {
                let bound = Self.latestOffset(
                    newest: newest, utc: utc, known: rows.optionalInteger(4))
                if bound != rows.optionalInteger(4) { bounds.append((id, bound)) }
                if rows.integer(3) <= target { dating = Stretches([(0, bound)]) }
            }
            guard let dating else { continue }
            runs.append(
                DatedRun(
                    id: id, peerID: rows.integer(1), boot: boot, dating: dating,
                    oldest: dating.utc(first)))
        }
        let update = try database.prepare("UPDATE runs SET latest_offset = ?2 WHERE id = ?1")
        for bound in bounds { try update.bind(1, bound.id).bind(2, bound.offset).run() }
        return runs
    }

    /// Channel by channel, so that the index serves.
    private static func readingTime(_ function: String) -> String {
        """
        (SELECT \(function)((SELECT \(function)(milliseconds) FROM readings
            WHERE run_id = runs.id AND channel = channels.number))
        FROM channels WHERE run_id = runs.id)
        """
    }

    /// UTC less the board's clock is at most this: its newest reading is here now. What a sweep
    /// lowers it by is bounded as well, for our own clock may be wrong for an hour.
    private static func latestOffset(newest: Int64, utc: Int64, known: Int64?) -> Int64 {
        let (nanoseconds, overflow) = newest.multipliedReportingOverflow(by: 1_000_000)
        let seen = utc.subtractingSaturating(overflow ? .max : nanoseconds)
        guard let known else { return seen }
        return min(known, max(seen, known.subtractingSaturating(step.nanoseconds)))
    }

    private static func run(
        _ id: Int64, end: Int64, _ layout: Stretches?, width: Duration
    ) -> Run {
        let grid = layout.map { WindowGrid(width: width, stretches: $0) }
        return Run(id: id, end: end, endWindow: grid?.lowestNumber(from: end) ?? .min)
    }

    private func delete(
        _ run: Run, in database: Database, _ left: inout Int
    ) throws(StoreError) -> Int {
        let before = left
        try delete(
            "readings", "run_id, sequence",
            """
            run_id = ?1 AND channel IN (SELECT number FROM channels WHERE run_id = ?1)
            AND milliseconds < ?2
            """, run.id, run.end, in: database, &left)
        let deleted = before - left
        try delete(
            "windows", "run_id, channel, number",
            """
            run_id = ?1 AND channel IN (SELECT number FROM channels WHERE run_id = ?1)
            AND number < ?2
            """, run.id, run.endWindow, in: database, &left)
        try delete(
            "run_windows", "run_id, number", "run_id = ?1 AND number < ?2", run.id,
            run.endWindow, in: database, &left)
        try delete(
            "due_windows", "number, run_id", "run_id = ?1 AND number < ?2", run.id,
            run.endWindow, in: database, &left)
        return deleted
    }

    private func delete(
        _ table: String, _ key: String, _ condition: String, _ run: Int64, _ end: Int64,
        in database: Database, _ left: inout Int
    ) throws(StoreError) {
        guard left > 0 else { return }
        try database.prepare(
            """
            DELETE FROM \(table) WHERE (\(key)) IN
            (SELECT \(key) FROM \(table) WHERE \(condition) LIMIT ?3)
            """
        ).bind(1, run).bind(2, end).bind(3, Int64(left)).run()
        left -= database.changeCount
    }

    /// The newest run of a peer stays, since its agent may be there; were it another, `commit`
    /// would ask for its birth again.
    private func deleteEmptyRuns(_ database: Database) throws(StoreError) {
        let runs = try database.prepare(
            """
            SELECT id, boot FROM runs
            WHERE NOT EXISTS (SELECT 1 FROM readings WHERE run_id = runs.id)
            AND id NOT IN (SELECT max(id) FROM runs GROUP BY peer_id)
            """)
        var gone: [(id: Int64, boot: [UInt8])] = []
        while try runs.step() { gone.append((runs.integer(0), runs.bytes(1))) }
        for run in gone {
            for table in [
                "channels", "gaps", "windows", "run_windows", "due_windows", "moved_windows",
            ] {
                try database.execute("DELETE FROM \(table) WHERE run_id = \(run.id)")
            }
            try database.execute("DELETE FROM runs WHERE id = \(run.id)")
            for table in ["clocks", "window_clocks"] {
                try database.prepare(
                    """
                    DELETE FROM \(table) WHERE boot = ?1
                    AND NOT EXISTS (SELECT 1 FROM runs WHERE boot = ?1)
                    """
                ).bind(1, run.boot).run()
            }
        }
    }
}

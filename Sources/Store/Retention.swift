import NearbyCore
import Telemetry

/// Deletes what is older than it shall be kept, slowly: at most a day's worth of readings of each
/// peer an hour, so that a clock that went wrong costs a day and not everything, and a peer with
/// absurd times is no hindrance to others.
///
/// Each hour a sweep begins with a `RetentionPlan`, which decides; what it says is then deleted in
/// bounded steps, over as many calls as that takes. What outputs still need is asked at each step
/// (`OutputHolds`). Only our own right clock deletes anything: whatever was said of a boot that is
/// not founded on it (`ClockMapping.isFounded`) counts for nothing.
struct Retention {
    private let keep: Duration?
    /// Who may still need what is older.
    var outputs: [OutputRegistration] = []
    /// The sweep that is under way.
    private var underWay: Sweep?
    /// What the last sweep found when it began.
    private(set) var holds = Store.Holds()
    private var nextSweep: Instant?

    private struct Sweep {
        /// What is left to do.
        var cuts: ArraySlice<RetentionPlan.Cut>
        var later: LaterCuts
    }

    /// What a call of `sweep` deleted.
    struct Swept {
        /// Of readings.
        var count = 0
        /// Those that readings were deleted by.
        var cuts: [RetentionPlan.Cut] = []
    }

    init(keep: Duration?) { self.keep = keep }

    /// Goes on with the sweep that is under way, or begins one if it is time; `left` goes down by
    /// all rows that were deleted.
    ///
    /// - Parameter utc: ours, which is right; nanoseconds.
    mutating func sweep(
        _ database: Database, _ readings: ReadingTable, _ clocks: ClockTable, now: Instant,
        utc: Int64, width: Duration, _ left: inout Int
    ) throws(StoreError) -> Swept {
        var swept = Swept()
        guard let keep, left > 0 else { return swept }
        if underWay == nil {
            guard try isTime(database, now: now, utc: utc) else { return swept }
            try begin(database, utc: utc)
            let runs = try runs(database, clocks)
            let plan = RetentionPlan(runs, keep: keep, utc: utc, width: width)
            try note(plan.bounds, database)
            var later = LaterCuts(runs, keep: keep, utc: utc, width: width)
            later.prepare(for: outputs)
            holds = try OutputHolds(database, readings, outputs).found(plan.cuts, later)
            underWay = Sweep(cuts: plan.cuts[...], later: later)
            nextSweep = now + RetentionPlan.interval
        }
        underWay?.later.prepare(for: outputs)
        guard let later = underWay?.later else { return swept }
        let cutter = try BlockCutter(database, readings.blocks)
        // Between two calls others commit, register and save cursors; within one nobody does.
        let outputHolds = try OutputHolds(database, readings, outputs)
        while let cut = underWay?.cuts.first {
            let count = try delete(outputHolds.held(cut, later), cutter, in: database, &left)
            swept.count += count
            if count > 0 { swept.cuts.append(cut) }
            if left <= 0 { return swept }
            underWay?.cuts.removeFirst()
            if underWay?.cuts.isEmpty == true { try deleteEmptyRuns(database) }
        }
        underWay = nil
        return swept
    }

    private mutating func isTime(
        _ database: Database, now: Instant, utc: Int64
    ) throws(StoreError) -> Bool {
        if let nextSweep { return now >= nextSweep }
        let last = try database.integer("SELECT value FROM settings WHERE name = 'swept'")
        nextSweep = RetentionPlan.start(after: last, now: now, utc: utc)
        return nextSweep == nil
    }

    // MARK: What the plan rests on

    private func begin(_ database: Database, utc: Int64) throws(StoreError) {
        try database.execute(
            """
            INSERT OR REPLACE INTO settings VALUES ('swept', \(utc));
            UPDATE runs SET undated_since = \(utc) WHERE undated_since IS NULL
            """)
    }

    private func runs(
        _ database: Database, _ clocks: ClockTable
    ) throws(StoreError) -> [RetentionPlan.Run] {
        let rows = try database.prepare(
            """
            SELECT id, peer_id, boot, undated_since, latest_offset,
                \(Self.oldestSQL), \(Self.newestSQL)
            FROM runs ORDER BY id
            """)
        var runs: [RetentionPlan.Run] = []
        while try rows.step() {
            guard let boot = BootID(stored: rows.bytes(2)),
                let oldest = rows.optionalInteger(5), let newest = rows.optionalInteger(6)
            else { continue }
            let mappings = try clocks.mappings(of: boot)
            runs.append(
                RetentionPlan.Run(
                    id: rows.integer(0), peerID: rows.integer(1), knownSince: rows.integer(3),
                    latestOffset: rows.optionalInteger(4), oldest: oldest, newest: newest,
                    dating: mappings.isFounded ? mappings.stretches : nil,
                    windows: try clocks.layout(of: boot)))
        }
        return runs
    }

    /// Of a run's readings, milliseconds of the board's clock. Channel by channel, so that the
    /// indexes serve. A damaged row says nothing of them.
    static let oldestSQL = time("min", "first_milliseconds")
    static let newestSQL = time("max", "last_milliseconds")

    private static func time(_ function: String, _ column: String) -> String {
        """
        (SELECT \(function)(time) FROM (
            SELECT (SELECT \(function)(milliseconds) FROM readings
                WHERE run_id = runs.id AND channel = channels.number
                AND \(ReadingTable.hasLegalTime)) AS time
            FROM channels WHERE run_id = runs.id
            UNION ALL
            SELECT (SELECT \(function)(\(column)) FROM blocks
                WHERE run_id = runs.id AND channel = channels.number
                AND \(BlockTable.hasLegalTimes))
            FROM channels WHERE run_id = runs.id))
        """
    }

    private func note(
        _ bounds: [RetentionPlan.Bound], _ database: Database
    ) throws(StoreError) {
        let update = try database.prepare("UPDATE runs SET latest_offset = ?2 WHERE id = ?1")
        for bound in bounds { try update.bind(1, bound.run).bind(2, bound.latestOffset).run() }
    }

    // MARK: Carrying it out

    private func delete(
        _ held: HeldCut, _ cutter: BlockCutter, in database: Database, _ left: inout Int
    ) throws(StoreError) -> Int {
        let before = left
        let cut = held.cut
        try delete(
            "readings", "run_id, sequence",
            """
            run_id = ?1 AND channel IN (SELECT number FROM channels WHERE run_id = ?1)
            AND milliseconds < ?2 AND (sequence < \(held.firstHeld) OR milliseconds < \(held.end))
            """, cut.run, cut.end, in: database, &left)
        let deleted = before - left + (try cutter.delete(held, &left))
        if !outputs.isEmpty { try deleteChanges(of: cut.run, in: database, &left) }
        try delete(
            "windows", "run_id, channel, number",
            """
            run_id = ?1 AND channel IN (SELECT number FROM channels WHERE run_id = ?1)
            AND number < ?2
            """, cut.run, cut.endWindow, in: database, &left)
        try delete(
            "wide_windows", "run_id, channel, number",
            """
            run_id = ?1 AND channel IN (SELECT number FROM channels WHERE run_id = ?1)
            AND number < ?2
            """, cut.run, WideWindows.number(of: cut.endWindow), in: database, &left)
        try delete(
            "due_wide_windows", "number, run_id", "run_id = ?1 AND number < ?2", cut.run,
            WideWindows.number(of: cut.endWindow), in: database, &left)
        try delete(
            "run_windows", "run_id, number", "run_id = ?1 AND number < ?2", cut.run,
            cut.endWindow, in: database, &left)
        try delete(
            "due_windows", "number, run_id", "run_id = ?1 AND number < ?2", cut.run,
            cut.endWindow, in: database, &left)
        return deleted
    }

    /// Those whose readings are all gone; readers see by the totals how many these were.
    private func deleteChanges(
        of run: Int64, in database: Database, _ left: inout Int
    ) throws(StoreError) {
        let first = try database.prepare(
            """
            SELECT (SELECT sequence FROM readings WHERE run_id = ?1 ORDER BY sequence LIMIT 1),
                (SELECT min(first_sequence) FROM blocks
                    WHERE run_id = ?1 AND \(BlockTable.hasLegalNumbers)
                    AND last_sequence < \(Limits.blockSequencesMax) + (
                        SELECT min(last_sequence) FROM blocks
                        WHERE run_id = ?1 AND \(BlockTable.hasLegalNumbers)))
            """
        ).bind(1, run)
        var end = Int64.max
        if try first.step() {
            end = min(first.optionalInteger(0) ?? .max, first.optionalInteger(1) ?? .max)
        }
        first.reset()
        try delete(
            "changes", "id",
            "run_id = ?1 AND low < ?2 AND high < ?2 AND kind = \(Change.Kind.committed.rawValue)"
                + " AND \(ChangeLog.isNotUnderWay)",
            run, end, in: database, &left)
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
    /// would ask for its birth again. Damaged rows whose time nobody knows go with their run.
    private func deleteEmptyRuns(_ database: Database) throws(StoreError) {
        let runs = try database.prepare(
            """
            SELECT id, boot FROM runs
            WHERE NOT EXISTS (SELECT 1 FROM readings
                WHERE run_id = runs.id AND \(ReadingTable.hasLegalTime))
            AND NOT EXISTS (SELECT 1 FROM blocks
                WHERE run_id = runs.id AND \(BlockTable.hasLegalTimes))
            AND id NOT IN (SELECT max(id) FROM runs GROUP BY peer_id)
            """)
        var gone: [(id: Int64, boot: [UInt8])] = []
        while try runs.step() { gone.append((runs.integer(0), runs.bytes(1))) }
        for run in gone {
            for table in [
                "channels", "gaps", "windows", "run_windows", "due_windows", "moved_windows",
                "wide_windows", "due_wide_windows", "output_history", "readings", "blocks",
            ] {
                try database.execute("DELETE FROM \(table) WHERE run_id = \(run.id)")
            }
            try database.execute(
                "DELETE FROM changes WHERE run_id = \(run.id) AND \(ChangeLog.isNotUnderWay)")
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

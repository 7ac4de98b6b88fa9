import NearbyCore

/// A cut of retention, without what outputs have still to deliver.
struct HeldCut: Hashable {
    var cut: RetentionPlan.Cut
    /// Readings from this number on are deleted only where they are before `end`: they may not be
    /// delivered yet.
    var firstHeld: Int64 = .max
    /// Milliseconds of the board's clock.
    var end: Int64 = .min
}

/// How far the runs of a sweep are cut for outputs that hold readings back: by plans like its own,
/// in which readings are kept so much longer.
struct LaterCuts {
    private let runs: [RetentionPlan.Run]
    private let keep: Duration
    private let utc: Int64
    private let width: Duration
    /// By the hold, then by the run.
    private var ends: [Duration: [Int64: Int64]] = [:]

    /// All as the sweep's own plan had it.
    init(_ runs: [RetentionPlan.Run], keep: Duration, utc: Int64, width: Duration) {
        self.runs = runs
        self.keep = keep
        self.utc = utc
        self.width = width
    }

    /// Makes the plans that these outputs need and that there are none of yet.
    mutating func prepare(for outputs: [OutputRegistration]) {
        for hold in Set(outputs.map(\.hold)) where ends[hold] == nil {
            let plan = RetentionPlan(runs, keep: keep + hold, utc: utc, width: width)
            ends[hold] = [:]
            for cut in plan.cuts { ends[hold]?[cut.run] = cut.end }
        }
    }

    /// Milliseconds of the board's clock. A run that nothing dates is cut later, or not at all.
    func end(of run: Int64, for output: OutputRegistration) -> Int64 {
        ends[output.hold]?[run] ?? .min
    }
}

/// What retention leaves to outputs that have not delivered it: up to `hold` beyond `keep`. Good as
/// long as nobody writes to the log or moves a cursor.
struct OutputHolds {
    private let outputs: [OutputRegistration]
    private let selectChange: Statement
    private let selectHistory: Statement
    private let readings: ReadingTable
    private let changes: [String: Int64]

    init(
        _ database: Database, _ readings: ReadingTable, _ outputs: [OutputRegistration]
    ) throws(StoreError) {
        self.outputs = outputs
        selectChange = try database.prepare(
            """
            SELECT low FROM changes WHERE run_id = ?1 AND id > ?2 ORDER BY low LIMIT 1
            """)
        selectHistory = try database.prepare(
            """
            SELECT CASE history_run WHEN ?2 THEN history_sequence + 1 ELSE 1 END
            FROM output_history JOIN cursors ON name = output WHERE output = ?1 AND run_id = ?2
            """)
        self.readings = readings
        var changes: [String: Int64] = [:]
        for progress in try CursorTable(database).all() {
            changes[progress.name] = progress.cursor.change
        }
        self.changes = changes
    }

    /// What may go of a cut now.
    func held(_ cut: RetentionPlan.Cut, _ later: LaterCuts) throws(StoreError) -> HeldCut {
        var held = HeldCut(cut: cut)
        for output in outputs {
            guard let first = try firstNeeded(by: output, of: cut.run) else { continue }
            let end = later.end(of: cut.run, for: output)
            held.end = held.firstHeld == .max ? end : min(held.end, end)
            held.firstHeld = min(held.firstHeld, first)
        }
        return held
    }

    /// For whom these cuts hold readings back, and whose they delete.
    func found(
        _ cuts: [RetentionPlan.Cut], _ later: LaterCuts
    ) throws(StoreError) -> Store.Holds {
        var found = Store.Holds()
        for cut in cuts {
            for output in outputs {
                guard let first = try firstNeeded(by: output, of: cut.run),
                    let oldest = try oldest(of: cut.run, from: first)
                else { continue }
                if oldest < cut.end { found.held.insert(output.name) }
                if oldest < later.end(of: cut.run, for: output) { found.lost.insert(output.name) }
            }
        }
        return found
    }

    /// The lowest number that the output may not have delivered; nil if it has the whole run.
    private func firstNeeded(
        by output: OutputRegistration, of run: Int64
    ) throws(StoreError) -> Int64? {
        var first: Int64?
        // What others have still to deliver stands before it in the log, perhaps.
        selectChange.bind(1, run).bind(2, changes[output.name] ?? 0)
        if try selectChange.step() { first = selectChange.integer(0) }
        selectChange.reset()
        guard output.wantsHistory else { return first }
        selectHistory.bind(1, output.name).bind(2, run)
        if try selectHistory.step() {
            first = min(first ?? .max, selectHistory.integer(0))
        }
        selectHistory.reset()
        return first
    }

    /// Milliseconds of the first that is needed: the oldest, but for what came out of order.
    private func oldest(of run: Int64, from first: Int64) throws(StoreError) -> Int64? {
        let rows = try readings.rows(of: run, sequences: first...Int64.max, limit: 1)
        return rows.first?.reading.milliseconds
    }
}

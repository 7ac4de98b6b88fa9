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

/// What retention leaves to outputs that have not delivered it: up to `hold` beyond `keep`.
struct OutputHolds {
    private let outputs: [OutputRegistration]
    private let keep: Duration
    private let database: Database
    private let selectChange: Statement
    private let selectHistory: Statement
    private let readings: ReadingTable
    private let changes: [String: Int64]
    private(set) var found = Store.Holds()

    init(
        _ database: Database, _ readings: ReadingTable, _ outputs: [OutputRegistration],
        keep: Duration
    ) throws(StoreError) {
        self.outputs = outputs
        self.keep = keep
        self.database = database
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

    /// The plan's cuts, in its order.
    mutating func cuts(
        _ plan: RetentionPlan, _ runs: [RetentionPlan.Run], utc: Int64, width: Duration
    ) throws(StoreError) -> [HeldCut] {
        var ends: [Duration: [Int64: Int64]] = [:]
        for hold in Set(outputs.map(\.hold)) {
            let later = RetentionPlan(runs, keep: keep + hold, utc: utc, width: width)
            for cut in later.cuts { ends[hold, default: [:]][cut.run] = cut.end }
        }
        var cuts: [HeldCut] = []
        for cut in plan.cuts {
            var held = HeldCut(cut: cut)
            for output in outputs {
                guard let first = try firstNeeded(by: output, of: cut.run) else { continue }
                // A run that nothing dates is cut later, or not at all.
                let end = ends[output.hold]?[cut.run] ?? .min
                held.end = held.firstHeld == .max ? end : min(held.end, end)
                held.firstHeld = min(held.firstHeld, first)
                try judge(output, first, cut, end: end)
            }
            cuts.append(held)
        }
        return cuts
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

    /// The first that is needed is the oldest, but for what came out of order.
    private mutating func judge(
        _ output: OutputRegistration, _ first: Int64, _ cut: RetentionPlan.Cut, end: Int64
    ) throws(StoreError) {
        let rows = try readings.rows(of: cut.run, sequences: first...max(first, .max), limit: 1)
        guard let milliseconds = rows.first?.reading.milliseconds else { return }
        if milliseconds < cut.end { found.held.insert(output.name) }
        if milliseconds < end { found.lost.insert(output.name) }
    }
}

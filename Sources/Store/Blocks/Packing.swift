import NearbyCore
import Telemetry

/// Puts readings that lie in rows into blocks, an hour after they came: a row takes some forty
/// bytes, a reading in a block four. Nobody who asks for readings sees a difference, so that it
/// does not matter that an hour is told by the board's clock.
///
/// It goes through all runs that have rows, once a minute. Of each it takes rows from the lowest
/// number on, all channels together, because they lie side by side in the file. What a step takes
/// away and what it adds is in one transaction with it.
struct Packing {
    private let database: Database
    private let readings: ReadingTable
    private let statements: CommitStatements
    private let writer: BlockWriter
    private let selectRun: Statement
    private let selectEnds: Statement
    private let deleteRows: Statement
    /// Runs that were written to since the last step, and when the others were written to last.
    private var written: Set<Int64> = []
    private var lastWritten: [Int64: Instant] = [:]
    private var state = State.atRest(until: nil)

    private enum State {
        /// Nil: there was no pass yet.
        case atRest(until: Instant?)
        /// Through the runs, from this one on.
        case passing(from: Int64)
    }

    private struct Ends {
        var first: Int64
        var last: Int64
        /// Of the reading with the highest number.
        var newest: Int64
    }

    init(
        _ database: Database, _ readings: ReadingTable, _ statements: CommitStatements
    ) throws(StoreError) {
        self.database = database
        self.readings = readings
        self.statements = statements
        writer = BlockWriter(readings.blocks)
        selectRun = try database.prepare(
            "SELECT run_id FROM readings WHERE run_id >= ?1 ORDER BY run_id LIMIT 1")
        selectEnds = try database.prepare(
            """
            SELECT (SELECT sequence FROM readings WHERE run_id = ?1 ORDER BY sequence LIMIT 1),
                sequence, milliseconds FROM readings WHERE run_id = ?1
                ORDER BY sequence DESC LIMIT 1
            """)
        deleteRows = try database.prepare(
            "DELETE FROM readings WHERE run_id = ?1 AND sequence BETWEEN ?2 AND ?3")
    }

    mutating func wrote(to run: Int64) { written.insert(run) }

    /// A bounded piece of the work; `left` goes down by the rows that were packed. Within a
    /// transaction.
    mutating func step(now: Instant, _ left: inout Int) throws(StoreError) {
        for run in written { lastWritten[run] = now }
        written = []
        if case .atRest(let until) = state {
            // A time that is further off was by another clock.
            if let until, now < until, until - now <= Self.interval { return }
            state = .passing(from: .min)
        }
        while case .passing(let from) = state, left > 0 {
            guard let run = try run(from: from) else {
                state = .atRest(until: now + Self.interval)
                lastWritten = lastWritten.filter { now - $0.value < Self.age }
                return
            }
            let since = lastWritten[run] ?? now
            lastWritten[run] = since
            let count = try pack(run, isQuiet: now - since >= Self.age, limit: left)
            left -= max(1, count)
            state = .passing(from: count > 0 ? run : run.addingSaturating(1))
        }
    }

    /// All rows of all runs, however new they are.
    func packAll(limit: Int = 1_000) throws(StoreError) {
        var from = Int64.min
        while let run = try run(from: from) {
            if try pack(run, isQuiet: true, limit: limit) == 0 { from = run.addingSaturating(1) }
        }
    }

    private func run(from first: Int64) throws(StoreError) -> Int64? {
        selectRun.bind(1, first)
        defer { selectRun.reset() }
        return try selectRun.step() ? selectRun.integer(0) : nil
    }

    /// - Parameter isQuiet: nothing has come for an hour, so all of it is old.
    private func pack(_ run: Int64, isQuiet: Bool, limit: Int) throws(StoreError) -> Int {
        guard let ends = try ends(of: run), ends.first <= ends.last else { return 0 }
        let old = ends.newest.subtractingSaturating(Self.age.nanoseconds / 1_000_000)
        let many = ends.last.subtractingSaturating(Limits.rowsOfRunMax)
        let rows = try readings.storedRows(of: run, sequences: ends.first...ends.last, limit: limit)
            .prefix {
                isQuiet || $0.reading.milliseconds < old || $0.reading.sequence < many
            }
        guard let last = rows.last?.reading.sequence else { return 0 }
        var channels: [UInt16: [StoredRow]] = [:]
        var sequences = NumberRanges()
        for row in rows {
            channels[row.reading.channel, default: []].append(row)
            let sequence = UInt64(row.reading.sequence)
            sequences.insert(sequence..<sequence + 1)
        }
        for (_, rows) in channels.sorted(by: { $0.key < $1.key }) {
            _ = try writer.write(rows, of: run)
        }
        try deleteRows.bind(1, run).bind(2, ends.first).bind(3, last).run()
        // So that `commit` need not look into blocks for a number that is not settled.
        try statements.settle(sequences, run: run)
        return rows.count
    }

    private func ends(of run: Int64) throws(StoreError) -> Ends? {
        selectEnds.bind(1, run)
        defer { selectEnds.reset() }
        guard try selectEnds.step() else { return nil }
        return Ends(
            first: selectEnds.integer(0), last: selectEnds.integer(1),
            newest: selectEnds.integer(2))
    }

    /// From when a reading is old, and a run that nothing comes of is quiet.
    private static let age: Duration = .seconds(3_600)
    /// From the end of a pass to the next.
    private static let interval: Duration = .seconds(60)
}

extension Limits {
    /// Numbers of a run beyond which rows are packed although they are not old.
    static let rowsOfRunMax: Int64 = 1_000_000
}

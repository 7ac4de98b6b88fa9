import Collector
import NearbyCore
import Telemetry

/// Windows that have to be laid anew, because what they lie by has changed: they are deleted, then
/// the readings of their time are looked through for windows that are due.
struct MovedWindows {
    /// Windows of one run, by their numbers.
    struct Moved: Hashable {
        var runID: Int64
        /// Nil for a run that is gone.
        var boot: BootID?
        var numbers: ClosedRange<Int64>
        /// Nil while there are windows to delete; then the board's milliseconds.
        var cursor: Int64?
    }

    /// Entries of one run; beyond, one that covers them all replaces them.
    static let entriesMax = 64

    private let database: Database
    private let selectNext: Statement
    private let selectSpan: Statement
    private let insert: Statement
    private let delete: Statement
    private let deleteAll: Statement
    private let selectChannels: Statement
    private let readings: ReadingTable
    private let wide: WideWindows
    private let insertDue: Statement

    init(
        _ database: Database, _ readings: ReadingTable, _ wide: WideWindows
    ) throws(StoreError) {
        self.database = database
        self.wide = wide
        self.readings = readings
        selectNext = try database.prepare(
            """
            SELECT run_id, runs.boot, first, last, cursor FROM moved_windows
            LEFT JOIN runs ON runs.id = run_id LIMIT 1
            """)
        selectSpan = try database.prepare(
            "SELECT count(*), min(first), max(last) FROM moved_windows WHERE run_id = ?1")
        insert = try database.prepare(
            "INSERT OR REPLACE INTO moved_windows VALUES (?1, ?2, ?3, ?4)")
        delete = try database.prepare(
            "DELETE FROM moved_windows WHERE run_id = ?1 AND first = ?2 AND last = ?3")
        deleteAll = try database.prepare("DELETE FROM moved_windows WHERE run_id = ?1")
        selectChannels = try database.prepare("SELECT number FROM channels WHERE run_id = ?1")
        insertDue = try database.prepare("INSERT OR IGNORE INTO due_windows VALUES (?2, ?1)")
    }

    func add(_ numbers: [ClosedRange<Int64>], of runID: Int64) throws(StoreError) {
        for numbers in numbers {
            try store(Moved(runID: runID, boot: nil, numbers: numbers, cursor: nil))
        }
        selectSpan.bind(1, runID)
        guard try selectSpan.step() else { return }
        let (count, first, last) = (
            selectSpan.integer(0), selectSpan.integer(1), selectSpan.integer(2)
        )
        selectSpan.reset()
        guard count > Self.entriesMax else { return }
        try deleteAll.bind(1, runID).run()
        try store(Moved(runID: runID, boot: nil, numbers: first...last, cursor: nil))
    }

    /// The work that is to be done next; nil if there is none.
    func next() throws(StoreError) -> Moved? {
        guard try selectNext.step() else { return nil }
        defer { selectNext.reset() }
        let first = selectNext.integer(2)
        return Moved(
            runID: selectNext.integer(0), boot: BootID(stored: selectNext.bytes(1)),
            numbers: first...max(first, selectNext.integer(3)),
            cursor: selectNext.optionalInteger(4))
    }

    /// Goes on with the work until it is done or nothing is left of the budget.
    ///
    /// - Parameter grid: what windows lie by now; nil if the boot has none.
    func lay(_ moved: Moved, _ grid: WindowGrid?, _ left: inout Int) throws(StoreError) {
        var moved = moved
        if moved.cursor == nil {
            try clear(moved, &left)
            if left <= 0 { return }
            moved.cursor = 0
            // The wide ones at the edges went as well.
            let edges = [moved.numbers.lowerBound, moved.numbers.upperBound]
            try wide.mark(edges.filter { $0.magnitude < Self.implausible }, of: moved.runID)
        }
        if let grid {
            moved.cursor = try enter(moved, from: moved.cursor ?? 0, grid, &left)
            if moved.cursor != nil { return try store(moved) }
        }
        try delete.bind(1, moved.runID).bind(2, moved.numbers.lowerBound)
            .bind(3, moved.numbers.upperBound).run()
        left -= 1
    }

    private func store(_ moved: Moved) throws(StoreError) {
        try insert.bind(1, moved.runID).bind(2, moved.numbers.lowerBound)
            .bind(3, moved.numbers.upperBound).bind(4, optional: moved.cursor).run()
    }

    /// No window that has readings has such a number.
    private static let implausible: UInt64 = 1 << 62

    private func clear(_ moved: Moved, _ left: inout Int) throws(StoreError) {
        for (table, key) in Self.windowKeys where left > 0 {
            let hasChannels = key.contains("channel")
            let isWide = table.contains("wide")
            let numbers = [moved.numbers.lowerBound, moved.numbers.upperBound].map {
                isWide ? WideWindows.number(of: $0) : $0
            }
            let delete = try database.prepare(
                """
                DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table)
                WHERE run_id = ?1 AND number BETWEEN ?2 AND ?3
                \(hasChannels ? Self.ofAllChannels : "") LIMIT ?4)
                """)
            try delete.bind(1, moved.runID).bind(2, numbers[0]).bind(3, numbers[1])
                .bind(4, Int64(left)).run()
            left -= database.changeCount
        }
    }

    private static let windowKeys = [
        ("windows", "run_id, channel, number"), ("run_windows", "run_id, number"),
        ("due_windows", "number, run_id"), ("wide_windows", "run_id, channel, number"),
        ("due_wide_windows", "number, run_id"),
    ]

    /// So that the index over channel and number serves.
    private static let ofAllChannels =
        "AND channel IN (SELECT number FROM channels WHERE run_id = ?1)"

    /// Returns where to go on; nil at the end.
    private func enter(
        _ moved: Moved, from start: Int64, _ grid: WindowGrid, _ left: inout Int
    ) throws(StoreError) -> Int64? {
        var channels: [Int64] = []
        selectChannels.bind(1, moved.runID)
        while try selectChannels.step() { channels.append(selectChannels.integer(0)) }
        for span in grid.milliseconds(of: moved.numbers) {
            var cursor = max(start, span.lowerBound)
            while let number = grid.number(at: cursor), cursor < span.upperBound {
                if left <= 0 { return cursor }
                // A reading before this need not be the first: the window is due.
                let border = min(span.upperBound, grid.nextBorder(after: cursor, in: number))
                var first = span.upperBound
                let before = readings.cost
                for channel in channels where first >= border {
                    first = try self.first(channel, of: moved.runID, within: cursor..<first)
                    left -= 1
                }
                left -= readings.cost - before
                guard first < span.upperBound, let due = grid.number(at: first) else { break }
                try insertDue.bind(1, moved.runID).bind(2, due).run()
                try wide.mark(CollectionOfOne(due), of: moved.runID)
                cursor = grid.nextBorder(after: first, in: due)
            }
        }
        return nil
    }

    /// The end of the span, if there is no reading in it.
    private func first(
        _ channel: Int64, of runID: Int64, within milliseconds: Range<Int64>
    ) throws(StoreError) -> Int64 {
        let begin = ReadingTable.Place(milliseconds: milliseconds.lowerBound, sequence: .min)
        let rows = try readings.rows(
            of: runID, channel: channel, after: begin, before: milliseconds.upperBound, limit: 1)
        return rows.first?.reading.milliseconds ?? milliseconds.upperBound
    }
}

import Collector
import NearbyCore
import Telemetry

/// The stored windows: which are due, and what they sum up to.
final class WindowTable {
    private let readings: ReadingTable
    private let insertDue: Statement
    private let insertNeighbours: Statement
    private let selectDue: Statement
    private let selectBegun: Statement
    private let deleteDue: Statement
    private let selectChannels: Statement
    private let rows: WindowRows
    private let wide: WideWindows
    private let upsertRunWindow: Statement
    private let deleteRunWindow: Statement
    /// The window that a call of `compute` has left over.
    private var partial: Partial?
    /// Where those begin that come first: behind one that was begun and has other readings now,
    /// which may happen to it time and again.
    private var start = (number: Int64.min, runID: Int64.min)

    /// A window that is to be computed.
    struct Due: Hashable {
        var number: Int64
        var runID: Int64
        /// Nil for a run that is gone.
        var boot: BootID?

        /// Nil if the statement, which selects these, has no row.
        fileprivate init?(_ select: Statement) throws(StoreError) {
            defer { select.reset() }
            guard try select.step() else { return nil }
            (number, runID) = (select.integer(0), select.integer(1))
            boot = BootID(stored: select.bytes(2))
        }
    }

    /// A window some of whose channels are summed up.
    private struct Partial {
        let due: Due
        /// Milliseconds of the board's clock.
        let spans: [Range<Int64>]
        /// Those that are still to be summed up.
        var channels: ArraySlice<Int64>
        /// Of the first of them.
        var sum: ChannelSum?
        /// The numbers of the readings so far.
        var span: ClosedRange<Int64>?
    }

    init(
        _ database: Database, _ readings: ReadingTable, _ wide: WideWindows
    ) throws(StoreError) {
        self.readings = readings
        self.wide = wide
        insertDue = try database.prepare("INSERT OR IGNORE INTO due_windows VALUES (?2, ?1)")
        // A late number may fill a hole of the window before or after its own.
        insertNeighbours = try database.prepare(
            """
            INSERT OR IGNORE INTO due_windows SELECT number, run_id FROM run_windows
            WHERE run_id = ?1 AND number BETWEEN ?2 - 1 AND ?2 + 1 AND first < ?4 AND last > ?3
            """)
        selectDue = try database.prepare(
            """
            SELECT number, run_id, runs.boot FROM due_windows
            LEFT JOIN runs ON runs.id = run_id WHERE number < ?1 AND (number, run_id) > (?2, ?3)
            ORDER BY number, run_id LIMIT 1
            """)
        selectBegun = try database.prepare(
            """
            SELECT number, run_id, runs.boot FROM due_windows
            LEFT JOIN runs ON runs.id = run_id WHERE number = ?1 AND run_id = ?2
            """)
        deleteDue = try database.prepare(
            "DELETE FROM due_windows WHERE run_id = ?1 AND number = ?2")
        selectChannels = try database.prepare("SELECT number FROM channels WHERE run_id = ?1")
        rows = try WindowRows(database, table: "windows")
        upsertRunWindow = try database.prepare(
            "INSERT OR REPLACE INTO run_windows VALUES (?1, ?2, ?3, ?4, ?5)")
        deleteRunWindow = try database.prepare(
            "DELETE FROM run_windows WHERE run_id = ?1 AND number = ?2")
    }

    /// Notes which windows new readings lie in.
    func mark(
        _ readings: [ReadingRow], of runID: Int64, _ grid: WindowGrid
    ) throws(StoreError) {
        var spans: [Int64: ClosedRange<Int64>] = [:]
        var last: (number: Int64, span: ClosedRange<Int64>)?
        for reading in readings {
            guard let number = grid.number(at: reading.milliseconds) else { continue }
            // Most readings lie in the same window as the one before.
            if let known = last, known.number == number {
                last = (number, known.span.widened(to: reading.sequence))
                continue
            }
            if let last { spans[last.number] = last.span }
            let span = spans[number] ?? reading.sequence...reading.sequence
            last = (number, span.widened(to: reading.sequence))
        }
        if let last { spans[last.number] = last.span }
        if let due = partial?.due, due.runID == runID, spans[due.number] != nil {
            forget()
            start = (due.number, runID)
        }
        for (number, span) in spans.sorted(by: { $0.key < $1.key }) {
            try insertDue.bind(1, runID).bind(2, number).run()
            try insertNeighbours.bind(1, runID).bind(2, number).bind(3, span.lowerBound)
                .bind(4, span.upperBound).run()
        }
        try wide.mark(spans.keys, of: runID)
    }

    /// The window to be computed next: the one that was begun, otherwise one of those before this
    /// number; nil if none is due.
    func nextDue(before end: Int64) throws(StoreError) -> Due? {
        if let partial {
            selectBegun.bind(1, partial.due.number).bind(2, partial.due.runID)
            if let due = try Due(selectBegun) { return due }
            // Its run, or its time, has been deleted since.
            forget()
        }
        if let due = try firstDue(before: end) { return due }
        guard start != (.min, .min) else { return nil }
        start = (.min, .min)
        return try firstDue(before: end)
    }

    private func firstDue(before end: Int64) throws(StoreError) -> Due? {
        try Due(selectDue.bind(1, end).bind(2, start.number).bind(3, start.runID))
    }

    /// Computes all channels of a due window anew, as far as the budget goes. Returns whether it is
    /// finished; until then it stays due.
    ///
    /// - Parameters:
    ///   - grid: nil if the run's boot has no windows.
    ///   - isKept: false for one that would be pruned at once.
    func compute(
        _ due: Due, _ grid: WindowGrid?, isKept: Bool, _ left: inout Int
    ) throws(StoreError) -> Bool {
        if let grid {
            var window = try takePartial(due, grid)
            guard try sum(&window, isKept: isKept, &left) else {
                partial = window
                return false
            }
            try count(window)
        }
        try deleteDue.bind(1, due.runID).bind(2, due.number).run()
        left -= 1
        return true
    }

    /// What was summed up so far may no longer be what the store has.
    func forget() { partial = nil }

    /// Readings of a run before this millisecond of its board's clock are gone.
    func deleted(before milliseconds: Int64, of runID: Int64) {
        guard let partial, partial.due.runID == runID, let first = partial.spans.first else {
            return
        }
        if first.lowerBound < milliseconds { forget() }
    }

    /// What was begun of it, otherwise its beginning.
    private func takePartial(_ due: Due, _ grid: WindowGrid) throws(StoreError) -> Partial {
        defer { forget() }
        if let partial, partial.due == due { return partial }
        return Partial(
            due: due, spans: grid.milliseconds(of: due.number...due.number),
            channels: try channels(of: due.runID)[...])
    }

    /// Returns whether all channels are summed up.
    private func sum(
        _ window: inout Partial, isKept: Bool, _ left: inout Int
    ) throws(StoreError) -> Bool {
        let (number, run) = (window.due.number, window.due.runID)
        while let channel = window.channels.first {
            var sum =
                window.sum
                ?? ChannelSum(channel: channel, spans: window.spans, number: number)
            window.sum = nil
            guard try sum.advance(readings, of: run, &left) else {
                window.sum = sum
                return false
            }
            window.span = sum.sum.widened(window.span)
            if isKept { try rows.put(sum.sum, of: run, channel: channel, number: number) }
            window.channels.removeFirst()
        }
        return true
    }

    /// Writes how many readings of all channels its time has.
    private func count(_ window: Partial) throws(StoreError) {
        let (number, run) = (window.due.number, window.due.runID)
        guard let span = window.span else {
            return try deleteRunWindow.bind(1, run).bind(2, number).run()
        }
        let received = try readings.count(of: run, sequences: span)
        try upsertRunWindow.bind(1, run).bind(2, number).bind(3, span.lowerBound)
            .bind(4, span.upperBound).bind(5, received).run()
    }

    private func channels(of runID: Int64) throws(StoreError) -> [Int64] {
        var numbers: [Int64] = []
        selectChannels.bind(1, runID)
        while try selectChannels.step() { numbers.append(selectChannels.integer(0)) }
        return numbers
    }
}

import Collector
import NearbyCore
import Telemetry

/// The stored windows: which are due, and what they sum up to.
struct WindowTable {
    private let readings: ReadingTable
    private let insertDue: Statement
    private let insertNeighbours: Statement
    private let deleteDue: Statement
    private let selectChannels: Statement
    private let rows: WindowRows
    private let wide: WideWindows
    private let upsertRunWindow: Statement
    private let deleteRunWindow: Statement

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
        for (number, span) in spans.sorted(by: { $0.key < $1.key }) {
            try insertDue.bind(1, runID).bind(2, number).run()
            try insertNeighbours.bind(1, runID).bind(2, number).bind(3, span.lowerBound)
                .bind(4, span.upperBound).run()
        }
        try wide.mark(spans.keys, of: runID)
    }

    /// Computes all channels of a due window anew. Returns how many readings were read.
    ///
    /// - Parameters:
    ///   - grid: nil if the run's boot has no windows.
    ///   - isKept: false for one that would be pruned at once.
    func compute(
        _ number: Int64, of runID: Int64, _ grid: WindowGrid?, isKept: Bool
    ) throws(StoreError) -> Int {
        try deleteDue.bind(1, runID).bind(2, number).run()
        guard let spans = grid?.milliseconds(of: number...number) else { return 0 }
        var total = 0
        var span: ClosedRange<Int64>?
        for channel in try channels(of: runID) {
            let sum = try readings.sum(of: runID, channel: channel, spans, number: number)
            total += sum.total
            span = sum.widened(span)
            if isKept { try rows.put(sum, of: runID, channel: channel, number: number) }
        }
        if let span {
            let received = try readings.count(of: runID, sequences: span)
            try upsertRunWindow.bind(1, runID).bind(2, number).bind(3, span.lowerBound)
                .bind(4, span.upperBound).bind(5, received).run()
        } else {
            try deleteRunWindow.bind(1, runID).bind(2, number).run()
        }
        return total
    }

    private func channels(of runID: Int64) throws(StoreError) -> [Int64] {
        var numbers: [Int64] = []
        selectChannels.bind(1, runID)
        while try selectChannels.step() { numbers.append(selectChannels.integer(0)) }
        return numbers
    }
}

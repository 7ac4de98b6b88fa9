import Collector
import NearbyCore
import Telemetry

/// The stored windows: which are due, and what they sum up to.
struct WindowTable {
    private let database: Database
    private let insertDue: Statement
    private let insertNeighbours: Statement
    private let deleteDue: Statement
    private let selectChannels: Statement
    private let selectReadings: Statement
    private let countReadings: Statement
    private let upsertWindow: Statement
    private let deleteWindow: Statement
    private let upsertRunWindow: Statement
    private let deleteRunWindow: Statement

    init(_ database: Database) throws(StoreError) {
        self.database = database
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
        selectReadings = try database.prepare(Self.readingsSQL)
        countReadings = try database.prepare(Self.countSQL)
        upsertWindow = try database.prepare(
            """
            INSERT OR REPLACE INTO windows VALUES
            (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
            """)
        deleteWindow = try database.prepare(
            "DELETE FROM windows WHERE run_id = ?1 AND channel = ?2 AND number = ?3")
        upsertRunWindow = try database.prepare(
            "INSERT OR REPLACE INTO run_windows VALUES (?1, ?2, ?3, ?4, ?5)")
        deleteRunWindow = try database.prepare(
            "DELETE FROM run_windows WHERE run_id = ?1 AND number = ?2")
    }

    static let readingsSQL = """
        SELECT sequence, milliseconds, coefficient, exponent, reason, hops FROM readings
        WHERE run_id = ?1 AND channel = ?2 AND milliseconds >= ?3 AND milliseconds < ?4
        ORDER BY milliseconds, sequence
        """

    /// With a limit, so that two absurd numbers of one agent do not stop the store.
    static let countSQL = """
        SELECT count(*) FROM (SELECT 1 FROM readings
        WHERE run_id = ?1 AND sequence BETWEEN ?2 AND ?3 LIMIT 1000000)
        """

    /// Notes which windows new readings lie in.
    func mark(
        _ readings: [ReadingRow], of runID: Int64, _ grid: WindowGrid
    ) throws(StoreError) {
        var spans: [Int64: ClosedRange<Int64>] = [:]
        for reading in readings {
            guard let number = grid.number(at: reading.milliseconds) else { continue }
            let span = spans[number] ?? reading.sequence...reading.sequence
            spans[number] =
                min(
                    span.lowerBound, reading.sequence)...max(
                    span.upperBound, reading.sequence)
        }
        for (number, span) in spans.sorted(by: { $0.key < $1.key }) {
            try insertDue.bind(1, runID).bind(2, number).run()
            try insertNeighbours.bind(1, runID).bind(2, number).bind(3, span.lowerBound)
                .bind(4, span.upperBound).run()
        }
    }

    /// Computes all channels of a due window anew. Returns how many readings were read.
    ///
    /// - Parameter grid: nil if the run's boot has no windows.
    func compute(
        _ number: Int64, of runID: Int64, _ grid: WindowGrid?
    ) throws(StoreError) -> Int {
        try deleteDue.bind(1, runID).bind(2, number).run()
        guard let spans = grid?.milliseconds(of: number...number) else { return 0 }
        var total = 0
        var span: ClosedRange<Int64>?
        for channel in try channels(of: runID) {
            var sum = WindowSum(seed: UInt64(bitPattern: number))
            for span in spans { try read(channel, of: runID, within: span, into: &sum) }
            total += sum.total
            span = sum.widened(span)
            if let window = sum.window {
                try store(window, of: runID, channel: channel, number: number)
            } else {
                try deleteWindow.bind(1, runID).bind(2, channel).bind(3, number).run()
            }
        }
        if let span {
            let received = try count(span, of: runID)
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

    private func read(
        _ channel: Int64, of runID: Int64, within milliseconds: Range<Int64>,
        into sum: inout WindowSum
    ) throws(StoreError) {
        selectReadings.bind(1, runID).bind(2, channel).bind(3, milliseconds.lowerBound)
            .bind(4, milliseconds.upperBound)
        while try selectReadings.step() {
            guard let row = ReadingRow(selectReadings, channel: UInt16(clamping: channel))
            else { continue }
            sum.add(row, hops: UInt8(clamping: selectReadings.integer(5)))
        }
    }

    private func count(_ span: ClosedRange<Int64>, of runID: Int64) throws(StoreError) -> Int64 {
        countReadings.bind(1, runID).bind(2, span.lowerBound).bind(3, span.upperBound)
        defer { countReadings.reset() }
        return try countReadings.step() ? countReadings.integer(0) : 0
    }

    private func store(
        _ window: WindowSum.Window, of runID: Int64, channel: Int64, number: Int64
    ) throws(StoreError) {
        let statistics = window.statistics
        let exponent = { (value: DecimalValue?) in value.map { Int64($0.exponent) } }
        upsertWindow.bind(1, runID).bind(2, channel).bind(3, number)
            .bind(4, Int64(statistics.count)).bind(5, Int64(statistics.nullCount))
            .bind(6, optional: statistics.min?.coefficient)
            .bind(7, optional: exponent(statistics.min))
            .bind(8, optional: statistics.max?.coefficient)
            .bind(9, optional: exponent(statistics.max))
            .bind(10, real: statistics.mean).bind(11, real: statistics.standardDeviation)
            .bind(12, real: statistics.p50).bind(13, real: statistics.p95)
            .bind(14, statistics.areQuantilesExact ? 1 : 0).bind(18, Int64(window.hops))
        window.last.bind(to: upsertWindow, first: 15)
        try upsertWindow.run()
    }
}

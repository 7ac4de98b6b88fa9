import NearbyCore
import Telemetry

extension Store {
    /// What a call of `tidy` did.
    public struct TidyReport: Hashable, Sendable {
        /// Whether nothing is left to do for now.
        public var isDone = true
        /// Windows computed, all channels of a run counted as one.
        public var windowCount = 0
        public var deletedReadingCount = 0

        public init() {}
    }

    /// A bounded piece of the work that can wait: computes windows that are over, or that late
    /// readings or another mapping changed; deletes what is older than `Settings.keep`. One
    /// transaction. The store thread calls it when it has nothing to commit, and again at once
    /// while `isDone` is false.
    ///
    /// - Parameters:
    ///   - now: our CLOCK_BOOTTIME.
    ///   - clock: what we know of UTC ourselves. Deleting needs at least `.network`.
    ///   - budget: rows to read or to delete at most, one window more at worst.
    public func tidy(
        now: Instant, clock: ClockReading, budget: Int = 5_000
    ) throws(StoreError) -> TidyReport {
        var report = TidyReport()
        let utc = (now + clock.unixOffset).nanoseconds
        try database.transaction { () throws(StoreError) in
            var left = budget
            try layWindows(&left)
            try markReadings(&left)
            try computeWindows(before: utc, &left, &report)
            if clock.rank >= .network {
                report.deletedReadingCount = try retention.sweep(
                    database, now: now, utc: utc, width: settings.windowWidth, &left)
            }
            report.isDone = left > 0
        }
        return report
    }

    /// Deletes the windows of boots whose mapping moved, and has their readings marked once all are
    /// gone.
    private func layWindows(_ left: inout Int) throws(StoreError) {
        let stale = try database.prepare(
            "SELECT boot, offset FROM clocks WHERE window_offset IS NULL LIMIT 1")
        while left > 0, try stale.step() {
            let boot = stale.bytes(0)
            let offset = stale.integer(1)
            stale.reset()
            for (table, key) in Self.windowKeys {
                let delete = try database.prepare(
                    """
                    DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table)
                    WHERE run_id IN (SELECT id FROM runs WHERE boot = ?1) LIMIT ?2)
                    """)
                try delete.bind(1, boot).bind(2, Int64(left)).run()
                left -= database.changeCount
                if left <= 0 { return }
            }
            try database.prepare("UPDATE clocks SET window_offset = ?2 WHERE boot = ?1")
                .bind(1, boot).bind(2, offset).run()
            try database.prepare("UPDATE runs SET marked_from = 1 WHERE boot = ?1")
                .bind(1, boot).run()
            left -= 1
        }
    }

    private static let windowKeys = [
        ("windows", "run_id, channel, number"), ("run_windows", "run_id, number"),
        ("due_windows", "number, run_id"),
    ]

    /// Enters the windows of readings that came while their boot had none.
    private func markReadings(_ left: inout Int) throws(StoreError) {
        let runs = try database.prepare(
            """
            SELECT runs.id, runs.marked_from, clocks.window_offset FROM runs
            JOIN clocks ON clocks.boot = runs.boot
            WHERE runs.marked_from IS NOT NULL AND clocks.window_offset IS NOT NULL LIMIT 1
            """)
        let readings = try database.prepare(
            """
            SELECT sequence, milliseconds, coefficient, exponent, reason, channel FROM readings
            WHERE run_id = ?1 AND sequence >= ?2 ORDER BY sequence LIMIT ?3
            """)
        let update = try database.prepare("UPDATE runs SET marked_from = ?2 WHERE id = ?1")
        while left > 0, try runs.step() {
            let run = RunRow(id: runs.integer(0), windowOffset: runs.optionalInteger(2))
            let first = runs.integer(1)
            runs.reset()
            var rows: [ReadingRow] = []
            var seen = 0
            var last = first
            readings.bind(1, run.id).bind(2, first).bind(3, Int64(left))
            while try readings.step() {
                seen += 1
                last = readings.integer(0)
                if let row = ReadingRow(readings, channel: 0) { rows.append(row) }
            }
            try windows.mark(rows, of: run)
            let isAll = seen < left || last == .max
            try update.bind(1, run.id).bind(2, optional: isAll ? nil : last + 1).run()
            left -= max(1, seen)
        }
    }

    private func computeWindows(
        before utc: Int64, _ left: inout Int, _ report: inout TidyReport
    ) throws(StoreError) {
        let width = WindowGrid.widths.clamp(settings.windowWidth.nanoseconds)
        let time = utc.subtractingSaturating(settings.lateness.nanoseconds)
        let due = try database.prepare(
            """
            SELECT due_windows.number, runs.id, clocks.window_offset FROM due_windows
            LEFT JOIN runs ON runs.id = due_windows.run_id
            LEFT JOIN clocks ON clocks.boot = runs.boot
            WHERE due_windows.number < ?1 ORDER BY due_windows.number LIMIT 1
            """)
        due.bind(1, WindowGrid.number(at: time, width: width))
        while left > 0, try due.step() {
            let number = due.integer(0)
            let run = RunRow(id: due.integer(1), windowOffset: due.optionalInteger(2))
            due.reset()
            left -= max(1, try windows.compute(number, run: run))
            report.windowCount += 1
        }
    }
}

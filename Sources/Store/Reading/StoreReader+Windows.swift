import Collector
import Fleet
import NearbyCore
import Telemetry

extension StoreReader {
    /// All windows that overlap the query's times, whole, until `each` returns false. Series whose
    /// clock is unknown have none.
    ///
    /// Windows of the stored width come from the store, but for those that wait to be computed;
    /// others are summed up from the readings.
    ///
    /// - Parameter width: 1 ms to 1 day.
    public func windows(
        _ query: StoreQuery, width: Duration, _ each: (StoredSeries, StoredWindow) -> Bool
    ) throws(StoreError) {
        let width = WindowGrid.widths.clamp(width.nanoseconds)
        let numbers = numbers(of: query, width: width)
        var wantsMore = true
        for series in try series(query) {
            let emit = { (window: StoredWindow) -> Bool in
                wantsMore = each(series, window.mapped(by: series.map))
                return wantsMore
            }
            if windowWidth?.nanoseconds == width, let layout = series.layout {
                let grid = WindowGrid(width: .nanoseconds(width), stretches: layout)
                try stored(series, grid, numbers, emit)
            } else if let dating = series.dating {
                let grid = WindowGrid(width: .nanoseconds(width), stretches: dating)
                try summed(series, grid, numbers, emit)
            }
            if !wantsMore { return }
        }
    }

    private func numbers(of query: StoreQuery, width: Int64) -> ClosedRange<Int64> {
        let first = query.from.map { WindowGrid.number(at: $0, width: width) } ?? .min
        let last = query.to.map {
            WindowGrid.number(at: $0.subtractingSaturating(1), width: width)
        }
        return first...max(first, last ?? .max)
    }

    // MARK: From the readings

    private func summed(
        _ series: StoredSeries, _ grid: WindowGrid, _ numbers: ClosedRange<Int64>,
        _ each: (StoredWindow) -> Bool
    ) throws(StoreError) {
        // More than one at a time only where a clock that was set back went through them twice.
        var open: [(number: Int64, sum: WindowSum)] = []
        var wantsMore = true
        /// Those that no later reading can be in.
        func close(before end: Int64) {
            while wantsMore, let first = open.first, first.number < end {
                open.removeFirst()
                if let window = first.sum.stored(first.number, grid.width) {
                    wantsMore = each(window)
                }
            }
        }
        for span in grid.milliseconds(of: numbers) {
            try rows(of: series, within: span) { row, hops in
                guard let number = grid.number(at: row.milliseconds) else { return true }
                if open.last?.number != number {
                    close(before: grid.lowestNumber(from: row.milliseconds))
                }
                guard wantsMore else { return false }
                let place = open.firstIndex { $0.number >= number } ?? open.count
                if place == open.count || open[place].number != number {
                    let sum = WindowSum(seed: UInt64(bitPattern: number))
                    open.insert((number, sum), at: place)
                }
                open[place].sum.add(row, hops: hops)
                return true
            }
            if !wantsMore { return }
        }
        close(before: .max)
    }

    // MARK: From the table

    private func stored(
        _ series: StoredSeries, _ grid: WindowGrid, _ numbers: ClosedRange<Int64>,
        _ each: (StoredWindow) -> Bool
    ) throws(StoreError) {
        let rows = try database.prepare(Self.windowsSQL)
        var next: Int64? = numbers.lowerBound
        while let first = next {
            rows.bind(1, series.runID).bind(2, Int64(series.number)).bind(3, first)
                .bind(4, numbers.upperBound).bind(5, Int64(Self.windowPage))
            var page: [(number: Int64, isDue: Bool, window: StoredWindow?)] = []
            while try rows.step() {
                let isDue = rows.integer(1) == 1
                let window = isDue ? nil : StoredWindow(rows, width: grid.width)
                page.append((rows.integer(0), isDue, window))
            }
            for row in page {
                let window = row.isDue ? try computed(row.number, series, grid) : row.window
                if let window, !each(window) { return }
            }
            guard page.count == Self.windowPage, let last = page.last?.number, last < .max
            else { return }
            next = last + 1
        }
    }

    private static let windowPage = 1_024

    private func computed(
        _ number: Int64, _ series: StoredSeries, _ grid: WindowGrid
    ) throws(StoreError) -> StoredWindow? {
        var sum = WindowSum(seed: UInt64(bitPattern: number))
        for span in grid.milliseconds(of: number...number) {
            try rows(of: series, within: span) { row, hops in
                sum.add(row, hops: hops)
                return true
            }
        }
        return sum.stored(number, grid.width)
    }

    /// Number, whether it is due, and the columns that `StoredWindow` reads.
    private static let windowsSQL = """
        SELECT windows.number, 0, windows.count, nulls, min_coefficient, min_exponent,
            max_coefficient, max_exponent, mean, deviation, p50, p95, is_exact,
            last_coefficient, last_exponent, last_reason, hops, first, last, received
        FROM windows LEFT JOIN run_windows
            ON run_windows.run_id = windows.run_id AND run_windows.number = windows.number
        WHERE windows.run_id = ?1 AND windows.channel = ?2 AND windows.number BETWEEN ?3 AND ?4
            AND NOT EXISTS (SELECT 1 FROM due_windows
                WHERE due_windows.number = windows.number AND due_windows.run_id = ?1)
        UNION ALL
        SELECT number, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL
        FROM due_windows WHERE run_id = ?1 AND number BETWEEN ?3 AND ?4
        ORDER BY 1 LIMIT ?5
        """
}

extension StoredWindow {
    fileprivate func mapped(by map: ValueMap) -> StoredWindow {
        guard !map.isIdentity else { return self }
        var window = self
        window.statistics = map(statistics)
        window.last = map(last)
        return window
    }
}

extension WindowSum {
    /// Nil without a reading.
    fileprivate func stored(_ number: Int64, _ width: Int64) -> StoredWindow? {
        window.map {
            StoredWindow(
                start: WindowGrid.start(of: number, width: width), width: .nanoseconds(width),
                statistics: $0.statistics, last: $0.last, hops: $0.hops)
        }
    }
}

extension StoredWindow {
    /// Nil for what no store wrote.
    fileprivate init?(_ row: Statement, width: Int64) {
        guard let last = Outcome(row, first: 13) else { return nil }
        start = WindowGrid.start(of: row.integer(0), width: width)
        self.width = .nanoseconds(width)
        statistics = Statistics(
            count: Int(max(0, row.integer(2))), nullCount: Int(max(0, row.integer(3))),
            min: Outcome(row, first: 4)?.value, max: Outcome(row, first: 6)?.value,
            mean: row.optionalReal(8), standardDeviation: row.optionalReal(9),
            p50: row.optionalReal(10), p95: row.optionalReal(11),
            areQuantilesExact: row.integer(12) == 1)
        self.last = last
        hops = UInt8(clamping: row.integer(16))
        if let first = row.optionalInteger(17) {
            expected = row.integer(18).subtractingSaturating(first).addingSaturating(1)
            received = row.integer(19)
        }
    }
}

import Collector
import Fleet
import NearbyCore
import Telemetry

extension StoreReader {
    /// All windows that overlap the query's times, whole, until `each` returns false. Series whose
    /// clock is unknown have none.
    ///
    /// Windows of the stored width, and of sixty times that, come from the store, but for those
    /// that wait to be computed or are not kept; these, and those of other widths, are summed up
    /// from the readings.
    ///
    /// - Parameter width: 1 ms to 1 day.
    public func windows(
        _ query: StoreQuery, width: Duration, _ each: (StoredSeries, StoredWindow) -> Bool
    ) throws(StoreError) {
        let width = WindowGrid.widths.clamp(width.nanoseconds)
        let numbers = numbers(of: query, width: width)
        var wantsMore = true
        for series in try series(query) {
            func emit(_ window: StoredWindow) -> Bool {
                wantsMore = each(series, window.mapped(by: series.map))
                return wantsMore
            }
            if let tier = tier(width), let layout = series.layout {
                let grid = WindowGrid(
                    width: .nanoseconds(width / tier.factor), times: tier.factor,
                    stretches: layout)
                let first =
                    try tier.isWide ? series.wideFrom ?? .min : NarrowWindows.begin(database)
                let (old, new) = Self.split(numbers, at: first)
                if let old {
                    try summed(series, grid, old) { window in
                        emit(tier.isWide ? window : counted(window, series, grid))
                    }
                }
                if let new, wantsMore { try stored(series, grid, new, tier, emit) }
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

    /// Which windows are stored with this width; nil: none.
    private func tier(_ width: Int64) -> Tier? {
        guard let stored = windowWidth?.nanoseconds else { return nil }
        if width == stored { return .narrow }
        return width == stored * WideWindows.factor ? .wide : nil
    }

    enum Tier: CaseIterable {
        case narrow, wide

        var isWide: Bool { self == .wide }
        var factor: Int64 { isWide ? WideWindows.factor : 1 }
        var table: String { isWide ? "wide_windows" : "windows" }
        var due: String { isWide ? "due_wide_windows" : "due_windows" }
    }

    /// The width of stored windows that suits a chart whose points are so far apart, nanoseconds.
    public func chartWidth(_ step: Int64) -> Duration {
        let width = windowWidth ?? .seconds(10)
        let wide = Duration.nanoseconds(
            WindowGrid.widths.clamp(width.nanoseconds) * WideWindows.factor)
        return step > wide.nanoseconds && WindowGrid.widths.contains(wide.nanoseconds)
            ? wide : width
    }

    private static func split(
        _ numbers: ClosedRange<Int64>, at first: Int64
    ) -> (old: ClosedRange<Int64>?, new: ClosedRange<Int64>?) {
        if first <= numbers.lowerBound { return (nil, numbers) }
        if first > numbers.upperBound { return (numbers, nil) }
        return (numbers.lowerBound...first - 1, first...numbers.upperBound)
    }

    // MARK: From the readings

    /// With what all channels of its run have in that time.
    private func counted(
        _ window: StoredWindow, _ series: StoredSeries, _ grid: WindowGrid
    ) -> StoredWindow {
        let row = selectRunWindow.bind(1, series.runID)
            .bind(2, WindowGrid.number(at: window.start, width: grid.width))
        defer { row.reset() }
        var window = window
        if (try? row.step()) == true {
            window.count(row, first: 0)
        }
        return window
    }

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
        _ tier: Tier, _ each: (StoredWindow) -> Bool
    ) throws(StoreError) {
        let rows = try database.prepare(Self.windowsSQL(tier))
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
            try database.checkSeal()
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
    static func windowsSQL(_ tier: Tier) -> String {
        let (windows, due) = (tier.table, tier.due)
        // Of wide windows nobody counts what all channels of a run have.
        let counts = tier.isWide ? "NULL, NULL, NULL" : "first, last, received"
        let join =
            tier.isWide
            ? ""
            : """
            LEFT JOIN run_windows
                ON run_windows.run_id = windows.run_id AND run_windows.number = windows.number
            """
        return """
            SELECT windows.number, 0, windows.count, nulls, min_coefficient, min_exponent,
                max_coefficient, max_exponent, mean, deviation, p50, p95, is_exact,
                last_coefficient, last_exponent, last_reason, hops, \(counts)
            FROM \(windows) AS windows \(join)
            WHERE windows.run_id = ?1 AND windows.channel = ?2 AND windows.number BETWEEN ?3 AND ?4
                AND NOT EXISTS (SELECT 1 FROM \(due) AS due
                    WHERE due.number = windows.number AND due.run_id = ?1)
            UNION ALL
            SELECT number, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM \(due) WHERE run_id = ?1 AND number BETWEEN ?3 AND ?4
            ORDER BY 1 LIMIT ?5
            """
    }
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
        count(row, first: 17)
    }

    /// Columns from `first` on: first and last number of the run in this time, how many there are.
    fileprivate mutating func count(_ row: Statement, first column: Int32) {
        guard let first = row.optionalInteger(column) else { return }
        expected = row.integer(column + 1).subtractingSaturating(first).addingSaturating(1)
        received = row.integer(column + 2)
    }
}

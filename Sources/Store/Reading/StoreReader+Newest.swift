import Collector
import NearbyCore

extension StoreReader {
    /// The newest readings of a query, newest first, whatever node and channel they are of.
    ///
    /// - Parameter limit: 1 to `Limits.newestRowsMax`.
    public func newestReadings(
        _ query: StoreQuery, limit: Int
    ) throws(StoreError) -> [(series: StoredSeries, reading: StoredReading)] {
        let limit = min(max(limit, 1), Limits.newestRowsMax)
        var newest = NewestRows<(series: StoredSeries, reading: StoredReading)>(limit)
        for series in try series(query) {
            newest.settle()
            // What is older than all that is kept need not be read.
            let from = [query.from, series.dating == nil ? nil : newest.floor].compactMap { $0 }
            for span in series.rising(from: from.max(), to: query.to).reversed() {
                try rowsBackwards(of: series, within: span, limit: limit) { row, hops in
                    let utc = series.dating?.utc(row.milliseconds)
                    let reading = StoredReading(
                        sequence: UInt64(row.sequence), utc: utc, milliseconds: row.milliseconds,
                        outcome: series.map(row.outcome), hops: hops)
                    return newest.add((series, reading), time: utc)
                }
            }
        }
        return newest.finish()
    }

    /// The newest windows of a query, newest first.
    ///
    /// - Parameter limit: 1 to `Limits.newestRowsMax`.
    public func newestWindows(
        _ query: StoreQuery, width: Duration, limit: Int
    ) throws(StoreError) -> [(series: StoredSeries, window: StoredWindow)] {
        var newest = NewestRows<(series: StoredSeries, window: StoredWindow)>(
            min(max(limit, 1), Limits.newestRowsMax))
        try windows(query, width: width) { series, window in
            _ = newest.add((series, window), time: window.start)
            return true
        }
        return newest.finish()
    }
}

extension Limits {
    /// Rows that a query holds in memory to bring the newest first.
    public static let newestRowsMax = 1_000_000
}

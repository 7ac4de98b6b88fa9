import Collector
import NearbyCore
import Telemetry

/// The table of windows of one width.
struct WindowRows {
    private let upsert: Statement
    private let delete: Statement

    init(_ database: Database, table: String) throws(StoreError) {
        upsert = try database.prepare(
            """
            INSERT OR REPLACE INTO \(table) VALUES
            (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
            """)
        delete = try database.prepare(
            "DELETE FROM \(table) WHERE run_id = ?1 AND channel = ?2 AND number = ?3")
    }

    /// A window without a reading has no row.
    func put(
        _ sum: WindowSum, of run: Int64, channel: Int64, number: Int64
    ) throws(StoreError) {
        guard let window = sum.window else {
            return try delete.bind(1, run).bind(2, channel).bind(3, number).run()
        }
        let statistics = window.statistics
        let exponent = { (value: DecimalValue?) in value.map { Int64($0.exponent) } }
        upsert.bind(1, run).bind(2, channel).bind(3, number)
            .bind(4, Int64(statistics.count)).bind(5, Int64(statistics.nullCount))
            .bind(6, optional: statistics.min?.coefficient)
            .bind(7, optional: exponent(statistics.min))
            .bind(8, optional: statistics.max?.coefficient)
            .bind(9, optional: exponent(statistics.max))
            .bind(10, real: statistics.mean).bind(11, real: statistics.standardDeviation)
            .bind(12, real: statistics.p50).bind(13, real: statistics.p95)
            .bind(14, statistics.areQuantilesExact ? 1 : 0).bind(18, Int64(window.hops))
        window.last.bind(to: upsert, first: 15)
        try upsert.run()
    }
}

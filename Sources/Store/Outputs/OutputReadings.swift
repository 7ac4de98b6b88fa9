import Collector
import NearbyCore
import Telemetry

/// The readings that an output is given, looked up in the store.
struct OutputReadings {
    /// A reading, and what else the table says of it.
    struct Row: Hashable {
        var reading: ReadingRow
        var hops: UInt8
    }

    private let selectNumbers: Statement
    private let selectTimes: Statement

    init(_ database: Database) throws(StoreError) {
        selectNumbers = try database.prepare(
            """
            SELECT sequence, milliseconds, coefficient, exponent, reason, hops, channel
            FROM readings WHERE run_id = ?1 AND sequence BETWEEN ?2 AND ?3
            ORDER BY sequence LIMIT ?4
            """)
        selectTimes = try database.prepare(
            """
            SELECT sequence, milliseconds, coefficient, exponent, reason, hops, channel
            FROM readings WHERE run_id = ?1 AND channel = ?2
            AND (milliseconds, sequence) > (?3, ?4) AND milliseconds < ?5
            ORDER BY milliseconds, sequence LIMIT ?6
            """)
    }

    /// Of a run, those whose numbers are in the ranges and after `sequence`, in their order.
    func read(
        _ runID: Int64, _ ranges: NumberRanges, after sequence: Int64, limit: Int
    ) throws(StoreError) -> [Row] {
        var rows: [Row] = []
        for range in ranges.ranges where rows.count < limit {
            let first = max(Int64(clamping: range.lowerBound), sequence.addingSaturating(1))
            let last = Int64(clamping: range.upperBound - 1)
            guard first <= last else { continue }
            selectNumbers.bind(1, runID).bind(2, first).bind(3, last)
                .bind(4, Int64(limit - rows.count))
            try Self.take(selectNumbers, into: &rows)
        }
        return rows
    }

    /// Of a channel of a run, those in a span of the board's milliseconds and after the place, in
    /// order of time and number.
    func read(
        _ runID: Int64, channel: Int64, within milliseconds: Range<Int64>,
        after place: (milliseconds: Int64, sequence: Int64), limit: Int
    ) throws(StoreError) -> [Row] {
        var rows: [Row] = []
        let start =
            place.milliseconds >= milliseconds.lowerBound
            ? place : (milliseconds.lowerBound, Int64.min)
        selectTimes.bind(1, runID).bind(2, channel).bind(3, start.0).bind(4, start.1)
            .bind(5, milliseconds.upperBound).bind(6, Int64(limit))
        try Self.take(selectTimes, into: &rows)
        return rows
    }

    /// A row that no store wrote has no place in an output; nobody ever reads it.
    private static func take(
        _ statement: Statement, into rows: inout [Row]
    ) throws(StoreError) {
        while try statement.step() {
            let channel = UInt16(clamping: statement.integer(6))
            guard let reading = ReadingRow(statement, channel: channel) else { continue }
            rows.append(Row(reading: reading, hops: UInt8(clamping: statement.integer(5))))
        }
    }
}

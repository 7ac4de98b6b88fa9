import NearbyCore

/// The readings that an output is given, looked up in the store.
struct OutputReadings {
    private let readings: ReadingTable

    init(_ database: Database) throws(StoreError) { readings = try ReadingTable(database) }

    /// Of a run, those whose numbers are in the ranges and after `sequence`, in their order.
    func read(
        _ runID: Int64, _ ranges: NumberRanges, after sequence: Int64, limit: Int
    ) throws(StoreError) -> [StoredRow] {
        var rows: [StoredRow] = []
        for range in ranges.ranges where rows.count < limit {
            let first = max(Int64(clamping: range.lowerBound), sequence.addingSaturating(1))
            let last = Int64(clamping: range.upperBound - 1)
            guard first <= last else { continue }
            rows += try readings.rows(
                of: runID, sequences: first...last, limit: limit - rows.count)
        }
        return rows
    }

    /// Of a channel of a run, those in a span of the board's milliseconds and after the place, in
    /// order of time and number.
    func read(
        _ runID: Int64, channel: Int64, within milliseconds: Range<Int64>,
        after place: (milliseconds: Int64, sequence: Int64), limit: Int
    ) throws(StoreError) -> [StoredRow] {
        let start =
            place.milliseconds >= milliseconds.lowerBound
            ? place : (milliseconds.lowerBound, Int64.min)
        return try readings.rows(
            of: runID, channel: channel,
            after: ReadingTable.Place(milliseconds: start.0, sequence: start.1),
            before: milliseconds.upperBound, limit: limit)
    }

    /// Lines about blocks that could not be read, each told once.
    func takeDiagnostics() -> [String] { readings.blocks.takeDiagnostics() }
}

import NearbyCore

/// Which rows of a store are printed, and how many of them.
public struct StoreListing: Sendable {
    public enum Kind: Hashable, Sendable {
        case readings, gaps, runs
        /// Statistics over windows of this width.
        case windows(Duration)
    }

    public var kind: Kind
    public var query: StoreQuery
    /// Only the newest rows, this many, newest first; nil: all, by node, channel and time.
    public var limit: Int?

    public init(_ kind: Kind, _ query: StoreQuery, limit: Int? = nil) {
        self.kind = kind
        self.query = query
        self.limit = limit
    }

    /// Prints a header, then the rows until `write` returns false.
    public func print(
        _ reader: StoreReader, with printer: StorePrinter, write: (String) -> Bool
    ) throws(StoreError) {
        var printer = printer
        _ = write(printer.header(rows))
        switch kind {
        case .gaps:
            for gap in newest(try reader.gaps(query)) where !write(printer.line(gap)) { return }
        case .runs:
            for run in newest(try reader.runs(query)) where !write(printer.line(run)) { return }
        case .windows(let width):
            guard let limit else {
                return try reader.windows(query, width: width) { write(printer.line($0, $1)) }
            }
            let rows = try reader.newestWindows(query, width: width, limit: limit)
            for row in rows where !write(printer.line(row.series, row.window)) { return }
        case .readings:
            guard let limit else {
                return try reader.readings(query) { write(printer.line($0, $1)) }
            }
            let rows = try reader.newestReadings(query, limit: limit)
            for row in rows where !write(printer.line(row.series, row.reading)) { return }
        }
    }

    private var rows: StoreRows {
        switch kind {
        case .readings: .readings
        case .gaps: .gaps
        case .runs: .runs
        case .windows(let width): StoreRows(windowsOf: width)
        }
    }

    /// Gaps and runs come in the order in which the store heard of them, node by node.
    private func newest<Row>(_ rows: [Row]) -> [Row] {
        guard let limit else { return rows }
        return Array(rows.reversed().prefix(limit))
    }
}

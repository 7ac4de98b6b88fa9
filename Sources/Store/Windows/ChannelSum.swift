import NearbyCore

/// The sum of one channel's readings in a window's times, page by page: a fast channel's window has
/// more of them than one transaction should look through while commits wait.
struct ChannelSum {
    private static let page = 4_096

    let channel: Int64
    /// The first millisecond of the board's clock that belongs to it.
    let begin: Int64
    private(set) var sum: WindowSum
    /// What is still to be looked through, milliseconds of the board's clock; from `place` on.
    private var spans: ArraySlice<Range<Int64>>
    private var place: ReadingTable.Place?

    /// - Parameter number: of the window; it seeds the sample of an overfull one.
    init(channel: Int64, spans: [Range<Int64>], number: Int64) {
        self.channel = channel
        self.spans = spans[...]
        begin = spans.first?.lowerBound ?? .max
        sum = WindowSum(seed: UInt64(bitPattern: number))
    }

    /// Goes on until all is summed up, which it returns, or nothing is left of the budget.
    mutating func advance(
        _ readings: ReadingTable, of run: Int64, _ left: inout Int
    ) throws(StoreError) -> Bool {
        while let span = spans.first {
            guard left > 0 else { return false }
            let (before, limit) = (readings.cost, min(Self.page, left))
            let place =
                place ?? ReadingTable.Place(milliseconds: span.lowerBound, sequence: .min)
            let rows = try readings.rows(
                of: run, channel: channel, after: place, before: span.upperBound,
                limit: limit)
            for row in rows { sum.add(row.reading, hops: row.hops) }
            left -= 1 + readings.cost - before
            self.place = rows.count == limit ? rows.last?.place : nil
            if self.place == nil { spans.removeFirst() }
        }
        return true
    }
}

import NearbyCore
import Telemetry

/// Windows of sixty times the width, for charts of weeks and months: computed two hours after their
/// end, when their readings lie in blocks and are quickly read.
///
/// The narrow windows are kept for a day, or as long as `narrowKept` of them take: a row of them
/// takes as much as forty readings in blocks, from which they can be computed again at any time.
final class WideWindows {
    /// Widths in one of them.
    static let factor: Int64 = 60
    /// How long after its end one is computed, beside the lateness of all windows.
    static let lateness: Duration = .seconds(7_200)
    /// At least so many of the newest narrow windows stay.
    static let narrowKept: Int64 = 8_640
    static let narrowKeptTime: Duration = .seconds(86_400)

    private let database: Database
    private let readings: ReadingTable
    private let rows: WindowRows
    private let insertDue: Statement
    private let selectDue: Statement
    private let updateDue: Statement
    private let deleteDue: Statement
    private let selectChannel: Statement
    /// What a call has left over of a channel.
    private var partial: (number: Int64, run: Int64, sum: ChannelSum)?
    /// Behind one that was begun and has other readings now, as in `WindowTable`.
    private var start = (number: Int64.min, run: Int64.min)

    init(_ database: Database, _ readings: ReadingTable) throws(StoreError) {
        self.database = database
        self.readings = readings
        rows = try WindowRows(database, table: "wide_windows")
        insertDue = try database.prepare(
            """
            INSERT INTO due_wide_windows VALUES (?2, ?1, -1)
            ON CONFLICT (number, run_id) DO UPDATE SET channel = -1 WHERE channel >= 0
            """)
        selectDue = try database.prepare(
            """
            SELECT number, run_id, channel, runs.boot FROM due_wide_windows
            LEFT JOIN runs ON runs.id = run_id WHERE number < ?1 AND (number, run_id) > (?2, ?3)
            ORDER BY number, run_id LIMIT 1
            """)
        updateDue = try database.prepare(
            "UPDATE due_wide_windows SET channel = ?3 WHERE number = ?2 AND run_id = ?1")
        deleteDue = try database.prepare(
            "DELETE FROM due_wide_windows WHERE number = ?2 AND run_id = ?1")
        selectChannel = try database.prepare(
            """
            SELECT number FROM channels WHERE run_id = ?1 AND number > ?2
            ORDER BY number LIMIT 1
            """)
    }

    /// The number of the wide window that this narrow one is a part of.
    static func number(of narrow: Int64) -> Int64 { WindowGrid.number(at: narrow, width: factor) }

    /// The narrow windows with these numbers have other readings than before.
    func mark(_ narrow: some Sequence<Int64>, of run: Int64) throws(StoreError) {
        for number in Set(narrow.map(Self.number)).sorted() {
            if let partial, partial.number == number, partial.run == run {
                forget()
                start = (number, run)
            }
            try insertDue.bind(1, run).bind(2, number).run()
        }
    }

    /// Computes those that are due and before this number, as far as the budget goes.
    ///
    /// - Parameter grid: what the wide windows of a boot lie by.
    func compute(
        before end: Int64, _ left: inout Int,
        grid: (BootID) throws(StoreError) -> WindowGrid?
    ) throws(StoreError) {
        while left > 0 {
            selectDue.bind(1, end).bind(2, start.number).bind(3, start.run)
            guard try selectDue.step() else {
                if start == (.min, .min) { return }
                start = (.min, .min)
                continue
            }
            let (number, run) = (selectDue.integer(0), selectDue.integer(1))
            let channel = selectDue.integer(2)
            let boot = BootID(stored: selectDue.bytes(3))
            selectDue.reset()
            var spans: [Range<Int64>] = []
            if let boot { spans = try grid(boot)?.milliseconds(of: number...number) ?? [] }
            try compute(number, of: run, from: channel, spans, &left)
        }
    }

    /// Channel by channel: a run may have thousands.
    private func compute(
        _ number: Int64, of run: Int64, from first: Int64, _ spans: [Range<Int64>],
        _ left: inout Int
    ) throws(StoreError) {
        var channel = first
        while !spans.isEmpty, let next = try self.channel(after: channel, of: run) {
            var sum =
                takePartial(number, of: run, channel: next)
                ?? ChannelSum(channel: next, spans: spans, number: number)
            guard try sum.advance(readings, of: run, &left) else {
                partial = (number, run, sum)
                return try updateDue.bind(1, run).bind(2, number).bind(3, channel).run()
            }
            try rows.put(sum.sum, of: run, channel: next, number: number)
            channel = next
        }
        try deleteDue.bind(1, run).bind(2, number).run()
        left -= 1
    }

    private func takePartial(_ number: Int64, of run: Int64, channel: Int64) -> ChannelSum? {
        defer { forget() }
        guard let partial,
            (partial.number, partial.run, partial.sum.channel) == (number, run, channel)
        else { return nil }
        return partial.sum
    }

    /// What was summed up so far may no longer be what the store has.
    func forget() { partial = nil }

    /// Readings of a run before this millisecond of its board's clock are gone.
    func deleted(before milliseconds: Int64, of run: Int64) {
        guard let partial, partial.run == run, partial.sum.begin < milliseconds else { return }
        forget()
    }

    private func channel(after channel: Int64, of run: Int64) throws(StoreError) -> Int64? {
        selectChannel.bind(1, run).bind(2, channel)
        defer { selectChannel.reset() }
        return try selectChannel.step() ? selectChannel.integer(0) : nil
    }
}

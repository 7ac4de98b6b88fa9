import Collector
import NearbyCore
import Telemetry

/// An entry of the log of changes, which outputs follow.
struct Change: Hashable {
    enum Kind: Int64 {
        /// New readings; `ranges` are their sequence numbers.
        case committed = 0
        /// The run is dated for the first time; `ranges` are milliseconds of the board's clock.
        case dated = 1
        /// Readings have other times than before; `ranges` as of `dated`.
        case redated = 2
    }

    /// Ascending, never used twice.
    var id: Int64 = 0
    var runID: Int64
    var kind: Kind
    /// When it was committed, our UTC, nanoseconds.
    var time: Int64
    var ranges: NumberRanges
    /// New readings.
    var count: Int64 = 0
    /// New readings of all entries up to this one.
    var total: Int64 = 0
    /// Times that readings had, nanoseconds; with `redated`.
    var formerUTC: ClosedRange<Int64>?
}

/// The log of changes: written with each commit while there are outputs, and by nobody else.
///
/// The total of an entry is that of the one before and its own count: where entries are gone, a
/// reader sees by the totals how many readings it has missed. The total of a damaged store may be
/// any number, and ends at the largest one.
final class ChangeLog {
    private let database: Database
    private let insertChange: Statement
    private let selectRuns: Statement
    private let selectChannels: Statement
    private let readings: ReadingTable
    /// Whether there is anybody to write it for.
    var isKept = false
    /// Our UTC at the commit under way, nanoseconds.
    var time: Int64 = 0

    init(_ database: Database, _ readings: ReadingTable) throws(StoreError) {
        self.database = database
        self.readings = readings
        insertChange = try database.prepare(
            """
            INSERT INTO changes
            (run_id, kind, time, low, high, count, total, ranges, former_first, former_last)
            SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?6 + min(\(Self.totalSQL), \(Int64.max) - ?6),
                ?7, ?8, ?9
            """)
        selectRuns = try database.prepare("SELECT id FROM runs WHERE boot = ?1 ORDER BY id")
        selectChannels = try database.prepare("SELECT number FROM channels WHERE run_id = ?1")
    }

    /// Of all entries that ever were.
    static let totalSQL = """
        coalesce((SELECT total FROM changes ORDER BY id DESC LIMIT 1),
            (SELECT max(total) FROM cursors), 0)
        """

    /// Of an entry: no output is within it. The place in it that a cursor has would be taken for
    /// one in the next.
    static let isNotUnderWay = """
        NOT EXISTS (SELECT 1 FROM cursors WHERE changes.id =
            (SELECT min(later.id) FROM changes AS later WHERE later.id > cursors.change))
        """

    func add(_ added: [ReadingRow], of runID: Int64) throws(StoreError) {
        guard isKept, !added.isEmpty else { return }
        var ranges = NumberRanges()
        // They may come channel by channel: unsorted, most numbers would begin a range of their
        // own, or join two in the middle of the list.
        for number in added.map(\.sequence).sorted() {
            let sequence = UInt64(number)
            ranges.insert(sequence..<sequence + 1)
        }
        try insert(
            Change(
                runID: runID, kind: .committed, time: time, ranges: ranges,
                count: Int64(added.count)))
    }

    /// The layout by which readings of a boot are dated for outputs has changed.
    ///
    /// - Parameters:
    ///   - moved: what has another offset now, milliseconds of the board's clock.
    ///   - layout: as it is now.
    func add(
        _ moved: [WindowLayout.MovedSpan], of boot: BootID, to layout: Stretches
    ) throws(StoreError) {
        guard isKept, !moved.isEmpty else { return }
        var runs: [Int64] = []
        selectRuns.bind(1, boot.storedBytes)
        while try selectRuns.step() { runs.append(selectRuns.integer(0)) }
        for run in runs { try add(moved, ofRun: run, to: layout) }
    }

    private func add(
        _ moved: [WindowLayout.MovedSpan], ofRun runID: Int64, to layout: Stretches
    ) throws(StoreError) {
        for span in moved {
            guard let readings = try milliseconds(of: runID, within: span.milliseconds) else {
                continue
            }
            var change = Change(runID: runID, kind: .dated, time: time, ranges: NumberRanges())
            change.ranges.insert(Self.unsigned(readings))
            if let former = span.formerOffset, let old = Stretches([(0, former)]) {
                let utc = old.utc(readings.lowerBound)...old.utc(readings.upperBound)
                change.kind = .redated
                change.formerUTC = utc
                // Whoever deletes that time deletes what lies in it now, too.
                for now in layout.milliseconds(
                    from: utc.lowerBound, to: utc.upperBound.addingSaturating(1))
                where !now.isEmpty {
                    change.ranges.insert(Self.unsigned(now.lowerBound...now.upperBound - 1))
                }
            }
            try insert(change)
        }
    }

    private static func unsigned(_ range: ClosedRange<Int64>) -> Range<UInt64> {
        UInt64(max(0, range.lowerBound))..<UInt64(max(0, range.upperBound)) + 1
    }

    /// From the first to the last reading of a run in a span; nil if there is none.
    private func milliseconds(
        of runID: Int64, within span: Range<Int64>
    ) throws(StoreError) -> ClosedRange<Int64>? {
        var channels: [Int64] = []
        selectChannels.bind(1, runID)
        while try selectChannels.step() { channels.append(selectChannels.integer(0)) }
        var found: ClosedRange<Int64>?
        for channel in channels {
            guard let own = try readings.span(of: runID, channel: channel, in: span) else {
                continue
            }
            found = found?.widened(to: own.lowerBound).widened(to: own.upperBound) ?? own
        }
        return found
    }

    /// Entries that go by time hold the whole run: their lowest number is 0.
    private func insert(_ change: Change) throws(StoreError) {
        let numbers = change.kind == .committed ? change.ranges.ranges : []
        let low = numbers.first.map { Int64(clamping: $0.lowerBound) } ?? 0
        let high = numbers.last.map { Int64(clamping: $0.upperBound) - 1 } ?? .max
        try insertChange.bind(1, change.runID).bind(2, change.kind.rawValue)
            .bind(3, change.time).bind(4, low).bind(5, high).bind(6, change.count)
            .bind(7, change.ranges.storedBytes)
            .bind(8, optional: change.formerUTC?.lowerBound)
            .bind(9, optional: change.formerUTC?.upperBound).run()
    }
}

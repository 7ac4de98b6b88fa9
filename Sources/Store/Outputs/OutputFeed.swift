import Fleet
import NearbyCore
import Outputs
import Telemetry

/// What an output is to be given, read out of the store behind its cursor. Has a connection of its
/// own, and belongs on the output's thread.
///
/// What came in last has precedence: what the store had before the output comes while nothing else
/// waits.
public final class OutputFeed {
    /// A piece of what waits.
    public struct Page: Sendable {
        public var batch = OutputBatch()
        /// Where the output stands when it has the batch.
        public var cursor: OutputCursor
        /// Readings that were deleted before they came to be in a batch.
        public var lostCount: UInt64 = 0
        /// Whether there is more behind it, or may be.
        public var isMore = false
        /// Readings that wait, those of this batch included, as far as that is known.
        public var waitingCount: UInt64 = 0
        /// UTC of the oldest of them, nanoseconds, as far as that is known; nil if none waits.
        public var oldest: Int64?
        /// Since when the output has been behind: when the first of its news was committed, or UTC
        /// of the oldest that was there before it.
        public var since: Int64?

        /// Totals of a damaged store may differ by any number.
        fileprivate mutating func lose(_ count: Int64) {
            lostCount = lostCount.addingSaturating(UInt64(clamping: count))
        }
    }

    /// What was committed longer ago is no news.
    static let newsAge: Duration = .seconds(60)
    /// For so long an estimate of the history serves.
    private static let countAge: Duration = .seconds(10)
    /// Entries of the log that a page reads at most.
    static let changesMax = 512

    private let database: Database
    private let output: String
    private let readings: OutputReadings
    private var runs: OutputRuns
    private let selectChanges: Statement
    private let selectDating: Statement
    private let selectHistory: Statement
    private let selectTotals: Statement
    /// Readings of runs in the history and UTC of the first, and our UTC when that was looked up.
    private var history: (count: Int64, oldest: Int64?, time: Int64)?

    /// Throws what `StoreReader` throws for a file that is no store.
    public init(_ path: String, output: String, words: FleetWords) throws(StoreError) {
        database = try StoreReader.open(path)
        self.output = output
        readings = try OutputReadings(database)
        runs = try OutputRuns(database, words)
        selectChanges = try database.prepare(
            """
            SELECT id, run_id, kind, time, ranges, count, total, former_first, former_last
            FROM changes WHERE id > ?1 ORDER BY id LIMIT \(Self.changesMax)
            """)
        selectDating = try database.prepare(
            "SELECT 1 FROM changes WHERE run_id = ?1 AND low = 0 AND kind = ?2 AND id > ?3")
        selectHistory = try database.prepare(
            """
            SELECT run_id, ranges FROM output_history WHERE output = ?1 AND run_id >= ?2
            ORDER BY run_id LIMIT 1
            """)
        selectTotals = try database.prepare(
            """
            SELECT (SELECT total FROM changes ORDER BY id DESC LIMIT 1),
                (SELECT time FROM changes WHERE id > ?1 ORDER BY id LIMIT 1)
            """)
    }

    /// What comes after the cursor: at most so many readings, all of one snapshot of the store.
    ///
    /// - Parameter utc: ours, nanoseconds.
    public func next(
        after cursor: OutputCursor, limit: Int = Limits.outputBatchReadings, utc: Int64
    ) throws(StoreError) -> Page {
        var page = Page(cursor: cursor)
        try database.execute("BEGIN")
        do {
            try estimate(&page, utc)
            var builder = BatchBuilder(limit: limit)
            try addChanges(to: &builder, &page, utc)
            if builder.isEmpty, !page.isMore { try addHistory(to: &builder, &page) }
            page.batch = builder.batch
            let first = page.batch.isCorrection ? nil : page.batch.readings.map(\.utc).min()
            page.oldest = [page.since, first].compactMap { $0 }.min()
            try database.execute("COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
        return page
    }

    private func estimate(_ page: inout Page, _ utc: Int64) throws(StoreError) {
        let cursor = page.cursor
        selectTotals.bind(1, cursor.change)
        if try selectTotals.step() {
            let total = selectTotals.optionalInteger(0) ?? cursor.total
            let waiting = total.subtractingSaturating(cursor.total)
            page.waitingCount = UInt64(clamping: waiting.subtractingSaturating(cursor.place.count))
            page.since = selectTotals.optionalInteger(1)
        }
        selectTotals.reset()
        let history = try lookUpHistory(cursor, utc)
        page.waitingCount += UInt64(clamping: history.count)
        page.since = [page.since, history.oldest].compactMap { $0 }.min()
    }

    /// As it was at most ten seconds ago.
    private func lookUpHistory(
        _ cursor: OutputCursor, _ utc: Int64
    ) throws(StoreError) -> (count: Int64, oldest: Int64?) {
        if let history, history.count == 0 { return (0, nil) }
        if let history,
            utc.subtractingSaturating(history.time).magnitude < Self.countAge.nanoseconds.magnitude
        {
            return (history.count, history.oldest)
        }
        let sum = try database.prepare(
            "SELECT total(count) FROM output_history WHERE output = ?1 AND run_id >= ?2")
        sum.bind(1, output).bind(2, cursor.historyRun)
        let count = try sum.step() ? sum.integer(0) : 0
        let oldest = try firstOfHistory(cursor)
        history = (count, oldest, utc)
        return (count, oldest)
    }

    /// UTC of the first that waits, if its clock is known.
    private func firstOfHistory(_ cursor: OutputCursor) throws(StoreError) -> Int64? {
        guard let next = try runOfHistory(cursor), let run = try runs.run(next.id),
            let layout = try runs.layout(of: run.boot)
        else { return nil }
        let place = next.id == cursor.historyRun ? cursor.historySequence : 0
        let rows = try readings.read(next.id, next.ranges, after: place, limit: 1)
        return rows.first.map { layout.utc($0.reading.milliseconds) }
    }

    private func runOfHistory(
        _ cursor: OutputCursor
    ) throws(StoreError) -> (id: Int64, ranges: NumberRanges)? {
        selectHistory.bind(1, output).bind(2, cursor.historyRun)
        guard try selectHistory.step() else { return nil }
        defer { selectHistory.reset() }
        let ranges = try? NumberRanges(parsingStored: selectHistory.bytes(1))
        return (selectHistory.integer(0), ranges ?? NumberRanges())
    }

    // MARK: The log

    private func addChanges(
        to builder: inout BatchBuilder, _ page: inout Page, _ utc: Int64
    ) throws(StoreError) {
        let changes = try changes(after: page.cursor.change)
        for change in changes {
            let isHistorical =
                change.kind != .committed
                || utc.subtractingSaturating(change.time) > Self.newsAge.nanoseconds
            let isCorrection = change.kind == .redated
            guard builder.accepts(isHistorical: isHistorical, isCorrection: isCorrection) else {
                page.isMore = true
                return
            }
            let isDone = try add(change, to: &builder, &page)
            guard isDone else {
                page.isMore = true
                return
            }
        }
        page.isMore = changes.count == Self.changesMax
    }

    private func changes(after id: Int64) throws(StoreError) -> [Change] {
        var changes: [Change] = []
        selectChanges.bind(1, id)
        while try selectChanges.step() {
            var change = Change(
                id: selectChanges.integer(0), runID: selectChanges.integer(1),
                kind: Change.Kind(rawValue: selectChanges.integer(2)) ?? .committed,
                time: selectChanges.integer(3),
                ranges: (try? NumberRanges(parsingStored: selectChanges.bytes(4)))
                    ?? NumberRanges(), count: selectChanges.integer(5),
                total: selectChanges.integer(6))
            if let first = selectChanges.optionalInteger(7),
                let last = selectChanges.optionalInteger(8), first <= last
            {
                change.formerUTC = first...last
            }
            changes.append(change)
        }
        return changes
    }

    /// Returns whether all of it is in the batch; then the cursor is behind it.
    private func add(
        _ change: Change, to builder: inout BatchBuilder, _ page: inout Page
    ) throws(StoreError) -> Bool {
        if page.cursor.place.isStart {
            // Entries between were deleted, as their readings were.
            let before = change.total.subtractingSaturating(change.count)
            page.lose(before.subtractingSaturating(page.cursor.total))
        }
        let run = try runs.run(change.runID)
        var isMissing = run == nil
        if let run, let layout = try runs.layout(of: run.boot),
            try !isDatedLater(change)
        {
            if let former = change.formerUTC, page.cursor.place.isStart {
                builder.add(
                    OutputRedating(peer: run.node.peer, run: run.node.run, formerUTC: former))
            }
            let source = BatchBuilder.Source(id: change.runID, run: run, layout: layout)
            let isDone =
                change.kind == .committed
                ? try addNumbers(of: change, source, to: &builder, &page)
                : try addTimes(of: change, source, to: &builder, &page)
            guard isDone else { return false }
            isMissing = change.kind == .committed
        }
        if isMissing {
            page.lose(change.count.subtractingSaturating(page.cursor.place.count))
        }
        page.cursor.change = change.id
        page.cursor.total = change.total
        page.cursor.place = OutputCursor.Place()
        return true
    }

    /// Whether the readings of a commit come once more, because nothing was known of their clock.
    private func isDatedLater(_ change: Change) throws(StoreError) -> Bool {
        guard change.kind == .committed else { return false }
        selectDating.bind(1, change.runID).bind(2, Change.Kind.dated.rawValue).bind(3, change.id)
        defer { selectDating.reset() }
        return try selectDating.step()
    }

    private func addNumbers(
        of change: Change, _ source: BatchBuilder.Source, to builder: inout BatchBuilder,
        _ page: inout Page
    ) throws(StoreError) -> Bool {
        let place = page.cursor.place
        let rows = try readings.read(
            change.runID, change.ranges, after: place.sequence, limit: builder.room)
        builder.add(rows, of: source, &runs)
        page.cursor.place.count = place.count.addingSaturating(Int64(rows.count))
        if let last = rows.last { page.cursor.place.sequence = last.reading.sequence }
        return builder.room > 0
    }

    /// Channel by channel, so that the index serves.
    private func addTimes(
        of change: Change, _ source: BatchBuilder.Source, to builder: inout BatchBuilder,
        _ page: inout Page
    ) throws(StoreError) -> Bool {
        for channel in source.run.channels where channel >= page.cursor.place.channel {
            if channel > page.cursor.place.channel {
                page.cursor.place = OutputCursor.Place(channel: channel)
            }
            for range in change.ranges.ranges {
                let span = Int64(clamping: range.lowerBound)..<Int64(clamping: range.upperBound)
                let place = page.cursor.place
                guard place.milliseconds < span.upperBound else { continue }
                let rows = try readings.read(
                    change.runID, channel: channel, within: span,
                    after: (place.milliseconds, place.sequence), limit: builder.room)
                builder.add(rows, of: source, &runs)
                if let last = rows.last?.reading {
                    page.cursor.place.milliseconds = last.milliseconds
                    page.cursor.place.sequence = last.sequence
                }
                if builder.room == 0 { return false }
            }
        }
        return true
    }

    // MARK: What was there before

    private func addHistory(
        to builder: inout BatchBuilder, _ page: inout Page
    ) throws(StoreError) {
        guard builder.accepts(isHistorical: true, isCorrection: false) else { return }
        builder.markFromBefore()
        for _ in 0..<Self.changesMax {
            guard let (id, ranges) = try runOfHistory(page.cursor) else {
                // Whatever the count was: it includes gaps, for which nothing comes.
                history?.count = 0
                return
            }
            // No run has the last number of all, and the cursor could not leave it behind.
            guard id < .max else { return }
            if id != page.cursor.historyRun {
                page.cursor.historyRun = id
                page.cursor.historySequence = 0
            }
            if let run = try runs.run(id), let layout = try runs.layout(of: run.boot) {
                let rows = try readings.read(
                    id, ranges, after: page.cursor.historySequence, limit: builder.room)
                builder.add(
                    rows, of: BatchBuilder.Source(id: id, run: run, layout: layout), &runs)
                if let last = rows.last { page.cursor.historySequence = last.reading.sequence }
                page.isMore = true
                if builder.room == 0 { return }
            }
            page.cursor.historyRun = id + 1
            page.cursor.historySequence = 0
        }
        page.isMore = true
    }
}

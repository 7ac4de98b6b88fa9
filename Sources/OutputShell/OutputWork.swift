import CollectorConfiguration
import Fleet
import NearbyCore
import NearbyLinux
import Outputs
import Store

/// What an output's thread has in its hands: the sink, the feed, and the page that is on its way.
struct OutputWork {
    private let settings: OutputSettings
    private let words: FleetWords
    private let context: OutputContext
    private let sink: any OutputSink
    private var feed: OutputFeed?
    private var source: OutputSource?
    private var page: OutputFeed.Page?
    private(set) var progress: OutputProgress?
    /// Since when a cursor waits to be kept.
    var unkeptSince: Instant?
    private var postedBatch: UInt64 = 0
    /// Readings that wait, and UTC of the oldest of them, nanoseconds.
    private(set) var waitingCount: UInt64 = 0
    private(set) var oldest: Int64?

    init(_ settings: OutputSettings, words: FleetWords, context: OutputContext) {
        self.settings = settings
        self.words = words
        self.context = context
        sink = context.sink(of: settings)
    }

    /// The store to follow from now on.
    mutating func use(_ source: OutputSource, _ progress: OutputProgress) {
        if source.generation != self.source?.generation || self.progress == nil {
            self.progress = progress
        }
        self.source = source
        feed = nil
        page = nil
    }

    // MARK: What the machine asks for

    mutating func fetch() -> OutputMachine.Input {
        guard let progress, let source else { return .notFetched("the store is not open yet") }
        do throws(StoreError) {
            let feed = try opened(source.path)
            let utc = WallClock.read().unixNanoseconds
            let page = try feed.next(after: progress.cursor, utc: utc)
            self.page = page
            (waitingCount, oldest) = (page.waitingCount, page.oldest)
            return .fetched(Self.summary(of: page, since: progress, utc))
        } catch {
            feed = nil
            return .notFetched("the store: \(error)")
        }
    }

    private mutating func opened(_ path: String) throws(StoreError) -> OutputFeed {
        if let feed { return feed }
        let opened = try OutputFeed(path, output: settings.name, words: words)
        feed = opened
        return opened
    }

    private static func summary(
        of page: OutputFeed.Page, since progress: OutputProgress, _ utc: Int64
    ) -> OutputMachine.Fetched {
        var fetched = OutputMachine.Fetched()
        fetched.readingCount = page.batch.readings.count
        fetched.redatingCount = page.batch.redatings.count
        fetched.isMore = page.isMore
        fetched.hasMoved = page.cursor != progress.cursor || page.lostCount > 0
        fetched.waitingCount = page.waitingCount
        fetched.lag = page.since.map { .nanoseconds(max(0, utc.subtractingSaturating($0))) }
        return fetched
    }

    mutating func deliver() -> OutputMachine.Input {
        guard let page else { return .notFetched("the store is another one") }
        do throws(OutputFault) {
            let receipt = try sink.deliver(page.batch)
            progress?.refusedCount += UInt64(clamping: receipt.refusedCount)
            let taken = page.batch.readings.count - receipt.refusedCount
            progress?.deliveredCount += UInt64(clamping: taken)
            return .delivered(receipt, readingCount: page.batch.readings.count)
        } catch {
            return .failed(error)
        }
    }

    mutating func idle() -> OutputMachine.Input {
        do throws(OutputFault) {
            try sink.idle(context.board.latest ?? FleetSnapshot())
            return .idled
        } catch {
            return .failed(error)
        }
    }

    func close() { sink.close() }

    var estate: OutputEstate? { sink.estate }

    func inherit(_ estate: OutputEstate) { sink.inherit(estate) }

    // MARK: The cursor

    /// The cursor behind the page, to be posted; nil if the store is another one meanwhile.
    mutating func advance(_ batch: UInt64) -> (OutputProgress, generation: UInt64)? {
        guard let page, let source else { return nil }
        progress?.cursor = page.cursor
        progress?.lose(page.lostCount)
        let count = UInt64(clamping: page.batch.readings.count)
        waitingCount = waitingCount > count ? waitingCount - count : 0
        if waitingCount == 0 { oldest = nil }
        self.page = nil
        postedBatch = batch
        unkeptSince = unkeptSince ?? MonotonicClock.now()
        return progress.map { ($0, source.generation) }
    }

    /// Returns whether that is news.
    mutating func kept(upTo batch: UInt64) -> Bool {
        guard unkeptSince != nil else { return false }
        if batch >= postedBatch { unkeptSince = nil }
        return true
    }
}

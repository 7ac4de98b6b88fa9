import NearbyCore

/// What an agent has measured and no collector has committed: this run's readings, and those of
/// earlier runs that were found on disk. Bounded; what has to go is announced as a gap.
public struct Journal: Sendable {
    public struct Settings: Sendable {
        /// What blocks may take in memory, bytes.
        public var memoryBytesMax = 4 << 20
        /// How long readings stay in memory only; nil: there is no spool.
        public var spoolAfter: Duration?

        public init() {}
    }

    private let settings: Settings
    private let run: RunID
    private var current: RunJournal
    /// A run is here at most once, never as `current`, and its birth is in `births`, which explains
    /// what is sent of it. A birth stays as long as readings or gaps of its run do. Runs of which
    /// nothing is left, and births that nothing needs, go with the next receipt (`settle`).
    private(set) var earlier: [RunJournal] = []
    private(set) var births: [RunID: Birth] = [:]
    /// Oldest first, at most `Limits.gapsMax`; two that follow one another for one reason are one.
    private(set) var gaps: [PendingGap] = []
    /// Readings that were given up since the start.
    public private(set) var lostCount: UInt64 = 0

    struct PendingGap: Equatable, Sendable {
        var gap: Gap
        /// When the collector was told.
        var announcedAt: Instant?
    }

    public init(run: RunID, settings: Settings = Settings()) {
        self.run = run
        self.settings = settings
        current = RunJournal(run: run)
    }

    /// Takes up what was found on disk. Holes between the blocks of a run went with the power, as
    /// far as no collector has them.
    public mutating func restore(_ runs: [SpooledRun], now: Instant) {
        for found in runs where found.birth.run != run && births[found.birth.run] == nil {
            let journal = RunJournal(run: found.birth.run, blocks: found.blocks, now: now)
            guard !journal.isEmpty else { continue }
            births[found.birth.run] = found.birth
            let ranges = journal.held.ranges
            for (range, next) in zip(ranges, ranges.dropFirst())
            where range.upperBound < next.lowerBound {
                announce([range.upperBound..<next.lowerBound], of: found.birth.run, .power)
            }
            earlier.append(journal)
        }
    }

    // MARK: What is held

    /// Readings that are held and not settled.
    public var count: Int {
        Int(clamping: earlier.reduce(current.unsettledCount) { $0 &+ $1.unsettledCount })
    }

    /// In memory, bytes, roughly.
    public var memoryByteCount: Int {
        earlier.reduce(current.memoryByteCount) { $0 + $1.memoryByteCount }
    }

    /// Whether anything waits to be sent.
    var hasPending: Bool {
        !current.pending.isEmpty || earlier.contains { !$0.pending.isEmpty }
    }

    /// Readings that wait to be sent, of those that are held.
    public var pendingCount: Int {
        Int(clamping: earlier.reduce(current.pending.count) { $0 &+ $1.pending.count })
    }

    func unsettled(of run: RunID) -> NumberRanges { journal(of: run)?.unsettled ?? NumberRanges() }

    /// The lowest number of a run that is held, or lost in a gap that the collector does not know.
    func lowestHeld(of run: RunID) -> UInt64? {
        let lost = gaps.lazy.filter { $0.gap.run == run }.map(\.gap.range.lowerBound).min()
        guard let held = journal(of: run)?.lowestHeld else { return lost }
        return min(held, lost ?? held)
    }

    /// The birth of an earlier run.
    func birth(of run: RunID) -> Birth? { births[run] }

    /// The birth of an earlier run that explains such reports.
    func birth(covering reference: BirthReference) -> Birth? {
        earlier.lazy.compactMap { births[$0.run] }.first { $0.covers(reference) }
    }

    // MARK: Taking in and sending

    /// Keeps the run's next reading. Returns how many old ones had to go for it.
    mutating func append(_ entry: Report.Entry, now: Instant) -> Int {
        current.append(entry, now: now)
        var lost: UInt64 = 0
        if current.memoryByteCount > settings.memoryBytesMax {
            current.forgetCopies(downTo: settings.memoryBytesMax)
        }
        while current.memoryByteCount > settings.memoryBytesMax, !current.isEmpty {
            lost += announce(current.dropOldest(), of: run, .memoryFull)
        }
        while current.held.closed.count > Limits.journalBlocksMax {
            lost += announce(current.dropOldest(), of: run, .spoolFull)
        }
        return Int(clamping: lost)
    }

    /// These readings of the present run left in a report.
    mutating func sent(_ range: Range<UInt64>) { current.sent(range) }

    mutating func requeue(_ stretch: RunRange) {
        change(stretch.run) { $0.requeue(stretch.range) }
    }

    /// Another collector: everything is sent again that is not settled, and every gap told.
    mutating func requeueAll() {
        current.requeueAll()
        for index in earlier.indices { earlier[index].requeueAll() }
        for index in gaps.indices { gaps[index].announcedAt = nil }
    }

    /// The newest stretch that is to be sent, of the newest run that has one.
    mutating func takeNewest() -> (run: RunID, resend: RunJournal.Resend)? {
        while !current.pending.isEmpty {
            if let taken = current.takeNewest() { return (run, taken) }
        }
        for index in earlier.indices {
            while !earlier[index].pending.isEmpty {
                if let taken = earlier[index].takeNewest() { return (earlier[index].run, taken) }
            }
        }
        return nil
    }

    /// A block came from disk, or could not be read: then it is lost.
    mutating func fetched(_ bytes: [UInt8]?, _ stretch: RunRange) {
        var isWhole = false
        if let bytes { change(stretch.run) { isWhole = $0.fetched(bytes, of: stretch.range) } }
        if !isWhole { drop(stretch, .damaged) }
    }

    // MARK: Settling

    /// Forgets what a receipt settles. Returns whether blocks went that are on disk.
    mutating func settle(_ receipt: Receipt) -> Bool {
        let settled = receipt.settled
        gaps.removeAll { pending in
            pending.gap.run == receipt.run && settled.missing(in: pending.gap.range).isEmpty
        }
        var hasChanged = false
        change(receipt.run) { hasChanged = $0.settle(settled) }
        earlier.removeAll(where: \.isEmpty)
        births = births.filter { run, _ in
            journal(of: run) != nil || gaps.contains { $0.gap.run == run }
        }
        return hasChanged
    }

    func isSettled(_ stretch: RunRange) -> Bool {
        journal(of: stretch.run)?.isSettled(stretch.range) ?? true
    }

    /// Blocks that went from disk.
    mutating func drop(_ stretch: RunRange, _ reason: GapReason) {
        var lost: [Range<UInt64>] = []
        change(stretch.run) { lost = $0.drop(stretch.range) }
        announce(lost, of: stretch.run, reason)
    }

    /// What nobody was told yet, at most `count`.
    mutating func takeGaps(_ count: Int, now: Instant) -> [Gap] {
        var result: [Gap] = []
        for index in gaps.indices where gaps[index].announcedAt == nil && result.count < count {
            gaps[index].announcedAt = now
            result.append(gaps[index].gap)
        }
        return result
    }

    var hasUnannouncedGaps: Bool { gaps.contains { $0.announcedAt == nil } }

    /// Gaps that no receipt has settled in time are told again: the collector may have started
    /// anew with the news. Returns their runs.
    mutating func announceGapsAgain(now: Instant) -> [RunID] {
        var runs: [RunID] = []
        for index in gaps.indices {
            guard let last = gaps[index].announcedAt, now >= last + Limits.gapTimeout else {
                continue
            }
            gaps[index].announcedAt = nil
            runs.append(gaps[index].gap.run)
        }
        return runs
    }

    // MARK: Disk

    /// When blocks are due to go to disk; nil: never, or nothing is there.
    var spoolDeadline: Instant? {
        guard let spoolAfter = settings.spoolAfter, let oldest = current.oldestUnspooled else {
            return nil
        }
        return isMemoryLow ? .zero : oldest + spoolAfter
    }

    /// The next blocks for the disk: those that were in memory at least half of `spoolAfter`.
    mutating func takeUnspooled(now: Instant) -> [SpoolBlock] {
        guard let spoolAfter = settings.spoolAfter else { return [] }
        let limit = isMemoryLow ? now : now - spoolAfter / 2
        return current.unspooled(takenBy: limit, bytesMax: Limits.spoolBatchBytesMax)
    }

    /// Everything that is not on disk, as before the process ends.
    mutating func takeAllUnspooled() -> [SpoolBlock] {
        guard settings.spoolAfter != nil else { return [] }
        return current.unspooled(takenBy: .distantFuture, bytesMax: .max)
    }

    /// Returns whether the block is still held.
    mutating func spooled(_ range: Range<UInt64>, at place: SpoolPlace) -> Bool {
        let isHeld = current.spooled(range, at: place)
        if isMemoryLow { current.forgetCopies(downTo: settings.memoryBytesMax / 2) }
        return isHeld
    }

    /// The numbers of a run that the spool need not keep.
    func unneeded(of run: RunID) -> NumberRanges {
        var held = NumberRanges()
        for block in journal(of: run)?.held.closed ?? [] { held.insert(block.range) }
        var rest = NumberRanges()
        for range in held.missing(in: 0..<(.max)) { rest.insert(range) }
        return rest
    }

    private var isMemoryLow: Bool {
        current.memoryByteCount > settings.memoryBytesMax / 4 * 3
    }

    // MARK: Runs and gaps

    private func journal(of run: RunID) -> RunJournal? {
        run == self.run ? current : earlier.first { $0.run == run }
    }

    private mutating func change(_ run: RunID, _ body: (inout RunJournal) -> Void) {
        if run == self.run {
            body(&current)
        } else if let index = earlier.firstIndex(where: { $0.run == run }) {
            body(&earlier[index])
        }
    }

    /// Gaps that follow one another for one reason are one. At the limit the oldest is forgotten:
    /// the collector then sees by "lowest held" that the readings are lost, but not why.
    @discardableResult
    private mutating func announce(
        _ ranges: [Range<UInt64>], of run: RunID, _ reason: GapReason
    ) -> UInt64 {
        var count: UInt64 = 0
        for range in ranges {
            count += range.count64
            if let last = gaps.last?.gap, last.run == run, last.reason == reason,
                last.range.upperBound == range.lowerBound
            {
                let merged = Gap(
                    run: run, range: last.range.lowerBound..<range.upperBound, reason: reason)
                gaps[gaps.count - 1] = PendingGap(gap: merged)
                continue
            }
            if gaps.count >= Limits.gapsMax { gaps.removeFirst() }
            gaps.append(PendingGap(gap: Gap(run: run, range: range, reason: reason)))
        }
        lostCount &+= count
        return count
    }
}

extension Limits {
    /// Gaps that wait until a collector knows them.
    static let gapsMax = 64
    /// How long a receipt is waited for before a gap is told again.
    static let gapTimeout: Duration = .seconds(10)
    /// Blocks that go to disk at a time, bytes.
    static let spoolBatchBytesMax = 64 << 10
}

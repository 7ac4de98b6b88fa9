import NearbyCore

/// What one run's journal holds, in blocks of readings with consecutive numbers, oldest first.
///
/// New readings go into the open block. It is closed when it is full, and before it is sent or
/// brought to disk.
struct JournalBlocks: Sendable {
    struct Block: Sendable {
        let range: Range<UInt64>
        /// A whole report message, but longer than one that is sent. Nil when the copy in memory
        /// was given up for the one on disk.
        var bytes: [UInt8]?
        /// On disk. A block has bytes, a place, or both.
        var place: SpoolPlace?
        /// When its first reading was taken.
        let since: Instant

        var memoryByteCount: Int {
            bytes.map { $0.count + Limits.journalBlockOverheadBytes } ?? 0
        }
    }

    let run: RunID
    /// Blocks rise and do not overlap, and the open one lies above them all; between two of them
    /// numbers are missing only where a block went. None is empty but the open one.
    private(set) var closed: [Block] = []
    private var open = ReportEncoder()
    private var openSince = Instant.zero
    /// The sum over the blocks that are in memory, the open one included while it is not empty.
    private(set) var memoryByteCount = 0

    init(run: RunID) { self.run = run }

    /// Blocks on disk, ascending; what overlaps the one before is left out.
    init(run: RunID, found: [(range: Range<UInt64>, place: SpoolPlace)], now: Instant) {
        self.run = run
        for (range, place) in found where !range.isEmpty {
            if let last = closed.last, last.range.upperBound > range.lowerBound { continue }
            closed.append(Block(range: range, bytes: nil, place: place, since: now))
        }
    }

    // MARK: Adding

    /// Adds the reading whose number is the next one.
    mutating func append(_ entry: Report.Entry, now: Instant) {
        if !open.append(entry, bytesMax: Limits.journalBlockBytesMax) {
            closeOpen()
            _ = open.append(entry, bytesMax: Limits.journalBlockBytesMax)
        }
        guard open.count == 1 else { return }
        openSince = now
        memoryByteCount += Limits.journalBlockOverheadBytes
    }

    mutating func closeOpen() {
        guard open.count > 0 else { return }
        let bytes = open.bytes(
            birth: BirthReference(run: run, number: 0), lowestHeld: open.firstSequence)
        let block = Block(range: openRange, bytes: bytes, place: nil, since: openSince)
        dropOpen()
        closed.append(block)
        memoryByteCount += block.memoryByteCount
    }

    // MARK: Taking away

    /// Lets go of the blocks whose numbers pass, the open one as well.
    mutating func remove(
        where passes: (Range<UInt64>) -> Bool
    ) -> (ranges: [Range<UInt64>], hasLeftDisk: Bool) {
        var ranges: [Range<UInt64>] = []
        var hasLeftDisk = false
        closed.removeAll { block in
            guard passes(block.range) else { return false }
            memoryByteCount -= block.memoryByteCount
            ranges.append(block.range)
            if block.place != nil { hasLeftDisk = true }
            return true
        }
        if open.count > 0, passes(openRange) {
            ranges.append(openRange)
            dropOpen()
        }
        return (ranges, hasLeftDisk)
    }

    mutating func remove(at index: Int) {
        memoryByteCount -= closed.remove(at: index).memoryByteCount
    }

    private mutating func dropOpen() {
        memoryByteCount -= Limits.journalBlockOverheadBytes
        open = ReportEncoder()
    }

    // MARK: Memory and disk

    mutating func restoreCopy(_ bytes: [UInt8], at index: Int) {
        guard closed[index].bytes == nil else { return }
        closed[index].bytes = bytes
        memoryByteCount += closed[index].memoryByteCount
    }

    mutating func spooled(at index: Int, _ place: SpoolPlace) { closed[index].place = place }

    /// Gives up the copy in memory of a block that is on disk.
    mutating func forgetCopy(at index: Int) {
        guard closed[index].place != nil else { return }
        memoryByteCount -= closed[index].memoryByteCount
        closed[index].bytes = nil
    }

    /// The same for all, oldest first, until so many bytes are left.
    mutating func forgetCopies(downTo byteCount: Int) {
        for index in closed.indices where memoryByteCount > byteCount { forgetCopy(at: index) }
    }

    /// Blocks in memory only whose first reading was taken by `limit`, oldest first, at most
    /// `bytesMax` bytes of them but at least one. The open block is closed if it is among them.
    mutating func unspooled(takenBy limit: Instant, bytesMax: Int) -> [SpoolBlock] {
        if open.count > 0, openSince <= limit { closeOpen() }
        var result: [SpoolBlock] = []
        var byteCount = 0
        for block in closed where block.place == nil && block.since <= limit {
            guard let bytes = block.bytes else { continue }
            byteCount += bytes.count
            if !result.isEmpty, byteCount > bytesMax { break }
            result.append(SpoolBlock(run: run, range: block.range, bytes: bytes))
        }
        return result
    }

    /// When the oldest reading was taken that is in memory only.
    var oldestUnspooled: Instant? {
        closed.first { $0.place == nil }?.since ?? (open.count > 0 ? openSince : nil)
    }

    // MARK: Numbers

    var isEmpty: Bool { closed.isEmpty && open.count == 0 }

    /// How many readings are held.
    var count: UInt64 { closed.reduce(UInt64(open.count)) { $0 &+ $1.range.count64 } }

    /// Of the blocks, the open one last.
    var ranges: [Range<UInt64>] { closed.map(\.range) + (open.count > 0 ? [openRange] : []) }

    /// The lowest number.
    var first: UInt64? {
        closed.first?.range.lowerBound ?? (open.count > 0 ? open.firstSequence : nil)
    }

    func contains(_ number: UInt64) -> Bool {
        index(of: number) != nil || openRange.contains(number)
    }

    /// Those of the open block.
    private var openRange: Range<UInt64> {
        open.count == 0 ? 0..<0 : open.firstSequence..<open.lastSequence + 1
    }

    /// The parts of the range that are held.
    func parts(of range: Range<UInt64>) -> [Range<UInt64>] {
        var parts: [Range<UInt64>] = []
        var position = firstIndex { $0.range.upperBound > range.lowerBound }
        while position < closed.count, closed[position].range.lowerBound < range.upperBound {
            let part = closed[position].range.clamped(to: range)
            if let last = parts.last, last.upperBound == part.lowerBound {
                parts[parts.count - 1] = last.lowerBound..<part.upperBound
            } else {
                parts.append(part)
            }
            position += 1
        }
        let part = openRange.clamped(to: range)
        if !part.isEmpty { parts.append(part) }
        return parts
    }

    /// The closed block that has this number.
    func index(of number: UInt64) -> Int? {
        let index = firstIndex { $0.range.upperBound > number }
        guard index < closed.count, closed[index].range.contains(number) else { return nil }
        return index
    }

    /// The closed block of exactly these numbers.
    func index(ofBlock range: Range<UInt64>) -> Int? {
        guard let index = index(of: range.lowerBound), closed[index].range == range else {
            return nil
        }
        return index
    }

    private func firstIndex(where passes: (Block) -> Bool) -> Int {
        var low = 0
        var high = closed.count
        while low < high {
            let middle = (low + high) / 2
            if passes(closed[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Range<UInt64> {
    var count64: UInt64 { upperBound - lowerBound }
}

extension Limits {
    /// A block of the journal, bytes of its report message.
    public static let journalBlockBytesMax = 8_192
    /// What a block costs in memory beside its bytes.
    static let journalBlockOverheadBytes = 112
    /// Blocks of a run, most of them on disk.
    static let journalBlocksMax = 32_768
}

import NearbyCore

/// The readings of one run that are not settled, in blocks, oldest first.
///
/// A reading is pending while it is to be sent, and on its way otherwise. Blocks go when all their
/// readings are settled; until then they are kept whole.
struct RunJournal: Sendable {
    struct Block: Sendable {
        var range: Range<UInt64>
        /// A whole report message, but longer than one that is sent. Nil when the copy in memory
        /// was given up for the one on disk.
        var bytes: [UInt8]?
        var place: SpoolPlace?
        /// When its first reading was taken.
        var since: Instant
    }

    enum Taken: Sendable {
        case report(ReportEncoder)
        /// The stretch has to be read from disk first.
        case fetch(SpoolPlace, of: Range<UInt64>)
    }

    let run: RunID
    private(set) var blocks: [Block] = []
    /// Of the numbers that are held in blocks or in the open one.
    private(set) var settled = NumberRanges()
    private(set) var pending = NumberRanges()
    /// Of what is in memory, the open block included.
    private(set) var memoryByteCount = 0
    private var open = ReportEncoder()
    private var openSince = Instant.zero

    init(run: RunID) { self.run = run }

    /// A run that ended before; its blocks are on disk, and all of it is to be sent.
    init(run: RunID, blocks found: [(range: Range<UInt64>, place: SpoolPlace)], now: Instant) {
        self.run = run
        for (range, place) in found where !range.isEmpty {
            if let last = blocks.last, last.range.upperBound > range.lowerBound { continue }
            blocks.append(Block(range: range, bytes: nil, place: place, since: now))
            pending.insert(range)
        }
    }

    /// The numbers that are in the open block.
    private var openRange: Range<UInt64> {
        open.count == 0 ? 0..<0 : open.firstSequence..<open.lastSequence + 1
    }

    var isEmpty: Bool { blocks.isEmpty && open.count == 0 }

    /// The lowest number that is held and not settled; nil if nothing is.
    var lowestHeld: UInt64? {
        guard let first = firstHeld else { return nil }
        return settled.end(from: first)
    }

    private var firstHeld: UInt64? {
        blocks.first?.range.lowerBound ?? (open.count > 0 ? open.firstSequence : nil)
    }

    /// Whether the reading of this number is in a block, settled or not.
    func holds(_ number: UInt64) -> Bool {
        index(of: number) != nil || openRange.contains(number)
    }

    /// Those that are held and not settled.
    var unsettled: NumberRanges {
        var numbers = NumberRanges()
        for range in blocks.map(\.range) + [openRange] {
            for part in settled.missing(in: range) { numbers.insert(part) }
        }
        return numbers
    }

    /// How many readings are held and not settled.
    var unsettledCount: UInt64 {
        let held = blocks.reduce(UInt64(open.count)) { $0 &+ $1.range.count64 }
        return held &- settled.count
    }

    /// When the oldest reading was taken that is in memory only.
    var oldestUnspooled: Instant? {
        blocks.first { $0.place == nil }?.since ?? (open.count > 0 ? openSince : nil)
    }

    // MARK: Taking in and sending

    /// Keeps the next reading; its number is above all before. It is pending.
    mutating func append(_ entry: Report.Entry, now: Instant) {
        if !open.append(entry, bytesMax: Limits.journalBlockBytesMax) {
            closeOpen()
            _ = open.append(entry, bytesMax: Limits.journalBlockBytesMax)
        }
        if open.count == 1 {
            openSince = now
            memoryByteCount += Limits.journalBlockOverheadBytes
        }
        pending.insert(entry.sequence..<entry.sequence + 1)
    }

    /// These readings left in a report.
    mutating func sent(_ range: Range<UInt64>) { pending.remove(range) }

    /// These are to be sent again, as far as they are held and not settled.
    mutating func repend(_ range: Range<UInt64>) {
        for held in heldParts(of: range) {
            for missing in settled.missing(in: held) { pending.insert(missing) }
        }
    }

    /// Everything that is held and not settled is to be sent.
    mutating func rependAll() { repend(0..<(.max)) }

    /// The newest readings that are to be sent, as many as fit a message; they count as on their
    /// way from now on. Nil if nothing is to be sent.
    mutating func takeNewest() -> Taken? {
        while let newest = pending.ranges.last {
            if open.count > 0, newest.upperBound > open.firstSequence { closeOpen() }
            guard let index = index(of: newest.upperBound - 1) else {
                pending.remove(newest)
                continue
            }
            let block = blocks[index]
            guard let bytes = block.bytes else {
                pending.remove(block.range)
                if let place = block.place { return .fetch(place, of: block.range) }
                continue
            }
            guard let encoder = newestPending(in: bytes) else {
                pending.remove(block.range)
                continue
            }
            pending.remove(encoder.firstSequence..<encoder.lastSequence + 1)
            if block.place != nil, pending.end(from: newest.lowerBound) == newest.lowerBound {
                forgetCopy(index)
            }
            return .report(encoder)
        }
        return nil
    }

    /// A report of pending readings out of a block, the newest as far as they fit.
    private func newestPending(in bytes: [UInt8]) -> ReportEncoder? {
        guard let entries = Self.entries(in: bytes) else { return nil }
        let wanted = entries.filter { pending.contains($0.sequence) }
        let entryByteCount = max(1, bytes.count / max(1, entries.count))
        var count = max(1, Limits.resendBytesMax / entryByteCount)
        while true {
            let newest = wanted.suffix(count)
            var encoder = ReportEncoder()
            for entry in newest {
                guard encoder.append(entry, bytesMax: Limits.resendBytesMax) else { break }
            }
            if encoder.count == newest.count { return encoder.count > 0 ? encoder : nil }
            // The guess was too high: fewer, but the newest.
            count = max(1, encoder.count - encoder.count / 8 - 1)
        }
    }

    /// A block that was read from disk: it is in memory from now on, and what of it is not settled
    /// is to be sent. False if the bytes are not that block.
    mutating func fetched(_ bytes: [UInt8], of range: Range<UInt64>) -> Bool {
        guard let index = index(of: range.lowerBound), blocks[index].range == range else {
            return true
        }
        guard let entries = Self.entries(in: bytes), UInt64(entries.count) == range.count64,
            entries.first?.sequence == range.lowerBound,
            entries.last?.sequence == range.upperBound - 1
        else { return false }
        if blocks[index].bytes == nil {
            blocks[index].bytes = bytes
            memoryByteCount += Self.memoryBytes(of: blocks[index])
        }
        repend(range)
        return true
    }

    private static func entries(in block: [UInt8]) -> [Report.Entry]? {
        var reader = ByteReader(block)
        var skipped = 0
        guard (try? reader.readUInt8()) == TelemetryTag.report.rawValue,
            let report = try? Report(parsing: &reader, skippedFields: &skipped)
        else { return nil }
        return report.entries
    }

    // MARK: Settling

    /// Forgets what is settled. Returns whether a block went that is on disk.
    mutating func settle(_ numbers: NumberRanges) -> Bool {
        var hasChanged = false
        for range in numbers.ranges {
            for held in heldParts(of: range) {
                if !settled.missing(in: held).isEmpty { hasChanged = true }
                settled.insert(held)
                pending.remove(held)
            }
        }
        guard hasChanged else { return false }
        var hasLeftDisk = false
        blocks.removeAll { block in
            guard settled.end(from: block.range.lowerBound) >= block.range.upperBound else {
                return false
            }
            memoryByteCount -= Self.memoryBytes(of: block)
            if block.place != nil { hasLeftDisk = true }
            return true
        }
        if open.count > 0, settled.end(from: open.firstSequence) > open.lastSequence { dropOpen() }
        forgetWhatIsNotHeld()
        return hasLeftDisk
    }

    func isSettled(_ range: Range<UInt64>) -> Bool {
        heldParts(of: range).allSatisfy { settled.missing(in: $0).isEmpty }
    }

    /// Gives up the oldest block. Returns what of it was not settled.
    mutating func dropOldest() -> [Range<UInt64>] {
        if blocks.isEmpty { closeOpen() }
        guard let range = blocks.first?.range else { return [] }
        return drop(range)
    }

    /// Gives up the block of these numbers, which cannot be read any more or went from disk.
    mutating func drop(_ range: Range<UInt64>) -> [Range<UInt64>] {
        guard let index = index(of: range.lowerBound), blocks[index].range == range else {
            return []
        }
        let lost = settled.missing(in: range)
        memoryByteCount -= Self.memoryBytes(of: blocks.remove(at: index))
        pending.remove(range)
        forgetWhatIsNotHeld()
        return lost
    }

    // MARK: Disk

    /// Blocks in memory only whose first reading was taken by `limit`, oldest first, at most
    /// `bytesMax` bytes of them but at least one. The open block is closed if it is among them.
    mutating func unspooled(takenBy limit: Instant, bytesMax: Int) -> [SpoolBlock] {
        if open.count > 0, openSince <= limit { closeOpen() }
        var result: [SpoolBlock] = []
        var byteCount = 0
        for block in blocks where block.place == nil && block.since <= limit {
            guard let bytes = block.bytes else { continue }
            byteCount += bytes.count
            if !result.isEmpty, byteCount > bytesMax { break }
            result.append(SpoolBlock(run: run, range: block.range, bytes: bytes))
        }
        return result
    }

    /// The block is on disk now. Returns whether it is still held.
    mutating func spooled(_ range: Range<UInt64>, at place: SpoolPlace) -> Bool {
        guard let index = index(of: range.lowerBound), blocks[index].range == range else {
            return false
        }
        blocks[index].place = place
        return true
    }

    /// Gives up copies in memory of what is on disk, oldest first, until so many bytes are left.
    mutating func forgetCopies(downTo byteCount: Int) {
        for index in blocks.indices where memoryByteCount > byteCount {
            if blocks[index].place != nil { forgetCopy(index) }
        }
    }

    private mutating func forgetCopy(_ index: Int) {
        memoryByteCount -= Self.memoryBytes(of: blocks[index])
        blocks[index].bytes = nil
    }

    // MARK: Blocks

    private mutating func closeOpen() {
        guard open.count > 0 else { return }
        let range = openRange
        let bytes = open.bytes(
            birth: BirthReference(run: run, number: 0), lowestHeld: open.firstSequence)
        let block = Block(range: range, bytes: bytes, place: nil, since: openSince)
        dropOpen()
        blocks.append(block)
        memoryByteCount += Self.memoryBytes(of: block)
    }

    private mutating func dropOpen() {
        memoryByteCount -= Limits.journalBlockOverheadBytes
        open = ReportEncoder()
    }

    private static func memoryBytes(of block: Block) -> Int {
        block.bytes.map { $0.count + Limits.journalBlockOverheadBytes } ?? 0
    }

    /// The parts of the range that lie in blocks.
    private func heldParts(of range: Range<UInt64>) -> [Range<UInt64>] {
        var parts: [Range<UInt64>] = []
        var position = firstIndex { $0.range.upperBound > range.lowerBound }
        while position < blocks.count, blocks[position].range.lowerBound < range.upperBound {
            let part = blocks[position].range.clamped(to: range)
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

    private mutating func forgetWhatIsNotHeld() {
        guard let first = firstHeld else { return settled = NumberRanges() }
        settled.remove(0..<first)
        // A block in the middle that went leaves numbers that nobody holds.
        for range in settled.ranges {
            var position = range.lowerBound
            for held in heldParts(of: range) {
                settled.remove(position..<held.lowerBound)
                position = held.upperBound
            }
            settled.remove(position..<range.upperBound)
        }
    }

    private func index(of number: UInt64) -> Int? {
        let index = firstIndex { $0.range.upperBound > number }
        guard index < blocks.count, blocks[index].range.contains(number) else { return nil }
        return index
    }

    private func firstIndex(where passes: (Block) -> Bool) -> Int {
        var low = 0
        var high = blocks.count
        while low < high {
            let middle = (low + high) / 2
            if passes(blocks[middle]) { high = middle } else { low = middle + 1 }
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
    public static let journalBlocksMax = 32_768
    /// A report that is sent again, bytes.
    static let resendBytesMax = 900
}

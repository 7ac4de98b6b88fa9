import NearbyCore

/// The readings of one run that are not settled.
///
/// A reading is pending while it is to be sent, and on its way otherwise. Blocks go when all their
/// readings are settled; until then they are kept whole.
struct RunJournal: Sendable {
    enum Resend: Sendable {
        case report(ReportEncoder)
        /// The stretch has to be read from disk first.
        case fetch(SpoolPlace, of: Range<UInt64>)
    }

    /// Every number of `settled` and of `pending` is held in a block, and none is in both; what is
    /// held and in neither is on its way. No block is settled as a whole. So a number becomes
    /// settled in `settle` alone, which then lets go of what is whole; pending only while it is
    /// held and not settled (`append`, `requeue`); and when a block goes, its numbers leave both
    /// sets with it (`forget`). To leave `pending` is always legal.
    private(set) var held: JournalBlocks
    private(set) var settled = NumberRanges()
    private(set) var pending = NumberRanges()

    init(run: RunID) { held = JournalBlocks(run: run) }

    /// A run that ended before; its blocks are on disk, and all of it is to be sent.
    init(run: RunID, blocks found: [(range: Range<UInt64>, place: SpoolPlace)], now: Instant) {
        held = JournalBlocks(run: run, found: found, now: now)
        requeueAll()
    }

    var run: RunID { held.run }

    var isEmpty: Bool { held.isEmpty }

    /// Of what is in memory.
    var memoryByteCount: Int { held.memoryByteCount }

    /// The lowest number that is held and not settled; nil if nothing is.
    var lowestHeld: UInt64? { held.first.map { settled.end(from: $0) } }

    /// Those that are held and not settled.
    var unsettled: NumberRanges {
        var numbers = NumberRanges()
        for range in held.ranges {
            for part in settled.missing(in: range) { numbers.insert(part) }
        }
        return numbers
    }

    /// How many readings are held and not settled.
    var unsettledCount: UInt64 { held.count &- settled.count }

    // MARK: Taking in and sending

    /// Keeps the next reading; its number follows the last one's. It is pending.
    mutating func append(_ entry: Report.Entry, now: Instant) {
        held.append(entry, now: now)
        pending.insert(entry.sequence..<entry.sequence + 1)
    }

    /// These readings left in a report.
    mutating func sent(_ range: Range<UInt64>) { pending.remove(range) }

    /// These are to be sent again, as far as they are held and not settled.
    mutating func requeue(_ range: Range<UInt64>) {
        for part in held.parts(of: range) {
            for missing in settled.missing(in: part) { pending.insert(missing) }
        }
    }

    /// Everything that is held and not settled is to be sent.
    mutating func requeueAll() { requeue(0..<(.max)) }

    /// The newest readings that are to be sent, as many as fit a message; they count as on their
    /// way from now on. Nil if nothing is to be sent.
    mutating func takeNewest() -> Resend? {
        while let newest = pending.ranges.last {
            let index = closedBlock(of: newest.upperBound - 1)
            let block = held.closed[index]
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
            if pending.end(from: newest.lowerBound) == newest.lowerBound {
                held.forgetCopy(at: index)
            }
            return .report(encoder)
        }
        return nil
    }

    /// Where the block of this number is, which is held.
    private mutating func closedBlock(of number: UInt64) -> Int {
        if let index = held.index(of: number) { return index }
        held.closeOpen()
        guard let index = held.index(of: number) else {
            preconditionFailure("\(number) of run \(run) is pending but not held")
        }
        return index
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
            for part in held.parts(of: range) where !settled.missing(in: part).isEmpty {
                settled.insert(part)
                pending.remove(part)
                hasChanged = true
            }
        }
        guard hasChanged else { return false }
        let gone = held.remove { settled.end(from: $0.lowerBound) >= $0.upperBound }
        for range in gone.ranges { forget(range) }
        return gone.hasLeftDisk
    }

    func isSettled(_ range: Range<UInt64>) -> Bool {
        held.parts(of: range).allSatisfy { settled.missing(in: $0).isEmpty }
    }

    /// Gives up the oldest block. Returns what of it was not settled.
    mutating func dropOldest() -> [Range<UInt64>] {
        if held.closed.isEmpty { held.closeOpen() }
        guard let range = held.closed.first?.range else { return [] }
        return drop(range)
    }

    /// Gives up the block of these numbers, which cannot be read any more or went from disk.
    mutating func drop(_ range: Range<UInt64>) -> [Range<UInt64>] {
        guard let index = held.index(ofBlock: range) else { return [] }
        let lost = settled.missing(in: range)
        held.remove(at: index)
        forget(range)
        return lost
    }

    /// The numbers of a block that went.
    private mutating func forget(_ range: Range<UInt64>) {
        settled.remove(range)
        pending.remove(range)
    }

    // MARK: Disk

    /// When the oldest reading was taken that is in memory only.
    var oldestUnspooled: Instant? { held.oldestUnspooled }

    /// As `JournalBlocks.unspooled`.
    mutating func unspooled(takenBy limit: Instant, bytesMax: Int) -> [SpoolBlock] {
        held.unspooled(takenBy: limit, bytesMax: bytesMax)
    }

    /// The block is on disk now. Returns whether it is still held.
    mutating func spooled(_ range: Range<UInt64>, at place: SpoolPlace) -> Bool {
        guard let index = held.index(ofBlock: range) else { return false }
        held.spooled(at: index, place)
        return true
    }

    /// Gives up copies in memory of what is on disk, oldest first, until so many bytes are left.
    mutating func forgetCopies(downTo byteCount: Int) { held.forgetCopies(downTo: byteCount) }

    /// A block that was read from disk: it is in memory from now on, and what of it is not settled
    /// is to be sent. False if the bytes are not that block.
    mutating func fetched(_ bytes: [UInt8], of range: Range<UInt64>) -> Bool {
        guard let index = held.index(ofBlock: range) else { return true }
        guard let entries = Self.entries(in: bytes), UInt64(entries.count) == range.count64,
            entries.first?.sequence == range.lowerBound,
            entries.last?.sequence == range.upperBound - 1
        else { return false }
        held.restoreCopy(bytes, at: index)
        requeue(range)
        return true
    }
}

extension Limits {
    /// A report that is sent again, bytes.
    static let resendBytesMax = 900
}

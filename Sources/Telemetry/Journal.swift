import NearbyCore

extension Limits {
    /// Readings that the journal keeps in memory.
    public static let journalReadingsMax = 4_096
}

/// The readings of this run that are not settled, oldest first, in memory. When it is full the
/// oldest goes.
///
/// A cursor says which of them went into reports. Without receipts a reading is settled once its
/// report left, so the journal bridges the time without a collector and no more. Receipts will call
/// `settle` later; the spool on disk belongs behind `append`.
public struct Journal: Sendable {
    private var entries: [Report.Entry] = []
    private var head = 0
    private var cursor = 0
    private let limit: Int

    /// - Parameter limit: readings kept, at least 1.
    public init(limit: Int = Limits.journalReadingsMax) { self.limit = max(1, limit) }

    public var count: Int { entries.count - head }

    /// The lowest sequence number that is still held.
    public var lowestHeld: UInt64? { head < entries.count ? entries[head].sequence : nil }

    /// Returns whether the oldest reading had to go.
    public mutating func append(_ entry: Report.Entry) -> Bool {
        let isFull = count >= limit
        if isFull { dropOldest() }
        entries.append(entry)
        return isFull
    }

    /// The next reading for a report; nil when all have gone into one.
    public mutating func next() -> Report.Entry? {
        guard cursor < entries.count else { return nil }
        defer { cursor += 1 }
        return entries[cursor]
    }

    /// Begins anew with the oldest that is held: what was taken did not leave.
    public mutating func rewind() { cursor = head }

    /// Forgets the readings up to this sequence number.
    public mutating func settle(through sequence: UInt64) {
        while let lowestHeld, lowestHeld <= sequence { dropOldest() }
    }

    private mutating func dropOldest() {
        head += 1
        cursor = max(cursor, head)
        guard head == entries.count || head >= limit else { return }
        entries.removeFirst(head)
        cursor -= head
        head = 0
    }
}

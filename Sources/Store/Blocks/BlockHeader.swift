import NearbyCore

/// Where a block of readings lies among the others.
///
/// What a block may span is limited, so that whoever looks for the blocks of a time need not look
/// at all that began before it.
struct BlockHeader: Hashable {
    /// Of its row; 0 before it has one. Never used twice, so that what was read stays right.
    var id: Int64 = 0
    var channel: UInt16
    /// The lowest and the highest.
    var sequences: ClosedRange<Int64>
    /// The earliest and the latest, milliseconds of the board's clock.
    var milliseconds: ClosedRange<Int64>
    var count: Int
    var byteCount = 0

    /// Of these rows, ascending in sequence; nil without any.
    init?(_ rows: [StoredRow]) {
        guard let first = rows.first, let last = rows.last else { return nil }
        channel = first.reading.channel
        sequences = first.reading.sequence...max(first.reading.sequence, last.reading.sequence)
        var milliseconds = first.reading.milliseconds...first.reading.milliseconds
        for row in rows { milliseconds = milliseconds.widened(to: row.reading.milliseconds) }
        self.milliseconds = milliseconds
        count = rows.count
    }

    init(first: ReadingRow) {
        channel = first.channel
        sequences = first.sequence...first.sequence
        milliseconds = first.milliseconds...first.milliseconds
        count = 1
    }

    /// Nil where this would be more than a block may span.
    func with(_ next: ReadingRow) -> BlockHeader? {
        var header = self
        header.sequences = sequences.widened(to: next.sequence)
        header.milliseconds = milliseconds.widened(to: next.milliseconds)
        header.count += 1
        let (first, last) = (header.sequences.lowerBound, header.sequences.upperBound)
        let span = header.milliseconds.upperBound - header.milliseconds.lowerBound
        guard last - first < Limits.blockSequencesMax, span < Limits.blockMillisecondsMax else {
            return nil
        }
        return header
    }

    /// What a row says; nil for one that no store wrote, because it spans more than a block may.
    init?(
        id: Int64, channel: Int64, first: Int64, last: Int64, begin: Int64, end: Int64,
        count: Int64, byteCount: Int64
    ) {
        // What is not negative has a difference within 64 bits.
        guard let channel = UInt16(exactly: channel), first > 0, first <= last,
            last - first < Limits.blockSequencesMax, begin >= 0, begin <= end,
            end - begin < Limits.blockMillisecondsMax, count > 0, count <= last - first + 1,
            let count = Int(exactly: count)
        else { return nil }
        self.id = id
        self.channel = channel
        sequences = first...last
        milliseconds = begin...end
        self.count = count
        self.byteCount = Int(clamping: byteCount)
    }

    /// Whether these rows are what the header tells of.
    func describes(_ rows: [StoredRow]) -> Bool {
        guard let other = BlockHeader(rows) else { return false }
        return other.sequences == sequences && other.milliseconds == milliseconds
            && other.count == count
    }
}

extension ClosedRange {
    func widened(to value: Bound) -> ClosedRange {
        Swift.min(lowerBound, value)...Swift.max(upperBound, value)
    }
}

extension Limits {
    /// From the lowest to the highest number in a block.
    static let blockSequencesMax: Int64 = 1 << 22
    /// From the earliest to the latest reading in a block: a day.
    static let blockMillisecondsMax: Int64 = 86_400_000
}

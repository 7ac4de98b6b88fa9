import NearbyCore

/// The bytes of a stream of segments that are not used yet, however they came.
///
/// It holds each byte that came, and no room for those that did not: what it costs follows what the
/// peer sent. So does what is moved: used bytes are cut off when they are half of all.
struct SegmentBuffer: Sendable {
    enum Insertion: Sendable {
        /// Some of it was not there.
        case new
        case duplicate
        /// There are too many pieces. What was not kept of it is to come again.
        case full
    }

    /// Bytes behind a gap.
    private struct Piece: Sendable {
        let start: UInt64
        var bytes: [UInt8]

        var end: UInt64 { start + UInt64(bytes.count) }
    }

    /// Stream offset of the first byte that is not used.
    private(set) var base: UInt64 = 0
    /// In sequence; those before `usedCount` are used.
    private var sequence: [UInt8] = []
    private var usedCount = 0
    /// In rising order, behind `readyEnd`. They do not overlap; they may touch.
    private var pieces: [Piece] = []

    /// What follows `base` without a gap.
    var ready: ArraySlice<UInt8> { sequence[usedCount...] }

    private var readyEnd: UInt64 { base + UInt64(sequence.count - usedCount) }

    /// Of the memory in use: what came, in sequence or behind gaps, and used bytes not cut off yet.
    var heldByteCount: Int { sequence.count + pieces.reduce(0) { $0 + $1.bytes.count } }

    /// Keeps what is new of these bytes; they must not end beyond 2⁶³.
    mutating func insert(_ bytes: ArraySlice<UInt8>, at offset: UInt64) -> Insertion {
        let end = offset + UInt64(bytes.count)
        var start = max(offset, readyEnd)
        var isNew = false
        while start < end {
            let index = firstPiece(endingBehind: start)
            if index < pieces.count, pieces[index].start <= start {
                start = pieces[index].end
                continue
            }
            let stop = index < pieces.count ? min(end, pieces[index].start) : end
            let from = bytes.startIndex + Int(start - offset)
            guard keep(bytes[from..<from + Int(stop - start)], from: start, before: index) else {
                return .full
            }
            isNew = true
            start = max(stop, readyEnd)
        }
        return isNew ? .new : .duplicate
    }

    /// So many bytes of `ready` are used.
    mutating func use(_ count: Int) {
        usedCount += count
        base += UInt64(count)
        if usedCount == sequence.count {
            sequence = []
            usedCount = 0
        } else if usedCount * 2 >= sequence.count {
            sequence.removeFirst(usedCount)
            usedCount = 0
        }
    }

    /// Forgets what waits.
    mutating func removeAll() {
        base = readyEnd
        sequence = []
        usedCount = 0
        pieces = []
    }

    /// Keeps bytes that no piece has; false if that takes one more piece than there may be.
    private mutating func keep(
        _ bytes: ArraySlice<UInt8>, from start: UInt64, before index: Int
    ) -> Bool {
        if start == readyEnd {
            sequence.append(contentsOf: bytes)
            takeTouching()
        } else if index > 0, pieces[index - 1].end == start {
            pieces[index - 1].bytes.append(contentsOf: bytes)
        } else {
            guard pieces.count < Limits.receivedPiecesMax else { return false }
            pieces.insert(Piece(start: start, bytes: Array(bytes)), at: index)
        }
        return true
    }

    /// The pieces that follow what is in sequence join it.
    private mutating func takeTouching() {
        var count = 0
        while count < pieces.count, pieces[count].start == readyEnd {
            sequence.append(contentsOf: pieces[count].bytes)
            count += 1
        }
        pieces.removeFirst(count)
    }

    private func firstPiece(endingBehind position: UInt64) -> Int {
        var low = 0
        var high = pieces.count
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle].end > position { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension Limits {
    /// Pieces that a stream with gaps may be in.
    public static let receivedPiecesMax = 1_024
}

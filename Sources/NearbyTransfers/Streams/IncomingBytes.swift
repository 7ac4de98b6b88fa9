import NearbyCore

/// Puts the bytes of a peer's stream or resource in order.
///
/// What is in order is passed on at once and not kept; what lies behind a gap waits in pieces,
/// within the limit that the owner sees to.
struct IncomingBytes: Sendable {
    enum Violation: Error {
        /// The end was said to be elsewhere, or bytes lie behind it (RFC 9000 §4.5).
        case finalSize
        /// Too many pieces: the packet is to come again.
        case pieces
    }

    private struct Piece: Sendable {
        var start: UInt64
        var bytes: ArraySlice<UInt8>

        var end: UInt64 { start + UInt64(bytes.count) }
    }

    /// All below was passed on.
    private(set) var base: UInt64
    /// Behind the last byte that was announced.
    private(set) var highest: UInt64
    private(set) var finalSize: UInt64?
    /// In rising order; they do not overlap.
    private var pieces: [Piece] = []

    init(from base: UInt64 = 0) {
        self.base = base
        highest = base
    }

    var isComplete: Bool { finalSize == base }

    var pieceCount: Int { pieces.count }

    /// Checks what `receive` would refuse; nothing changes.
    func check(end: UInt64, isLast: Bool) throws(Violation) {
        if let finalSize, end > finalSize || isLast && end != finalSize { throw .finalSize }
        if isLast, end < highest { throw .finalSize }
    }

    /// Keeps new bytes.
    ///
    /// - Parameter isHeld: nothing is passed on yet.
    /// - Returns: those that are in sequence; more may follow from `takeReady`.
    mutating func receive(
        _ bytes: ArraySlice<UInt8>, at offset: UInt64, isLast: Bool, isHeld: Bool = false
    ) throws(Violation) -> ArraySlice<UInt8> {
        let end = offset + UInt64(bytes.count)
        try check(end: end, isLast: isLast)
        let isNext = offset <= base && !isHeld
        if !isNext, pieces.count >= Limits.transferPiecesMax { throw .pieces }
        if isLast { finalSize = end }
        highest = max(highest, end)
        guard end > base else { return [] }
        guard isNext else {
            keep(bytes, from: offset, to: end)
            return []
        }
        let news = bytes.dropFirst(Int(base - offset))
        base = end
        return news
    }

    /// The next bytes that are in sequence by now.
    mutating func takeReady() -> ArraySlice<UInt8>? {
        var count = 0
        defer { if count > 0 { pieces.removeFirst(count) } }
        while count < pieces.count, pieces[count].start <= base {
            let piece = pieces[count]
            count += 1
            guard piece.end > base else { continue }
            let news = piece.bytes.dropFirst(Int(base - piece.start))
            base = piece.end
            return news
        }
        return nil
    }

    /// Forgets what waits; the sizes stay known.
    mutating func discard() { pieces = [] }

    mutating func end(at size: UInt64) {
        finalSize = size
        highest = max(highest, size)
        pieces = []
    }

    /// Stores what no piece has yet.
    private mutating func keep(_ bytes: ArraySlice<UInt8>, from offset: UInt64, to end: UInt64) {
        var start = max(offset, base)
        var index = pieces.count
        while index > 0, pieces[index - 1].end > start { index -= 1 }
        while start < end {
            let next = index < pieces.count ? pieces[index].start : end
            if start < next {
                let stop = min(next, end)
                // A copy: the rest of the packet is not kept alive by a few bytes.
                let from = bytes.startIndex + Int(start - offset)
                let piece = Array(bytes[from..<from + Int(stop - start)])
                pieces.insert(Piece(start: start, bytes: piece[...]), at: index)
                index += 1
                start = stop
            }
            guard index < pieces.count else { break }
            start = max(start, pieces[index].end)
            index += 1
        }
    }
}

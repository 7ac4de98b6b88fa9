import NearbyCore

/// The bytes of a stream or resource of ours that the peer may not have yet.
struct OutgoingBytes: Sendable {
    private struct Chunk: Sendable {
        var start: UInt64
        var bytes: [UInt8]

        var end: UInt64 { start + UInt64(bytes.count) }
    }

    private enum End: Sendable { case unknown, unsent, underWay, arrived }

    private var chunks = Deque<Chunk>()
    /// All below arrived.
    private(set) var start: UInt64
    /// Behind the last byte that is there.
    private(set) var end: UInt64
    /// Where what was never sent begins.
    private(set) var next: UInt64
    /// The offset that the peer lets us send to.
    private(set) var limit: UInt64
    /// Beyond `start`.
    private var arrived = NumberRanges()
    private var lost = NumberRanges()
    private var endState = End.unknown
    /// Everything was sent once at least, whatever became of it.
    private(set) var isSent = false

    /// Begins at a byte of the whole.
    init(from start: UInt64 = 0, limit: UInt64) {
        self.start = start
        self.limit = limit
        end = start
        next = start
    }

    var byteCount: Int { Int(end - start) }

    var isFinished: Bool { endState != .unknown }

    /// The peer has everything, and knows that it is everything.
    var isComplete: Bool { endState == .arrived && start == end }

    /// Whether something can be sent, if so many new bytes are allowed by all limits but ours.
    func isReady(allowance: UInt64) -> Bool {
        !lost.isEmpty || endState == .unsent && next == end
            || allowance > 0 && next < min(end, limit)
    }

    /// Whether something waits, if not for want of a limit.
    var isWaiting: Bool { !lost.isEmpty || endState == .unsent || next < end }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        // Small pieces join, so that their places do not take more than they hold.
        if let last = chunks.last, last.bytes.count + bytes.count <= Self.joinedBytesMax {
            chunks[chunks.count - 1].bytes += bytes
        } else {
            chunks.append(Chunk(start: end, bytes: bytes))
        }
        end += UInt64(bytes.count)
    }

    mutating func finish() { if endState == .unknown { endState = .unsent } }

    mutating func raise(limit new: UInt64) { limit = max(limit, new) }

    /// The next piece to send, of at most so many bytes, lost ones first; the new ones of it are
    /// at most `allowance`.
    mutating func take(most: Int, allowance: UInt64) -> (range: Range<UInt64>, isLast: Bool)? {
        var range = next..<next
        if let first = lost.ranges.first {
            range = first.prefix(most)
            lost.remove(range)
        } else {
            let new = next..<max(next, min(end, limit, next + allowance))
            range = new.prefix(most)
            next = range.upperBound
        }
        let isLast = endState == .unsent && next == end && range.upperBound == end && lost.isEmpty
        guard !range.isEmpty || isLast else { return nil }
        if isLast { (endState, isSent) = (.underWay, true) }
        return (range, isLast)
    }

    /// Copies a range that is still kept.
    func write(_ range: Range<UInt64>, into writer: inout ByteWriter) {
        var position = chunks.firstPosition { $0.end > range.lowerBound }
        var offset = range.lowerBound
        while offset < range.upperBound, position < chunks.count {
            let chunk = chunks[position]
            let stop = min(range.upperBound, chunk.end)
            writer.write(
                contentsOf: chunk.bytes[Int(offset - chunk.start)..<Int(stop - chunk.start)])
            offset = stop
            position += 1
        }
    }

    mutating func arrived(_ range: Range<UInt64>, isLast: Bool) {
        if isLast { endState = .arrived }
        let news = range.clamped(to: start..<max(start, range.upperBound))
        guard !news.isEmpty else { return }
        if !lost.isEmpty { lost.remove(news) }
        if news.lowerBound == start, arrived.isEmpty {
            start = news.upperBound
        } else {
            arrived.insert(news)
            start = arrived.end(from: start)
            arrived.remove(0..<start)
        }
        while let first = chunks.first, first.end <= start { chunks.popFirst() }
    }

    mutating func lost(_ range: Range<UInt64>, isLast: Bool) {
        if isLast, endState == .underWay { endState = .unsent }
        let rest = range.clamped(to: start..<max(start, range.upperBound))
        guard !rest.isEmpty else { return }
        for missing in arrived.missing(in: rest) { lost.insert(missing) }
    }

    private static let joinedBytesMax = 4 << 10
}

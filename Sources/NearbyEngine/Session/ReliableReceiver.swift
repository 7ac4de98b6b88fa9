import NearbyCore
import NearbyWire

/// Puts a stream of segments together again and says which came.
///
/// It takes bytes up to `Limits.receiveWindowBytes` behind the first message that is not delivered
/// yet, which is all the memory that a peer can make it use.
struct ReliableReceiver: Sendable {
    /// From the first message not delivered yet.
    private var buffer = SegmentBuffer()
    private var packets = NumberRanges()
    private var largestAt = Instant.zero
    private var waitingCount = 0
    private var acknowledgementDeadline: Instant?
    private var hasMore = false
    /// The stream held something that is no message; nothing behind it can be read.
    private var isBroken = false

    init() {}

    /// Keeps a segment; the answer says why not. What is refused for want of room is not
    /// acknowledged.
    mutating func receive(_ segment: SegmentFrame, now: Instant) -> DropReason? {
        if isBroken { return .messageMalformed }
        guard segment.end <= windowLimit else { return .segmentBeyondWindow }
        let insertion = buffer.insert(segment.data, at: segment.offset)
        if insertion == .full { return .segmentTableFull }
        record(segment.number, now: now)
        return insertion == .new || segment.data.isEmpty ? nil : .messageDuplicate
    }

    /// The next messages in order, at most `Limits.deliveriesMax`; throws once where the stream is
    /// broken.
    mutating func takeMessages(now: Instant) throws(WireError) -> [[UInt8]] {
        // The peer learns at once that the window moved, if no segment comes with the news.
        if hasMore { acknowledgementDeadline = now }
        hasMore = false
        if isBroken { return [] }
        do throws(WireError) {
            let (messages, byteCount) = try Self.messages(in: buffer.ready)
            if byteCount > 0 { buffer.use(byteCount) }
            hasMore = messages.count == Limits.deliveriesMax
            return messages
        } catch {
            isBroken = true
            buffer.removeAll()
            acknowledgementDeadline = nil
            throw error
        }
    }

    /// What is to be said now: two segments came, or one out of order, or one 25 ms ago.
    mutating func takeAcknowledgement(now: Instant) -> AcknowledgementFrame? {
        guard let deadline = acknowledgementDeadline, now >= deadline else { return nil }
        acknowledgementDeadline = nil
        waitingCount = 0
        return AcknowledgementFrame(
            ranges: packets.ranges.reversed(), delay: max(.zero, now - largestAt),
            windowLimit: windowLimit)
    }

    /// When the acknowledgement leaves, or more messages are to be taken.
    var nextDeadline: Instant? { hasMore ? .zero : acknowledgementDeadline }

    /// The stream offset that the peer must not send beyond.
    var windowLimit: UInt64 { buffer.base + UInt64(Limits.receiveWindowBytes) }

    /// Bytes that a peer has made it keep.
    var heldByteCount: Int { buffer.heldByteCount }

    /// Counts the segment for the next acknowledgement (RFC 9000 §13.2.1).
    private mutating func record(_ number: UInt64, now: Instant) {
        let next = packets.ranges.last?.upperBound ?? 0
        packets.insert(number..<number + 1)
        packets.keepHighest(Limits.acknowledgedRangesMax)
        if number >= next { largestAt = now }
        waitingCount += 1
        let isDue = waitingCount >= 2 || number != next
        let latest = isDue ? now : now + Limits.acknowledgementDelayMax
        acknowledgementDeadline = min(acknowledgementDeadline ?? latest, latest)
    }

    /// The first messages, and how many bytes they take with their lengths.
    private static func messages(
        in ready: ArraySlice<UInt8>
    ) throws(WireError) -> (messages: [[UInt8]], byteCount: Int) {
        var messages: [[UInt8]] = []
        var position = ready.startIndex
        while messages.count < Limits.deliveriesMax {
            guard let next = try message(in: ready[position...]) else { break }
            messages.append(Array(next))
            position = next.endIndex
        }
        return (messages, position - ready.startIndex)
    }

    /// The message at the beginning, nil if it is not all there.
    private static func message(
        in ready: ArraySlice<UInt8>
    ) throws(WireError) -> ArraySlice<UInt8>? {
        var reader = ByteReader(ready)
        let count: UInt64
        do throws(WireError) {
            count = try reader.readVarint()
        } catch {
            guard case .truncated = error else { throw error }
            return nil
        }
        guard count <= UInt64(Limits.reliableMessageBytesMax) else {
            throw .tooLong(
                limit: Limits.reliableMessageBytesMax, actual: Int(clamping: count))
        }
        return reader.remainingCount < Int(count) ? nil : try reader.readBytes(Int(count))
    }
}

extension Limits {
    /// What a peer may send beyond the messages that were delivered, bytes.
    public static let receiveWindowBytes = 2 << 20
    /// Reliable messages delivered by one call; the others follow at once, in a further one.
    public static let deliveriesMax = 1_024
    /// The largest reliable message, bytes.
    public static let reliableMessageBytesMax = 1 << 20
}

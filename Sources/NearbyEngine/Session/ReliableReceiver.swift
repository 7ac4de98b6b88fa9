import NearbyCore
import NearbyWire

/// Puts a stream of segments together again and says which came.
///
/// It takes bytes up to `Limits.receiveWindowBytes` behind the first message that is not delivered
/// yet, which is all the memory that a peer can make it use.
public struct ReliableReceiver: Sendable {
    /// The bytes from `base` on; what is missing holds zeros.
    private var buffer: [UInt8] = []
    /// Stream offset of the first message not delivered yet.
    private var base: UInt64 = 0
    private var received = NumberRanges()
    private var packets = NumberRanges()
    private var largestAt = Instant.zero
    private var waitingCount = 0
    private var acknowledgementDeadline: Instant?
    private var hasMore = false
    /// The stream held something that is no message; nothing behind it can be read.
    private var isBroken = false

    public init() {}

    /// Keeps a segment; the answer says why not. What is refused for want of room is not
    /// acknowledged.
    public mutating func receive(_ segment: SegmentFrame, now: Instant) -> DropReason? {
        if isBroken { return .messageMalformed }
        guard segment.end <= windowLimit else { return .segmentBeyondWindow }
        let start = max(segment.offset, base)
        let isNew = start < segment.end && !received.missing(in: start..<segment.end).isEmpty
        if isNew {
            let limit = Limits.receivedRangesMax
            guard received.insert(start..<segment.end, limit: limit) else {
                return .segmentTableFull
            }
            store(segment.data.dropFirst(Int(start - segment.offset)), at: Int(start - base))
        }
        record(segment.number, now: now)
        return isNew || segment.data.isEmpty ? nil : .messageDuplicate
    }

    /// The next messages in order, at most `Limits.deliveriesMax`; throws once where the stream is
    /// broken.
    public mutating func takeMessages(now: Instant) throws(WireError) -> [[UInt8]] {
        // The peer learns at once that the window moved, if no segment comes with the news.
        if hasMore { acknowledgementDeadline = now }
        hasMore = false
        if isBroken { return [] }
        let ready = buffer[..<Int(received.end(from: base) - base)]
        var messages: [[UInt8]] = []
        var position = 0
        do throws(WireError) {
            while messages.count < Limits.deliveriesMax {
                guard let next = try Self.message(in: ready[position...]) else { break }
                messages.append(Array(next))
                position = next.endIndex
            }
        } catch {
            isBroken = true
            buffer = []
            received = NumberRanges()
            acknowledgementDeadline = nil
            throw error
        }
        if position > 0 { consume(position) }
        hasMore = messages.count == Limits.deliveriesMax
        return messages
    }

    /// What is to be said now: two segments came, or one out of order, or one 25 ms ago.
    public mutating func takeAcknowledgement(now: Instant) -> AcknowledgementFrame? {
        guard let deadline = acknowledgementDeadline, now >= deadline else { return nil }
        acknowledgementDeadline = nil
        waitingCount = 0
        return AcknowledgementFrame(
            ranges: packets.ranges.reversed(), delay: max(.zero, now - largestAt),
            windowLimit: windowLimit)
    }

    /// When the acknowledgement leaves, or more messages are to be taken.
    public var nextDeadline: Instant? { hasMore ? .zero : acknowledgementDeadline }

    /// The stream offset that the peer must not send beyond.
    public var windowLimit: UInt64 { base + UInt64(Limits.receiveWindowBytes) }

    private mutating func store(_ data: ArraySlice<UInt8>, at position: Int) {
        let missing = position + data.count - buffer.count
        if missing > 0 { buffer.append(contentsOf: repeatElement(0, count: missing)) }
        buffer.replaceSubrange(position..<position + data.count, with: data)
    }

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

    private mutating func consume(_ count: Int) {
        buffer.removeFirst(count)
        if buffer.isEmpty { buffer = [] }
        received.remove(base..<base + UInt64(count))
        base += UInt64(count)
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
    /// Pieces that a stream with gaps may be in.
    public static let receivedRangesMax = 1_024
    /// Reliable messages delivered by one call; the others follow at once, in a further one.
    public static let deliveriesMax = 1_024
    /// The largest reliable message, bytes.
    public static let reliableMessageBytesMax = 1 << 20
}

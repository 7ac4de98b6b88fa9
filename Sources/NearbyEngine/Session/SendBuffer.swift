import NearbyCore

/// Reliable messages that the peer may not have yet, as the stream that they form.
struct SendBuffer: Sendable {
    private struct Entry {
        /// Stream offset of the length before the message.
        var start: UInt64
        var prefixCount: Int
        /// Length and message.
        var bytes: [UInt8]

        var end: UInt64 { start + UInt64(bytes.count) }
    }

    private var entries = Deque<Entry>()
    /// Bytes of the messages kept, with their lengths.
    private(set) var byteCount = 0
    /// Behind the last message, in the stream.
    private(set) var end: UInt64 = 0

    /// Takes a message; false if there is no room.
    mutating func append(_ message: [UInt8]) -> Bool {
        var writer = ByteWriter(reserving: message.count + 3)
        writer.writeCounted(message)
        guard entries.count < Limits.reliableQueueMessagesMax,
            byteCount + writer.count <= Limits.reliableQueueBytesMax
        else { return false }
        entries.append(
            Entry(
                start: end, prefixCount: writer.count - message.count, bytes: writer.bytes))
        byteCount += writer.count
        end += UInt64(writer.count)
        return true
    }

    /// Forgets the messages that end at `offset` or before.
    mutating func release(upTo offset: UInt64) {
        while let first = entries.first, first.end <= offset {
            byteCount -= first.bytes.count
            entries.removeFirst()
        }
    }

    /// The stream's bytes in a range that is still kept.
    func bytes(in range: Range<UInt64>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var position = entries.firstPosition { $0.end > range.lowerBound }
        while position < entries.count, entries[position].start < range.upperBound {
            let entry = entries[position]
            let low = max(range.lowerBound, entry.start) - entry.start
            let high = min(range.upperBound, entry.end) - entry.start
            result.append(contentsOf: entry.bytes[Int(low)..<Int(high)])
            position += 1
        }
        return result
    }

    /// The messages kept, in order.
    var messages: [[UInt8]] { entries.elements.map { Array($0.bytes.dropFirst($0.prefixCount)) } }
}

extension Limits {
    /// Reliable messages waiting for a peer's acknowledgement, bytes.
    public static let reliableQueueBytesMax = 8 << 20
    static let reliableQueueMessagesMax = 65_536
}

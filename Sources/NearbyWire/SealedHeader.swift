import NearbyCore

/// The readable head of a sealed frame, 10 bytes; it is associated data of the seal.
///
///      0                   1                   2                   3
///      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |1 0|P|pri|0 0 0|             receiver's index                  |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |     index     |                   counter                     |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
///     |            counter            | payload … | tag (16)          |
///     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-------------------------------+
///
/// P: the payload is readable, only authenticated (encryption preference `none`). The counter runs
/// for each priority by itself, from 0, and never wraps: a channel is renewed long before.
public struct SealedHeader: Equatable, Sendable {
    public var priority: Priority
    public var isPlaintext: Bool
    /// Whose channel, in the receiver's numbering.
    public var index: UInt32
    /// 40 bits.
    public var counter: UInt64

    public static let byteCount = 10
    public static let counterMax: UInt64 = (1 << 40) - 1

    public init(priority: Priority, isPlaintext: Bool, index: UInt32, counter: UInt64) {
        self.priority = priority
        self.isPlaintext = isPlaintext
        self.index = index
        self.counter = counter
    }

    /// Reads the first 10 bytes; reserved bits must be zero, and a tag must follow.
    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        let type = try reader.readUInt8()
        guard type & 0b1100_0111 == 0b1000_0000, let priority = Priority(rawValue: type >> 3 & 0b11)
        else { throw .unknownType(type) }
        self.priority = priority
        isPlaintext = type & 0b10_0000 != 0
        index = try reader.readUInt32()
        counter = try reader.readInteger(byteCount: 5)
        guard reader.remainingCount > 16 else {
            throw .truncated(needed: 17, available: reader.remainingCount)
        }
    }

    /// The priority of a sealed datagram, told by its first byte; nil: it is another one.
    public static func priority(of datagram: [UInt8]) -> Priority? {
        datagram.first.flatMap(priority(ofFirstByte:))
    }

    public static func priority(ofFirstByte type: UInt8) -> Priority? {
        type & 0b1100_0111 == 0b1000_0000 ? Priority(rawValue: type >> 3 & 0b11) : nil
    }

    public func emit(into writer: inout ByteWriter) {
        writer.write(0b1000_0000 | (isPlaintext ? 0b10_0000 : 0) | priority.rawValue << 3)
        writer.write(index)
        writer.write(counter, byteCount: 5)
    }

    /// The number that makes the nonce: the priority above the counter, so that no two frames share
    /// one.
    public var sequence: UInt64 { UInt64(priority.rawValue) << 40 | counter }
}

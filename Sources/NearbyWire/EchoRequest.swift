import NearbyCore

/// Asks whoever is so many links away on the way to a node who it is: the inside of a mesh packet
/// whose destination is that node, and whose hop limit is so many links. Not sealed from end to
/// end; only admitted neighbours hand over packets, each under the seal of its hop.
///
///     type 0x52 (1) | token (8) | zeros, as many as the answer may need
///
/// It is answered by its destination, and by the relay at which its hop limit ends; versions
/// without it drop it and count that. The answer is never longer than the question.
public struct EchoRequest: Equatable, Sendable {
    /// Random; the answer repeats it.
    public var token: UInt64
    /// Of the whole question: room for an answer with the longest name.
    public var byteCount: Int

    public static let type: UInt8 = 0x52

    public init(token: UInt64) {
        self.token = token
        byteCount = EchoAnswer.byteCountMax
    }

    /// Reads a whole datagram. Too short for an answer without a name is refused.
    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        let type = try reader.readUInt8()
        guard type == Self.type else { throw .unknownType(type) }
        token = try reader.readUInt64()
        byteCount = bytes.count
        guard byteCount >= EchoAnswer.overheadByteCount else {
            throw .truncated(needed: EchoAnswer.overheadByteCount, available: byteCount)
        }
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: byteCount)
        writer.write(Self.type)
        writer.write(token)
        writer.write(contentsOf: repeatElement(0, count: max(0, byteCount - writer.count)))
        return writer.bytes
    }
}

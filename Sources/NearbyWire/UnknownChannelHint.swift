import NearbyCore

/// "I have no channel of that index", out of a mesh packet; on a link a nudge says it. A hint, not
/// a proof.
///
///     type 0x51 (1) | index (4)
public struct UnknownChannelHint: Equatable, Sendable {
    /// The receiver's index in the frame that nobody could open.
    public var index: UInt32

    public static let type: UInt8 = 0x51

    public init(index: UInt32) { self.index = index }

    /// Reads a whole datagram; what later versions may add is skipped.
    public init(parsing datagram: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(datagram)
        guard try reader.readUInt8() == Self.type else { throw .invalid(field: "type") }
        index = try reader.readUInt32()
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 5)
        writer.write(Self.type)
        writer.write(index)
        return writer.bytes
    }
}

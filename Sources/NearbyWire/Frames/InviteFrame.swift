import NearbyCore

/// Asks to be taken into the session, once both sides are admitted.
///
///     kind 0x11 (1) | timeout in milliseconds (varint) | context (counted, ≤ 512) | later fields, skipped
public struct InviteFrame: Equatable, Sendable {
    /// How long the inviter waits; 1 ms to an hour.
    public var timeout: Duration
    public var context: [UInt8]

    static let contextByteCountMax = 512

    public init(timeout: Duration, context: [UInt8]) {
        self.timeout = timeout
        self.context = context
    }

    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        let milliseconds = try reader.readVarint()
        guard (1...3_600_000).contains(milliseconds) else { throw .invalid(field: "timeout") }
        timeout = .milliseconds(Int64(milliseconds))
        context = Array(try reader.readCountedBytes(limit: Self.contextByteCountMax))
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: context.count + 8)
        writer.write(FrameKind.invite.rawValue)
        writer.writeVarint(UInt64(clamping: timeout.milliseconds))
        writer.writeCounted(context)
        return writer.bytes
    }
}

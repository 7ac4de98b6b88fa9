import NearbyCore

/// Proves that the other side of a channel is reached at an address: the response repeats the
/// token.
///
///     kind 0x14 or 0x15 (1) | token (8)
public struct PathFrame: Equatable, Sendable {
    public var isResponse: Bool
    public var token: UInt64

    public init(isResponse: Bool, token: UInt64) {
        self.isResponse = isResponse
        self.token = token
    }

    public init(parsing body: ArraySlice<UInt8>, isResponse: Bool) throws(WireError) {
        var reader = ByteReader(body)
        self.isResponse = isResponse
        token = try reader.readUInt64()
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 9)
        writer.write((isResponse ? FrameKind.pathResponse : .pathChallenge).rawValue)
        writer.write(token)
        return writer.bytes
    }
}

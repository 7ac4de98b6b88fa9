import NearbyCore

/// Asks a neighbour for a sign of life, or gives one.
///
///     kind 0x01 (1) | what (1)
public enum LivenessFrame: UInt8, CaseIterable, Sendable {
    /// Nothing else was to be said for a second.
    case hello = 0
    /// Answer at once.
    case probe = 1
    case answer = 2

    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        guard let frame = LivenessFrame(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "liveness")
        }
        self = frame
    }

    public var bytes: [UInt8] { [FrameKind.liveness.rawValue, rawValue] }
}

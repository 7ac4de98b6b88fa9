import NearbyCore

/// Several frames for one next hop in one datagram.
///
///     kind 0x04 (1) | count (varint) | { length (varint) | frame }…
///
/// A bundle holds no bundle.
public struct FrameBundle: Equatable, Sendable {
    /// Each begins with its kind; none is empty.
    public var frames: [ArraySlice<UInt8>]

    public init(frames: [ArraySlice<UInt8>]) { self.frames = frames }

    /// Reads the body behind the kind.
    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        let count = try reader.readVarint()
        guard count <= UInt64(Limits.bundleFramesMax) else {
            throw .tooLong(limit: Limits.bundleFramesMax, actual: Int(clamping: count))
        }
        frames = []
        for _ in 0..<count {
            let frame = try reader.readCountedBytes(limit: Limits.datagramBytesMax)
            guard let kind = frame.first, kind != FrameKind.bundle.rawValue else {
                throw .invalid(field: "bundled frame")
            }
            frames.append(frame)
        }
        try reader.requireEnd()
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: frames.reduce(4) { $0 + $1.count + 2 })
        writer.write(FrameKind.bundle.rawValue)
        writer.writeVarint(UInt64(frames.count))
        for frame in frames { writer.writeCounted(frame) }
        return writer.bytes
    }
}

extension Limits {
    /// Frames in a bundle.
    public static let bundleFramesMax = 64
}

import NearbyCore

/// A piece of the reliable stream between two peers.
///
///     kind 0xa1 (1) | packet number (varint) | stream offset (varint) | data …
///
/// Packet numbers rise by one with each segment and are never used again; what is sent once more
/// keeps its offset. In the stream a message is its length (varint) and its bytes. A segment
/// without data asks for an acknowledgement.
public struct SegmentFrame: Equatable, Sendable {
    public var number: UInt64
    /// Where the data begins in the stream, bytes.
    public var offset: UInt64
    public var data: ArraySlice<UInt8>

    public init(number: UInt64, offset: UInt64, data: ArraySlice<UInt8>) {
        self.number = number
        self.offset = offset
        self.data = data
    }

    /// Reads the body behind the frame's kind.
    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        number = try reader.readVarint()
        offset = try reader.readVarint()
        guard number < Limits.sessionNumberEnd else { throw .invalid(field: "packet number") }
        guard offset < Limits.sessionNumberEnd else { throw .invalid(field: "stream offset") }
        data = reader.readRemaining()
        guard data.count <= Limits.segmentBytesMax else {
            throw .tooLong(limit: Limits.segmentBytesMax, actual: data.count)
        }
    }

    /// Behind the last byte, in the stream.
    public var end: UInt64 { offset + UInt64(data.count) }

    /// The whole frame, its kind included.
    public var bytes: [UInt8] {
        let header = Self.headerByteCount(number: number, offset: offset)
        var writer = ByteWriter(reserving: header + data.count)
        writer.write(FrameKind.segment.rawValue)
        writer.writeVarint(number)
        writer.writeVarint(offset)
        writer.write(contentsOf: data)
        return writer.bytes
    }

    /// What comes before the data, the kind included: 3–19 bytes.
    public static func headerByteCount(number: UInt64, offset: UInt64) -> Int {
        1 + ByteWriter.varintByteCount(number) + ByteWriter.varintByteCount(offset)
    }
}

extension Limits {
    /// A whole segment frame, bytes: it may be sealed twice and carried in a mesh packet.
    public static let segmentBytesMax = 1_000
    /// Packet numbers and stream offsets stay below: sums of two of them fit.
    public static let sessionNumberEnd: UInt64 = 1 << 62
}

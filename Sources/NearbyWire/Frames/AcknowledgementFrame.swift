import NearbyCore

/// Which segments came, and how far the peer may send.
///
///     kind 0xa2 (1) | largest packet number (varint) | delay µs (varint) | window limit (varint) |
///     further ranges (varint) | first length − 1 (varint) |
///     { gap − 1 (varint) | length − 1 (varint) }…
///
/// Ranges run downwards from the largest number; a gap counts the numbers missing between two
/// ranges (RFC 9000 §19.3.1, there with other offsets).
public struct AcknowledgementFrame: Equatable, Sendable {
    /// Highest first; neither empty, nor overlapping, nor touching.
    /// 1–`Limits.acknowledgedRangesMax`.
    public private(set) var ranges: [Range<UInt64>]
    /// How long the largest waited at the receiver, to the microsecond.
    public var delay: Duration
    /// The stream offset that the peer must not send beyond.
    public var windowLimit: UInt64

    /// Takes ranges in falling order; nil if there is none, or too many, or they touch.
    public init?(ranges: [Range<UInt64>], delay: Duration, windowLimit: UInt64) {
        guard (1...Limits.acknowledgedRangesMax).contains(ranges.count),
            ranges.allSatisfy({ !$0.isEmpty && $0.upperBound <= Limits.sessionNumberEnd }),
            zip(ranges, ranges.dropFirst()).allSatisfy({ $1.upperBound < $0.lowerBound })
        else { return nil }
        self.ranges = ranges
        self.delay = delay
        self.windowLimit = windowLimit
    }

    /// Reads the body behind the frame's kind.
    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        let largest = try reader.readVarint()
        guard largest < Limits.sessionNumberEnd else { throw .invalid(field: "largest number") }
        delay = .microseconds(Int64(clamping: try reader.readVarint()))
        windowLimit = try reader.readVarint()
        guard windowLimit < Limits.sessionNumberEnd else { throw .invalid(field: "window limit") }
        let further = try reader.readVarint()
        guard further < UInt64(Limits.acknowledgedRangesMax) else {
            throw .tooLong(limit: Limits.acknowledgedRangesMax, actual: Int(clamping: further))
        }
        ranges = [try Self.range(below: largest + 1, &reader)]
        for _ in 0..<further {
            let gap = try reader.readVarint()
            let above = ranges[ranges.count - 1].lowerBound
            guard gap < above, above - gap > 1 else { throw .invalid(field: "range gap") }
            ranges.append(try Self.range(below: above - gap - 1, &reader))
        }
        try reader.requireEnd()
    }

    public var largest: UInt64 { ranges[0].upperBound - 1 }

    /// The whole frame, its kind included.
    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 16 + 4 * ranges.count)
        writer.write(FrameKind.acknowledgement.rawValue)
        writer.writeVarint(largest)
        writer.writeVarint(UInt64(max(0, delay.nanoseconds / 1_000)))
        writer.writeVarint(windowLimit)
        writer.writeVarint(UInt64(ranges.count - 1))
        writer.writeVarint(UInt64(ranges[0].count - 1))
        for (above, range) in zip(ranges, ranges.dropFirst()) {
            writer.writeVarint(above.lowerBound - range.upperBound - 1)
            writer.writeVarint(UInt64(range.count - 1))
        }
        return writer.bytes
    }

    private static func range(
        below end: UInt64, _ reader: inout ByteReader
    ) throws(WireError) -> Range<UInt64> {
        let length = try reader.readVarint()
        guard length < end else { throw .invalid(field: "range length") }
        return end - length - 1..<end
    }
}

extension Limits {
    /// Ranges in an acknowledgement.
    public static let acknowledgedRangesMax = 32
}

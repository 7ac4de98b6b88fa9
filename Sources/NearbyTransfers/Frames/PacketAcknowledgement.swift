import NearbyCore
import NearbyWire

/// Which packets came.
///
///     largest number varint | delay µs varint | further ranges varint | first length − 1 varint |
///     { gap − 1 varint | length − 1 varint }…
///
/// Ranges run downwards from the largest number, as in `AcknowledgementFrame`.
public struct PacketAcknowledgement: Hashable, Sendable {
    /// Packets of each priority have numbers of their own, since they overtake one another.
    public var lane: TransferLane
    /// Highest first; neither empty, nor overlapping, nor touching.
    /// 1–`Limits.packetRangesMax`.
    public private(set) var ranges: [Range<UInt64>]
    /// How long the largest waited at the receiver, to the microsecond.
    public var delay: Duration

    /// As many of these ranges, which rise, as `byteBudget` bytes hold, the highest first; nil if
    /// there is none.
    public init?(
        of lane: TransferLane, rising: [Range<UInt64>], delay: Duration, byteBudget: Int
    ) {
        guard let highest = rising.last else { return nil }
        self.lane = lane
        self.delay = delay
        ranges = [highest]
        // Type, largest number, delay, how many, first length.
        var size = 1 + 9 + 5 + 2 + 9
        for range in rising.dropLast().reversed() {
            let gap = ranges[ranges.count - 1].lowerBound - range.upperBound - 1
            size += ByteWriter.varintByteCount(gap)
            size += ByteWriter.varintByteCount(UInt64(range.count))
            guard size <= byteBudget, ranges.count < Limits.packetRangesMax else { break }
            ranges.append(range)
        }
    }

    init(of lane: TransferLane, from reader: inout ByteReader) throws(WireError) {
        self.lane = lane
        let largest = try reader.readVarint()
        guard largest < Limits.transferOffsetEnd else { throw .invalid(field: "largest number") }
        delay = .microseconds(Int64(clamping: min(try reader.readVarint(), 1 << 40)))
        let further = try reader.readVarint()
        guard further < UInt64(Limits.packetRangesMax) else {
            throw .tooLong(limit: Limits.packetRangesMax, actual: Int(clamping: further))
        }
        ranges = [try Self.range(below: largest + 1, &reader)]
        for _ in 0..<further {
            let gap = try reader.readVarint()
            let above = ranges[ranges.count - 1].lowerBound
            guard gap < above, above - gap > 1 else { throw .invalid(field: "range gap") }
            ranges.append(try Self.range(below: above - gap - 1, &reader))
        }
    }

    public var largest: UInt64 { ranges[0].upperBound - 1 }

    func emit(into writer: inout ByteWriter) {
        writer.writeVarint(largest)
        writer.writeVarint(UInt64(max(0, delay.nanoseconds / 1_000)))
        writer.writeVarint(UInt64(ranges.count - 1))
        writer.writeVarint(UInt64(ranges[0].count - 1))
        for (above, range) in zip(ranges, ranges.dropFirst()) {
            writer.writeVarint(above.lowerBound - range.upperBound - 1)
            writer.writeVarint(UInt64(range.count - 1))
        }
    }

    private static func range(
        below end: UInt64, _ reader: inout ByteReader
    ) throws(WireError) -> Range<UInt64> {
        let length = try reader.readVarint()
        guard length < end else { throw .invalid(field: "range length") }
        return end - length - 1..<end
    }
}

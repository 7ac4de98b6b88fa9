import NearbyCore

extension Limits {
    /// Missing ranges in one receipt, so that it fits an unreliable message.
    static let receiptRangesMax = 48
}

/// A collector's word that readings of one run are safe: committed, or known to be lost. Sent
/// unreliably after a commit, and again while the agent goes on sending what is settled.
///
///     0x04 · run 8 · through varint · missing count varint · { distance varint · length varint }… ·
///     trailing fields
///     through   the numbers 1…through are settled, but for the missing ones
///     distance  settled numbers between the range before (at first: number 0) and this one
///     length    missing numbers, at least 1
public struct Receipt: Equatable, Sendable {
    public let run: RunID
    /// All numbers from 1 to this, this included, are settled unless `missing` has them.
    public let through: UInt64
    /// In rising order, disjoint, not touching, within 1…through.
    public let missing: [Range<UInt64>]

    /// What the set says, as far as `Limits.receiptRangesMax` ranges reach; nil if it is empty.
    ///
    /// - Parameter settled: numbers from 1; 0 counts as settled.
    public init?(run: RunID, settled: NumberRanges) {
        guard let end = settled.ranges.last?.upperBound, end > 1 else { return nil }
        let missing = settled.missing(in: 1..<end)
        self.run = run
        self.missing = Array(missing.prefix(Limits.receiptRangesMax))
        through =
            missing.count > Limits.receiptRangesMax
            ? missing[Limits.receiptRangesMax].lowerBound - 1 : end - 1
        // What was cut off begins right behind a settled number, so `through` is at least 1.
    }

    /// The numbers that the receipt settles.
    public var settled: NumberRanges {
        var ranges = NumberRanges()
        ranges.insert(1..<through + 1)
        for range in missing { ranges.remove(range) }
        return ranges
    }

    init(parsing reader: inout ByteReader, skippedFields: inout Int) throws(WireError) {
        run = RunID(value: try reader.readUInt64())
        through = try reader.readVarint()
        guard through > 0, through < .max else { throw .invalid(field: "through") }
        let count = try reader.readVarint()
        guard count <= UInt64(Limits.receiptRangesMax) else {
            throw .tooLong(limit: Limits.receiptRangesMax, actual: Int(clamping: count))
        }
        var missing: [Range<UInt64>] = []
        var position: UInt64 = 1
        for index in 0..<Int(count) {
            let distance = try reader.readVarint()
            let length = try reader.readVarint()
            // Ranges that touch would be one.
            guard index == 0 || distance > 0, length > 0 else { throw .invalid(field: "missing") }
            let (lower, isLowerPast) = position.addingReportingOverflow(distance)
            let (upper, isUpperPast) = lower.addingReportingOverflow(length)
            guard !isLowerPast, !isUpperPast, upper <= through else {
                throw .invalid(field: "missing")
            }
            missing.append(lower..<upper)
            position = upper
        }
        self.missing = missing
        while try TrailingField(parsing: &reader) != nil { skippedFields += 1 }
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(run.value)
        writer.writeVarint(through)
        writer.writeVarint(UInt64(missing.count))
        var position: UInt64 = 1
        for range in missing {
            writer.writeVarint(range.lowerBound - position)
            writer.writeVarint(range.upperBound - range.lowerBound)
            position = range.upperBound
        }
    }
}

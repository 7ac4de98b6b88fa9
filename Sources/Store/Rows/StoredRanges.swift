import NearbyCore

/// Settled sequence numbers as the store keeps them:
///
///     { distance varint · length varint }…
///     distance  from the end of the range before, at first from 0
///     length    at least 1
extension NumberRanges {
    init(parsingStored bytes: [UInt8]) throws(WireError) {
        self.init()
        var reader = ByteReader(bytes)
        var position: UInt64 = 0
        while reader.remainingCount > 0 {
            let (lower, isLowerPast) = position.addingReportingOverflow(try reader.readVarint())
            let length = try reader.readVarint()
            let (upper, isUpperPast) = lower.addingReportingOverflow(length)
            guard !isLowerPast, !isUpperPast, length > 0 else { throw .invalid(field: "settled") }
            insert(lower..<upper)
            position = upper
        }
    }

    var storedBytes: [UInt8] {
        var writer = ByteWriter()
        var position: UInt64 = 0
        for range in ranges {
            writer.writeVarint(range.lowerBound - position)
            writer.writeVarint(range.upperBound - range.lowerBound)
            position = range.upperBound
        }
        return writer.bytes
    }
}

import NearbyCore
import Telemetry

/// A record of a segment file.
///
///     segment   "RVSPOOL" 7 · version 1 (1) · records
///     record    length 4 (of type and body) · CRC-32C 4 (of type and body) · type 1 · body
///     birth     type 1: a birth message; it stands before the blocks of its run
///     block     type 2: run 8 · first varint · count varint · a report message with these readings
///
/// Integers are big-endian. Records of unknown types are passed over.
enum SpoolRecord {
    case birth(Birth)
    case block(run: RunID, range: Range<UInt64>, bytes: ArraySlice<UInt8>)
    case unknown

    static let segmentHeader: [UInt8] = Array("RVSPOOL".utf8) + [1]
    /// Length and checksum.
    static let headerByteCount = 8
    /// Type and body: the longest birth, or a block of the journal's with room to spare.
    static let bodyBytesMax = 1 << 20

    /// What stands before the body, checked for a length that can be.
    struct RecordHeader {
        var length: Int
        var checksum: UInt32

        init?(_ bytes: [UInt8]) {
            var reader = ByteReader(bytes)
            guard let length = try? reader.readUInt32(), let checksum = try? reader.readUInt32(),
                length > 0, Int(length) <= SpoolRecord.bodyBytesMax
            else { return nil }
            self.length = Int(length)
            self.checksum = checksum
        }
    }

    /// Nil for bytes that are no record, though their checksum is right.
    init?(type: UInt8, body: ArraySlice<UInt8>) {
        switch type {
        case 1:
            guard case .birth(let birth)? = try? TelemetryMessage(parsing: Array(body)) else {
                return nil
            }
            self = .birth(birth)
        case 2:
            var reader = ByteReader(body)
            guard let run = try? reader.readUInt64(), let first = try? reader.readVarint(),
                let count = try? reader.readVarint(), count > 0
            else { return nil }
            let (end, isPast) = first.addingReportingOverflow(count)
            guard !isPast else { return nil }
            self = .block(
                run: RunID(value: run), range: first..<end, bytes: reader.readRemaining())
        default: self = .unknown
        }
    }

    static func bytes(birth message: [UInt8]) -> [UInt8] { framed(1, message) }

    static func bytes(_ block: SpoolBlock) -> [UInt8] {
        var writer = ByteWriter(reserving: block.bytes.count + 24)
        writer.write(block.run.value)
        writer.writeVarint(block.range.lowerBound)
        writer.writeVarint(block.range.upperBound - block.range.lowerBound)
        writer.write(contentsOf: block.bytes)
        return framed(2, writer.bytes)
    }

    private static func framed(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(reserving: body.count + headerByteCount + 1)
        writer.write(UInt32(truncatingIfNeeded: body.count + 1))
        writer.write(Checksum.crc32c([type] + body))
        writer.write(type)
        writer.write(contentsOf: body)
        return writer.bytes
    }
}

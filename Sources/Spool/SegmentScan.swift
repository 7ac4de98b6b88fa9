import DurableFiles
import NearbyCore
import Telemetry

/// What one segment file holds, read record by record.
struct SegmentScan {
    private(set) var births: [Birth] = []
    private(set) var blocks: [(run: RunID, range: Range<UInt64>, place: SpoolPlace)] = []
    /// Records whose bytes are not what was written.
    private(set) var damagedCount = 0
    /// Where the last whole record ends.
    private(set) var end = 0
    /// Whether bytes follow there that are no record.
    private(set) var hasTornTail = false

    init(_ file: OpenFile, segment: UInt64, through files: any FileOperations)
        throws(FileError)
    {
        let magic = SpoolRecord.segmentHeader
        guard try files.read(file, at: 0, count: magic.count) == magic else {
            hasTornTail = true
            return
        }
        end = magic.count
        var offset = end
        while true {
            let head = try files.read(file, at: offset, count: SpoolRecord.headerByteCount)
            if head.isEmpty { return }
            guard let header = SpoolRecord.RecordHeader(head) else { break }
            let body = try files.read(
                file, at: offset + SpoolRecord.headerByteCount, count: header.length)
            guard body.count == header.length else { break }
            let place = SpoolPlace(
                segment: segment, offset: offset,
                byteCount: SpoolRecord.headerByteCount + header.length)
            offset += place.byteCount
            if read(body, header, at: place) { end = offset } else { damagedCount += 1 }
        }
        hasTornTail = true
    }

    private mutating func read(
        _ body: [UInt8], _ header: SpoolRecord.RecordHeader, at place: SpoolPlace
    ) -> Bool {
        guard Checksum.crc32c(body) == header.checksum, let type = body.first,
            let record = SpoolRecord(type: type, body: body.dropFirst())
        else { return false }
        switch record {
        case .birth(let birth): births.append(birth)
        case .block(let run, let range, _): blocks.append((run, range, place))
        case .unknown: break
        }
        return true
    }
}

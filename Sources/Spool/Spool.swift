import DurableFiles
import NearbyCore
import Telemetry

extension Limits {
    /// Earlier runs that are taken up from disk; the oldest go first.
    static let spooledRunsMax = 64
}

/// The agent's readings on disk, for the time when no collector is in reach: segment files in one
/// directory, appended in batches. Nothing is written in normal running.
///
/// What `append` returned from is there after kill -9 and power cuts. Each start begins a segment
/// of its own: an old one may have a torn tail. Calls block on the disk; one at a time, from any
/// thread.
public final class Spool {
    public struct Settings: Sendable {
        /// On disk, all segments together.
        public var bytesMax: Int
        /// A segment is removed whole, so this is the step in which the oldest readings go.
        public var segmentBytesMax: Int

        public init(bytesMax: Int) {
            self.bytesMax = bytesMax
            segmentBytesMax = min(max(bytesMax / 16, 64 << 10), 4 << 20)
        }
    }

    /// What a batch did.
    public struct Appended: Sendable {
        public var places: [(range: Range<UInt64>, place: SpoolPlace)] = []
        /// Blocks that had to go.
        public var evicted: [RunRange] = []
    }

    private struct Segment {
        var byteCount: Int
        /// Those that are still needed.
        var blocks: [RunRange] = []
    }

    let directory: String
    let run: RunID
    private let settings: Settings
    let files: any FileOperations
    private var segments: [UInt64: Segment] = [:]
    /// The segment of this start, and the birth that stands in it last.
    private var current: (number: UInt64, file: OpenFile, birth: [UInt8])?
    private var lastNumber: UInt64 = 0
    /// Since the start: what the card has to bear.
    public private(set) var bytesWritten = 0

    /// Whether the last batch is on disk.
    private(set) var isWhole = true

    init(
        directory: String, run: RunID, settings: Settings, through files: any FileOperations
    ) {
        self.directory = directory
        self.run = run
        self.settings = settings
        self.files = files
    }

    public var byteCount: Int { segments.values.reduce(0) { $0 + $1.byteCount } }

    // MARK: Writing

    /// Makes the blocks durable, the birth that they need before them. At the limit the oldest
    /// segments go. After an error nothing is promised of this batch, and it can be given again.
    public func append(
        birth: [UInt8], _ blocks: [SpoolBlock]
    ) throws(FileError) -> Appended {
        var result = Appended()
        let records = blocks.map(SpoolRecord.bytes)
        let byteCount = records.reduce(birth.count + 32) { $0 + $1.count }
        result.evicted = makeRoom(for: byteCount)
        if let number = current?.number,
            (segments[number]?.byteCount ?? 0) + byteCount > settings.segmentBytesMax
        {
            closeCurrent()
        }
        do {
            try write(birth, records, of: blocks, into: &result)
            isWhole = true
        } catch {
            isWhole = false
            abandonCurrent()
            throw error
        }
        return result
    }

    private func write(
        _ birth: [UInt8], _ records: [[UInt8]], of blocks: [SpoolBlock], into result: inout Appended
    ) throws(FileError) {
        let isNew = current == nil
        if isNew { try beginSegment() }
        guard let (number, file, lastBirth) = current else { return }
        var offset = segments[number]?.byteCount ?? 0
        var bytes = isNew ? SpoolRecord.segmentHeader : []
        if birth != lastBirth { bytes += SpoolRecord.bytes(birth: birth) }
        for (block, record) in zip(blocks, records) {
            let place = SpoolPlace(
                segment: number, offset: offset + bytes.count, byteCount: record.count)
            result.places.append((block.range, place))
            bytes += record
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = try files.write(rest, to: file)
            guard taken > 0 else { throw FileError.nothingWritten(path(number)) }
            rest = rest.dropFirst(taken)
            bytesWritten += taken
        }
        try files.synchronize(file)
        if isNew { try files.synchronizeDirectory(directory) }
        offset += bytes.count
        segments[number]?.byteCount = offset
        segments[number]?.blocks += blocks.map { RunRange(run: $0.run, range: $0.range) }
        current?.birth = birth
    }

    private func beginSegment() throws(FileError) {
        let number = lastNumber + 1
        let file = try files.open(path(number), for: .replacing(permissions: 0o600))
        lastNumber = number
        current = (number, file, [])
        segments[number] = Segment(byteCount: 0)
    }

    private func closeCurrent() {
        if let current { files.close(current.file) }
        current = nil
    }

    /// What was written of the failed batch is cut off as well as can be; the next batch begins a
    /// segment of its own. The scan of the next start copes with what stays.
    private func abandonCurrent() {
        guard let number = current?.number else { return }
        closeCurrent()
        if let segment = segments[number], segment.byteCount > 0 {
            try? files.truncate(path(number), to: segment.byteCount)
        } else {
            segments[number] = nil
            try? files.remove(path(number))
        }
    }

    private func makeRoom(for byteCount: Int) -> [RunRange] {
        var evicted: [RunRange] = []
        while self.byteCount + byteCount > settings.bytesMax, let oldest = segments.keys.min() {
            if current?.number == oldest { closeCurrent() }
            evicted += segments[oldest]?.blocks ?? []
            segments[oldest] = nil
            try? files.remove(path(oldest))
        }
        return evicted
    }

    // MARK: Reading and forgetting

    /// The report message of a block; nil if its bytes are not what was written.
    public func read(_ place: SpoolPlace) throws(FileError) -> [UInt8]? {
        let file = try files.open(path(place.segment), for: .reading)
        defer { files.close(file) }
        let bytes = try files.read(file, at: place.offset, count: place.byteCount)
        guard let header = SpoolRecord.RecordHeader(bytes), bytes.count == place.byteCount,
            header.length == bytes.count - SpoolRecord.headerByteCount
        else { return nil }
        let body = bytes.dropFirst(SpoolRecord.headerByteCount)
        guard Checksum.crc32c(body) == header.checksum, let type = body.first,
            case .block(_, _, let report)? = SpoolRecord(type: type, body: body.dropFirst())
        else { return nil }
        return Array(report)
    }

    /// These numbers of a run are not needed any more. Segments of which nothing is needed go.
    public func forget(_ run: RunID, _ unneeded: NumberRanges) {
        for number in segments.keys.sorted() {
            segments[number]?.blocks.removeAll {
                $0.run == run && unneeded.missing(in: $0.range).isEmpty
            }
            guard segments[number]?.blocks.isEmpty == true else { continue }
            if current?.number == number { closeCurrent() }
            segments[number] = nil
            try? files.remove(path(number))
        }
    }

    // MARK: Found at the start

    func adopt(_ number: UInt64, _ scan: SegmentScan) {
        lastNumber = max(lastNumber, number)
        segments[number] = Segment(
            byteCount: scan.end, blocks: scan.blocks.map { RunRange(run: $0.run, range: $0.range) })
    }

    func path(_ number: UInt64) -> String { directory + "/" + Self.name(number) }

    static func name(_ number: UInt64) -> String { RunID(value: number).description + ".spool" }

    static func number(_ name: String) -> UInt64? {
        let digits = name.dropLast(6)
        guard name.hasSuffix(".spool"), digits.utf8.count == 16 else { return nil }
        return UInt64(digits, radix: 16)
    }
}

extension FileError {
    /// EIO: write(2) took nothing.
    static func nothingWritten(_ path: String) -> FileError {
        FileError(operation: "write", path: path, code: 5)
    }
}

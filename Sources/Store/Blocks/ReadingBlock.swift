import NearbyCore
import Spool
import Telemetry

/// Readings of one channel of a run, as the store keeps them for long: 3 to 6 bytes each.
///
///     version 1 (1) · scale 1 · { count varint · hops 1 }… · 0 · report · checksum 4
///     scale     the exponent of the report's integers
///     count     so many readings, from 1, came over so many hops; together all of the report's
///     report    a report message (`Report`) of one channel alone; its birth reference is 0
///     checksum  CRC-32C of all before it, big-endian
///
/// What the row of a block says beside its bytes (`BlockHeader`) is in the bytes as well, but for
/// the run.
struct ReadingBlock: Hashable {
    var header: BlockHeader
    var bytes: [UInt8]

    private static let version: UInt8 = 1

    /// All readings, in as few blocks as take them.
    ///
    /// - Parameter rows: of one channel. Of the same number only the first counts.
    static func blocks(of rows: [StoredRow]) -> [ReadingBlock] {
        let rows = rows.ascending
        var blocks: [ReadingBlock] = []
        var builder = BlockBuilder()
        for row in rows where !builder.append(row) {
            if let block = builder.block { blocks.append(block) }
            builder = BlockBuilder()
            _ = builder.append(row)
        }
        if let block = builder.block { blocks.append(block) }
        return blocks
    }

    /// In ascending order of sequence.
    static func rows(parsing bytes: [UInt8], channel: UInt16) throws(WireError) -> [StoredRow] {
        guard bytes.count > 4 else { throw .truncated(needed: 5, available: bytes.count) }
        var tail = ByteReader(bytes[(bytes.count - 4)...])
        let body = bytes[..<(bytes.count - 4)]
        guard try tail.readUInt32() == Checksum.crc32c(body) else {
            throw .invalid(field: "checksum")
        }
        var reader = ByteReader(body)
        let version = try reader.readUInt8()
        guard version == Self.version else {
            throw .unsupportedVersion(lowest: version, highest: version)
        }
        let scale = Int8(bitPattern: try reader.readUInt8())
        var hops: [(count: UInt64, hops: UInt8)] = []
        while case let count = try reader.readVarint(), count > 0 {
            hops.append((count, try reader.readUInt8()))
        }
        let report = try Report(parsingBlock: reader.readRemaining())
        var rows: [StoredRow] = []
        rows.reserveCapacity(report.entries.count)
        var entries = report.entries[...]
        for (count, hops) in hops {
            guard count <= UInt64(entries.count) else { throw .invalid(field: "hops") }
            for entry in entries.prefix(Int(count)) {
                guard entry.channel == channel else { throw .invalid(field: "channel") }
                rows.append(StoredRow(reading: try ReadingRow(entry, scale: scale), hops: hops))
            }
            entries = entries.dropFirst(Int(count))
        }
        guard entries.isEmpty else { throw .invalid(field: "hops") }
        return rows
    }

    fileprivate static func bytes(
        scale: Int8, hops: [(count: UInt64, hops: UInt8)], report: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter(reserving: report.count + 3 * hops.count + 8)
        writer.write(version)
        writer.write(UInt8(bitPattern: scale))
        for (count, hops) in hops {
            writer.writeVarint(count)
            writer.write(hops)
        }
        writer.writeVarint(0)
        writer.write(contentsOf: report)
        writer.write(Checksum.crc32c(writer.bytes))
        return writer.bytes
    }
}

/// Takes readings of one channel as long as they fit a block.
private struct BlockBuilder {
    private var header: BlockHeader?
    private var scale: Int8 = 0
    private var encoder = ReportEncoder()
    private var hops: [(count: UInt64, hops: UInt8)] = []

    /// Returns whether it fits; the first always does.
    mutating func append(_ row: StoredRow) -> Bool {
        var wanted = BlockHeader(first: row.reading)
        if let header {
            guard let next = header.with(row.reading) else { return false }
            wanted = next
        } else {
            scale = row.reading.outcome.value?.exponent ?? 0
        }
        let isNewHops = hops.last?.hops != row.hops
        guard !isNewHops || hops.count < Limits.blockHopsMax else { return false }
        let entry = Report.Entry(row.reading, scale: scale)
        guard encoder.append(entry, bytesMax: Limits.blockBytesMax - 3 * Limits.blockHopsMax) else {
            return false
        }
        header = wanted
        if isNewHops { hops.append((0, row.hops)) }
        hops[hops.count - 1].count += 1
        return true
    }

    var block: ReadingBlock? {
        guard let header else { return nil }
        let report = encoder.bytes(
            birth: BirthReference(run: RunID(value: 0), number: 0),
            lowestHeld: encoder.firstSequence)
        return ReadingBlock(
            header: header,
            bytes: ReadingBlock.bytes(scale: scale, hops: hops, report: report))
    }
}

extension Report.Entry {
    /// Whatever number it is, it comes back with the same places.
    fileprivate init(_ row: ReadingRow, scale: Int8) {
        let cell: Report.Cell
        switch row.outcome {
        case .null(let reason): cell = .null(reason)
        case .value(let value):
            cell = value.exponent == scale ? .scaled(value.coefficient) : .decimal(value)
        }
        self.init(
            sequence: UInt64(row.sequence), channel: row.channel,
            milliseconds: row.milliseconds, cell: cell)
    }
}

extension ReadingRow {
    fileprivate init(_ entry: Report.Entry, scale: Int8) throws(WireError) {
        guard let sequence = Int64(exactly: entry.sequence), sequence > 0 else {
            throw .invalid(field: "sequence")
        }
        self.sequence = sequence
        channel = entry.channel
        milliseconds = entry.milliseconds
        switch entry.cell {
        case .scaled(let integer):
            outcome = .value(DecimalValue(coefficient: integer, exponent: scale))
        case .decimal(let value): outcome = .value(value)
        case .null(let reason): outcome = .null(reason)
        }
    }
}

extension Limits {
    /// A block's bytes, so that its row fills a page of the file (4,096) and no more.
    static let blockBytesMax = 4_000
    /// Changes of the number of hops within a block.
    static let blockHopsMax = 8
}

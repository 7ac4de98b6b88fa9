import Boards
import Configuration
import DurableFiles
import NearbyCore
import Telemetry

@testable import Sensors
@testable import Spool
@testable import Store

extension FuzzTarget {
    /// What was written earlier, by us or by others, and may have rotted since.
    static let stored: [FuzzTarget] = [
        FuzzTarget("stored-ranges") { bytes in
            guard let ranges = try? NumberRanges(parsingStored: bytes) else { return }
            for (range, next) in zip(ranges.ranges, ranges.ranges.dropFirst()) {
                precondition(range.upperBound < next.lowerBound, "out of order")
            }
            let again = try? NumberRanges(parsingStored: ranges.storedBytes)
            precondition(again == ranges, "the numbers are not what they were")
        },
        FuzzTarget("block") { block($0) },
        FuzzTarget("counter") { count($0) },
        FuzzTarget("spool") { spool($0) },
        FuzzTarget("board") { bytes in
            switch Board.decode(bytes, file: "fuzz.yaml") {
            case .good(let board):
                precondition(!board.name.isEmpty && !board.sources.isEmpty, "half a board")
                for colours in [false, true] {
                    let report = BoardReport(
                        board, file: "fuzz.yaml", root: nil, colours: colours)
                    precondition(!report.text.isEmpty, "nothing to say")
                }
            case .bad(let mistakes):
                precondition(!mistakes.isEmpty, "refused without a word")
                for mistake in mistakes { precondition(!mistake.description.isEmpty) }
            }
        },
    ]

    /// The channel's number, a block without its checksum.
    private static func block(_ bytes: [UInt8]) {
        guard let channel = bytes.first else { return }
        var writer = ByteWriter()
        writer.write(contentsOf: bytes.dropFirst())
        writer.write(Checksum.crc32c(bytes.dropFirst()))
        guard
            let rows = try? ReadingBlock.rows(parsing: writer.bytes, channel: UInt16(channel))
        else { return }
        precondition(BlockHeader(rows)?.describes(rows) == true, "no header for it")
        var again: [StoredRow] = []
        for block in ReadingBlock.blocks(of: rows) {
            let part = try? ReadingBlock.rows(parsing: block.bytes, channel: UInt16(channel))
            guard let part, block.header.describes(part) else {
                preconditionFailure("a block of ours is none")
            }
            again += part
        }
        precondition(again == rows, "the readings are not what they were")
    }

    /// The counter's name, a zero, its file.
    private static func count(_ bytes: [UInt8]) {
        let halves = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = halves.first, !name.isEmpty else { return }
        let files = MemoryFiles()
        let text = halves.count > 1 ? Array(halves[1]) : []
        var file = CounterFile(
            state: "/state", name: String(decoding: name, as: UTF8.self), through: files)
        precondition(file.path.split(separator: "/").count == 3, file.path)
        files.contents[file.path] = text
        guard let content = try? file.load() else { return }
        var count: Int64 = 0
        switch content {
        case .none: preconditionFailure("a file is passed over")
        case .damaged(let kept): precondition(files.contents[kept] == text, "it is lost")
        case .count(let found): count = found
        }
        precondition(count >= 0, "\(count)")
        let next = count.addingSaturating(1)
        guard (try? file.save(next, now: .zero)) != nil else { return }
        precondition((try? file.load()) == .count(next), "it is not what was saved")
    }

    // MARK: Spool

    /// Odd: as it is; even: records { type 1 | length 1 | body }…, of type 255: the next segment.
    private static func spool(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let files = MemoryFiles()
        let segments = first % 2 == 1 ? [Array(bytes.dropFirst())] : framed(bytes.dropFirst())
        for (number, segment) in segments.enumerated() {
            files.contents["/spool/" + Spool.name(UInt64(number + 1))] = segment
        }
        let opened = open(files, run: 0x51)
        precondition(opened.runs.count <= Limits.spooledRunsMax, "too many runs")
        for run in opened.runs {
            var end: UInt64 = 0
            for (range, place) in run.blocks {
                precondition(range.lowerBound >= end && !range.isEmpty, "out of order")
                end = range.upperBound
                let report = try? opened.spool.read(place)
                precondition(report != nil, "a block that was found cannot be read")
            }
        }
        if opened.runs.count < Limits.spooledRunsMax {
            let again = open(files, run: 0x52)
            precondition(again.runs == opened.runs, "the next start finds something else")
            precondition(again.previous?.run == RunID(value: 0x51), "the run before is unknown")
        }
    }

    private static func open(_ files: MemoryFiles, run: UInt64) -> Spool.Opened {
        let opened = try? Spool.open(
            directory: "/spool", run: RunID(value: run),
            settings: Spool.Settings(bytesMax: 1 << 20), through: files)
        guard let opened else { preconditionFailure("a spool that cannot be opened") }
        return opened
    }

    private static func framed(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var segments = [SpoolRecord.segmentHeader]
        var reader = ByteReader(bytes)
        while let type = try? reader.readUInt8(), let length = try? reader.readUInt8(),
            let body = try? reader.readBytes(min(Int(length), reader.remainingCount))
        {
            if type == 255 { segments.append(SpoolRecord.segmentHeader) }
            var writer = ByteWriter()
            writer.write(UInt32(body.count + 1))
            writer.write(Checksum.crc32c([type] + body))
            writer.write(type)
            writer.write(contentsOf: body)
            segments[segments.count - 1] += writer.bytes
        }
        return segments
    }
}

import DurableFiles
import FailingFiles
import Glibc
import NearbyCore
import Telemetry
import Testing
import VectorFile

@testable import Spool

@Suite struct SpoolTests {
    @Test func whatWasAppendedIsFoundAtTheNextStart() throws {
        try withTemporaryDirectory { folder in
            let directory = folder + "/state/spool"
            let first = try open(directory, run: 1)
            #expect(first.runs.isEmpty && first.previous == nil && first.diagnostics.isEmpty)
            let birth = try birth(run: 1)
            _ = try first.spool.append(birth: birth, [block(1, 1..<20), block(1, 20..<30)])
            let appended = try first.spool.append(birth: birth, [block(1, 30..<31)])
            #expect(appended.places.map(\.range) == [30..<31])
            let place = try #require(appended.places.first?.place)
            #expect(try first.spool.read(place) == block(1, 30..<31).bytes)

            let second = try open(directory, run: 2)
            let previous = PreviousRun(
                run: RunID(value: 1), lastSequence: 30, endedInOrder: false)
            #expect(second.previous == previous)
            let found = try #require(second.runs.first)
            #expect(found.birth.run == RunID(value: 1))
            #expect(found.blocks.map(\.range) == [1..<20, 20..<30, 30..<31])
            for (range, place) in found.blocks {
                #expect(try second.spool.read(place) == block(1, range).bytes)
            }
            #expect(permissions(directory) == 0o700)
            for name in names(in: directory) {
                #expect(permissions(directory + "/" + name) == 0o600)
            }
        }
    }

    @Test func howARunEndedIsTheNextOnesToTell() throws {
        try withTemporaryDirectory { folder in
            let first = try open(folder, run: 1)
            try first.spool.recordEnd(lastSequence: 4_711)
            let second = try open(folder, run: 2)
            let inOrder = PreviousRun(
                run: RunID(value: 1), lastSequence: 4_711, endedInOrder: true)
            #expect(second.previous == inOrder)
            // Killed.
            let third = try open(folder, run: 3)
            let killed = PreviousRun(run: RunID(value: 2), lastSequence: 0, endedInOrder: false)
            #expect(third.previous == killed)
            // An earlier version names its run alone.
            let text = Array("0000000000000009\n".utf8)
            try AtomicFile.write(
                text, to: folder + "/last-run", permissions: 0o600, through: SystemFiles())
            let unknown = PreviousRun(run: RunID(value: 9), lastSequence: 0)
            #expect(try open(folder, run: 4).previous == unknown)
        }
    }

    @Test func nothingIsWrittenButTheRunWhileNothingIsSpooled() throws {
        try withTemporaryDirectory { folder in
            let opened = try open(folder, run: 1)
            #expect(names(in: folder) == ["last-run"])
            #expect(opened.spool.bytesWritten == 0)
        }
    }

    @Test func atTheLimitTheOldestSegmentGoesAndSaysWhatWasInIt() throws {
        try withTemporaryDirectory { folder in
            let opened = try open(folder, run: 1, bytesMax: 1 << 20)
            let birth = try birth(run: 1)
            var evicted: [RunRange] = []
            for index in 0..<400 as Range<UInt64> {
                let range = index * 100 + 1..<index * 100 + 101
                evicted += try opened.spool.append(birth: birth, [block(1, range, bytes: 8_000)])
                    .evicted
                #expect(opened.spool.byteCount <= 1 << 20)
            }
            #expect(evicted.first?.range == 1..<101)
            let found = try #require(try open(folder, run: 2).runs.first)
            #expect(found.blocks.first?.range.lowerBound == evicted.last?.range.upperBound)
            #expect(found.blocks.last?.range.upperBound == 40_001)
        }
    }

    @Test func segmentsGoWhenNothingOfThemIsNeeded() throws {
        try withTemporaryDirectory { folder in
            let opened = try open(folder, run: 1)
            let birth = try birth(run: 1)
            _ = try opened.spool.append(birth: birth, [block(1, 1..<50), block(1, 50..<60)])
            opened.spool.forget(RunID(value: 1), ranges(0..<50))
            #expect(names(in: folder).count == 2)
            opened.spool.forget(RunID(value: 2), .all)
            #expect(names(in: folder).count == 2)
            opened.spool.forget(RunID(value: 1), ranges(0..<60))
            #expect(names(in: folder) == ["last-run"])
            #expect(opened.spool.byteCount == 0)
            // And it goes on.
            _ = try opened.spool.append(birth: birth, [block(1, 60..<61)])
            #expect(try open(folder, run: 2).runs.first?.blocks.map(\.range) == [60..<61])
        }
    }

    @Test func aTornTailIsCutOffAndTold() throws {
        try withTemporaryDirectory { folder in
            let opened = try open(folder, run: 1)
            let birth = try birth(run: 1)
            let whole = try opened.spool.append(birth: birth, [block(1, 1..<9)])
            let torn = try opened.spool.append(birth: birth, [block(1, 9..<20)])
            let segment = folder + "/" + Spool.name(1)
            let end = try #require(torn.places.first?.place)
            try SystemFiles().truncate(segment, to: end.offset + end.byteCount - 1)
            let second = try open(folder, run: 2)
            #expect(second.runs.first?.blocks.map(\.range) == whole.places.map(\.range))
            #expect(second.diagnostics.count == 1)
            #expect(try open(folder, run: 3).diagnostics.isEmpty)
        }
    }

    @Test func aDirectoryThatCannotBeMadeIsAnError() throws {
        try withTemporaryDirectory { folder in
            try AtomicFile.write(
                [], to: folder + "/file", permissions: 0o600, through: SystemFiles())
            #expect(throws: FileError.self) { try open(folder + "/file/spool", run: 1) }
        }
    }

    // MARK: Faults

    /// Each call of a whole life fails once. What `append` returned from is found, as it was; what
    /// failed and was tried again is there once.
    @Test(arguments: [ENOSPC, EIO])
    func eachCallThatFailsLosesNothingThatWasPromised(code: Int32) throws {
        try liveOnce(withFaultAtEachCall: { .fail(call: $0, code: code) })
    }

    /// The power goes before each call.
    @Test(arguments: [false, true])
    func losingPowerAtAnyCallLosesNothingThatWasPromised(undoesRenames: Bool) throws {
        try liveOnce(withFaultAtEachCall: { .stop(call: $0, undoesRenames: undoesRenames) })
    }

    private func liveOnce(withFaultAtEachCall fault: (Int) -> FailingFiles.Fault) throws {
        var call = 0
        while true {
            let isPast = try withTemporaryDirectory { folder in
                let files = FailingFiles(fault(call))
                let promised = live(in: folder, through: files)
                try expect(promised, in: folder)
                return files.calls <= call
            }
            if isPast { break }
            call += 1
        }
        #expect(call > 30)
    }

    /// Two starts that each spool some batches; a batch that fails is tried twice more. Returns
    /// what was promised.
    private func live(in folder: String, through files: FailingFiles) -> [SpoolBlock] {
        var promised: [SpoolBlock] = []
        for run in 1...2 as ClosedRange<UInt64> {
            let settings = Spool.Settings(bytesMax: 1 << 20)
            guard
                let opened = try? Spool.open(
                    directory: folder, run: RunID(value: run), settings: settings, through: files),
                let birth = try? birth(run: run)
            else { continue }
            for batch in 0..<4 as Range<UInt64> {
                let blocks = (0..<3 as Range<UInt64>).map {
                    let first = batch * 60 + $0 * 20 + 1
                    return block(run, first..<first + 20, bytes: 9_000)
                }
                for _ in 0..<3 where (try? opened.spool.append(birth: birth, blocks)) != nil {
                    promised += blocks
                    break
                }
            }
        }
        return promised
    }

    private func expect(_ promised: [SpoolBlock], in folder: String) throws {
        let opened = try open(folder, run: 9)
        var found: [RunRange: SpoolPlace] = [:]
        for run in opened.runs {
            for (range, place) in run.blocks {
                let before = found.updateValue(
                    place, forKey: RunRange(run: run.birth.run, range: range))
                #expect(before == nil)
            }
        }
        for (stretch, place) in found {
            let expected = block(stretch.run.value, stretch.range, bytes: 9_000).bytes
            #expect(try opened.spool.read(place) == expected)
        }
        for block in promised {
            #expect(found[RunRange(run: block.run, range: block.range)] != nil, "\(block.range)")
        }
    }

    // MARK: Bytes

    /// A segment as it is on disk: cut at any length, and with any bit turned over, it never yields
    /// a block that was not written.
    @Test func damagedSegmentsNeverYieldAWrongBlock() throws {
        let golden = try goldenSegment()
        let whole = [block(1, 1..<3, bytes: 40), block(1, 3..<9, bytes: 40)]
        var damaged: [[UInt8]] = (0..<golden.count).map { Array(golden.prefix($0)) }
        for index in golden.indices {
            for bit in 0..<8 {
                var bytes = golden
                bytes[index] ^= 1 << UInt8(bit)
                damaged.append(bytes)
            }
        }
        try withTemporaryDirectory { folder in
            let settings = Spool.Settings(bytesMax: 1 << 20)
            let spool = Spool(
                directory: folder, run: RunID(value: 1), settings: settings, through: SystemFiles())
            for bytes in damaged + [golden] {
                try put(bytes, at: spool.path(1))
                let file = try SystemFiles().open(spool.path(1), for: .reading)
                defer { SystemFiles().close(file) }
                let scan = try SegmentScan(file, segment: 1, through: SystemFiles())
                for (run, range, place) in scan.blocks {
                    let bytes = try spool.read(place) ?? []
                    #expect(whole.contains(SpoolBlock(run: run, range: range, bytes: bytes)))
                }
                if bytes == golden { #expect(scan.blocks.map(\.range) == [1..<3, 3..<9]) }
            }
        }
    }

    private func put(_ bytes: [UInt8], at path: String) throws {
        let file = try SystemFiles().open(path, for: .replacing(permissions: 0o600))
        defer { SystemFiles().close(file) }
        if !bytes.isEmpty { _ = try SystemFiles().write(bytes[...], to: file) }
    }

    @Test func theFormatIsThatOfTheGoldenSegment() throws {
        let bytes = try goldenSegment()
        #expect(bytes == vector("segment"))
    }

    /// The bytes of a segment as `append` writes them; the version of the format stands in them.
    private func goldenSegment() throws -> [UInt8] {
        try withTemporaryDirectory { folder in
            let opened = try open(folder, run: 1)
            _ = try opened.spool.append(
                birth: try birth(run: 1), [block(1, 1..<3, bytes: 40), block(1, 3..<9, bytes: 40)])
            let path = folder + "/" + Spool.name(1)
            let bytes = try AtomicFile.read(path, limit: 1 << 20, through: SystemFiles())
            return try #require(bytes)
        }
    }

    @Test func theChecksumIsThatOfTheStandard() {
        // RFC 3720 §B.4.
        #expect(Checksum.crc32c([UInt8](repeating: 0, count: 32)) == 0x8a91_36aa)
        #expect(Checksum.crc32c([UInt8](repeating: 0xff, count: 32)) == 0x62a8_ab43)
        #expect(Checksum.crc32c(0..<32 as Range<UInt8>) == 0x46dd_794e)
        #expect(Checksum.crc32c("123456789".utf8) == 0xe306_9283)
    }

    // MARK: Parts

    private func open(
        _ directory: String, run: UInt64, bytesMax: Int = 1 << 20
    ) throws -> Spool.Opened {
        try Spool.open(
            directory: directory, run: RunID(value: run),
            settings: Spool.Settings(bytesMax: bytesMax)
        )
    }

    private func birth(run: UInt64) throws -> [UInt8] {
        let birth = Birth(
            number: 1, run: RunID(value: run), boot: BootID(high: 1, low: 2),
            node: try NodeDescription(name: "north"), channels: [])
        return TelemetryMessage.birth(birth).bytes
    }

    /// The spool does not look into a block: any bytes do.
    /// Of each block other bytes: seven more from one to the next, which begins anew after 256.
    private func block(_ run: UInt64, _ range: Range<UInt64>, bytes: Int = 100) -> SpoolBlock {
        let start = Int(range.lowerBound * 183 % 256)
        let cycle = Self.sevens[start..<start + 256]
        var content: [UInt8] = []
        while content.count < bytes { content += cycle.prefix(bytes - content.count) }
        return SpoolBlock(run: RunID(value: run), range: range, bytes: content)
    }

    /// 183 is the inverse of 7.
    private static let sevens = (0..<512).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    private func ranges(_ range: Range<UInt64>) -> NumberRanges {
        var set = NumberRanges()
        set.insert(range)
        return set
    }

    private func permissions(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}

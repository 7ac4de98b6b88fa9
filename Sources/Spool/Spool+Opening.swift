import DurableFiles
import NearbyCore
import Telemetry

extension Spool {
    /// A spool, and what the runs before left in it.
    public struct Opened {
        public var spool: Spool
        /// In the order in which they began to write, at most `Limits.spooledRunsMax`.
        public var runs: [SpooledRun]
        /// The run that ended last, and how far its readings had come.
        public var previous: PreviousRun?
        /// Lines for the log: what was cut off, damaged, or given up.
        public var diagnostics: [String]
    }

    /// Opens the spool in a directory, made if it is missing, and notes down that `run` runs now.
    public static func open(
        directory: String, run: RunID, settings: Settings,
        through files: any FileOperations = SystemFiles()
    ) throws(FileError) -> Opened {
        try files.makeDirectories(directory, permissions: 0o700)
        let spool = Spool(directory: directory, run: run, settings: settings, through: files)
        var found = Found()
        let numbers = try files.list(directory).compactMap(number).sorted()
        for number in numbers {
            try scan(number, of: spool, isLast: number == numbers.last, files, into: &found)
        }
        let runs = found.takeRuns(spool)
        let previous = try recordRun(run, directory, files).map { last in
            let end = runs.first { $0.birth.run == last.run }?.blocks.last?.range.upperBound
            return PreviousRun(
                run: last.run, lastSequence: last.lastSequence ?? (end ?? 1) - 1,
                endedInOrder: last.endedInOrder)
        }
        return Opened(spool: spool, runs: runs, previous: previous, diagnostics: found.diagnostics)
    }

    private struct Found {
        var births: [RunID: Birth] = [:]
        var order: [RunID] = []
        var blocks: [RunID: [(range: Range<UInt64>, place: SpoolPlace)]] = [:]
        var diagnostics: [String] = []

        mutating func add(_ scan: SegmentScan, _ path: String) {
            for birth in scan.births { births[birth.run] = birth }
            var orphans = 0
            for (run, range, place) in scan.blocks {
                guard births[run] != nil else {
                    orphans += 1
                    continue
                }
                if blocks[run] == nil { order.append(run) }
                blocks[run, default: []].append((range, place))
            }
            if scan.damagedCount > 0 {
                diagnostics.append("\(path): \(scan.damagedCount) damaged records")
            }
            if orphans > 0 { diagnostics.append("\(path): \(orphans) blocks without their birth") }
        }

        /// Blocks of a run in ascending order; one that was written twice comes once.
        mutating func takeRuns(_ spool: Spool) -> [SpooledRun] {
            if order.count > Limits.spooledRunsMax {
                let given = order.prefix(order.count - Limits.spooledRunsMax)
                diagnostics.append("readings of \(given.count) old runs are given up")
                for run in given { spool.forget(run, .all) }
                order.removeFirst(given.count)
            }
            return order.compactMap { run in
                guard let birth = births[run] else { return nil }
                var ascending: [(range: Range<UInt64>, place: SpoolPlace)] = []
                for block in (blocks[run] ?? []).sorted(by: {
                    $0.range.lowerBound < $1.range.lowerBound
                }) {
                    let end = ascending.last?.range.upperBound ?? 0
                    if block.range.lowerBound >= end { ascending.append(block) }
                }
                return SpooledRun(birth: birth, blocks: ascending)
            }
        }
    }

    private static func scan(
        _ number: UInt64, of spool: Spool, isLast: Bool, _ files: any FileOperations,
        into found: inout Found
    ) throws(FileError) {
        let path = spool.path(number)
        let file = try files.open(path, for: .reading)
        let scan: SegmentScan
        do {
            scan = try SegmentScan(file, segment: number, through: files)
        } catch {
            files.close(file)
            throw error
        }
        files.close(file)
        spool.adopt(number, scan)
        if scan.hasTornTail, isLast {
            found.diagnostics.append("\(path): torn at byte \(scan.end), cut off there")
            try files.truncate(path, to: scan.end)
        } else if scan.hasTornTail {
            found.diagnostics.append("\(path): damaged from byte \(scan.end) on")
        }
        found.add(scan, path)
    }

    /// The run that was noted before, and how it ended.
    private struct RecordedRun {
        var run: RunID
        /// If it ended in order.
        var lastSequence: UInt64?
        var endedInOrder: Bool?
    }

    /// Returns the run that was noted before.
    ///
    ///     last-run   run, 16 hexadecimal digits · what follows · newline
    ///     what follows   " -" while it runs · " " and its last sequence number when it ended in
    ///                    order · nothing from earlier versions
    private static func recordRun(
        _ run: RunID, _ directory: String, _ files: any FileOperations
    ) throws(FileError) -> RecordedRun? {
        let path = directory + "/last-run"
        let text = try AtomicFile.read(path, limit: 64, through: files)
        try AtomicFile.write(Array("\(run) -\n".utf8), to: path, permissions: 0o600, through: files)
        guard let text, text.last == UInt8(ascii: "\n") else { return nil }
        let words = String(decoding: text.dropLast(), as: UTF8.self).split(separator: " ")
        guard let first = words.first, let noted = UInt64(first, radix: 16) else { return nil }
        let last = words.count > 1 ? UInt64(words[1]) : nil
        return RecordedRun(
            run: RunID(value: noted), lastSequence: last,
            endedInOrder: words.count > 1 ? last != nil : nil)
    }

    /// The run ends in order: whatever it measured up to this number is settled or on disk. Nothing
    /// is noted down if the last batch did not reach the disk.
    public func recordEnd(lastSequence: UInt64) throws(FileError) {
        guard isWhole else { return }
        try AtomicFile.write(
            Array("\(run) \(lastSequence)\n".utf8), to: directory + "/last-run",
            permissions: 0o600, through: files)
    }
}

extension NumberRanges {
    static var all: NumberRanges {
        var ranges = NumberRanges()
        ranges.insert(0..<(.max))
        return ranges
    }
}

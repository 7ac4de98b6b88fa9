import NearbyCore
import Testing

@testable import Telemetry

@Suite struct JournalTests {
    private let run = RunID(value: 9)

    /// Against plain sets of numbers: readings come, are sent, settled, taken back, go to disk, are
    /// read again and given up, in any order.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func aRunsJournalBehavesAsPlainSets(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var journal = RunJournal(run: run)
        var held: Set<UInt64> = []
        var settled: Set<UInt64> = []
        var pending: Set<UInt64> = []
        var disk: [SpoolPlace: [UInt8]] = [:]
        var sequence: UInt64 = 0
        for _ in 0..<600 {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0...4:
                for _ in 0..<Int.random(in: 1...60, using: &generator) {
                    sequence += 1
                    journal.append(entry(sequence, &generator), now: at(sequence))
                    held.insert(sequence)
                    pending.insert(sequence)
                }
            case 5:
                let range = stretch(below: sequence, &generator)
                journal.sent(range)
                pending.subtract(range)
            case 6:
                let range = stretch(below: sequence, &generator)
                journal.repend(range)
                pending.formUnion(held.subtracting(settled).intersection(range))
            case 7:
                var ranges = NumberRanges()
                for _ in 0..<3 { ranges.insert(stretch(below: sequence, &generator)) }
                _ = journal.settle(ranges)
                settled.formUnion(held.filter(ranges.contains))
                pending.subtract(settled)
            case 8:
                let limit = at(sequence - min(sequence, 100))
                for block in journal.unspooled(takenBy: limit, bytesMax: 10_000) {
                    let place = SpoolPlace(
                        segment: 1, offset: disk.count, byteCount: block.bytes.count)
                    disk[place] = block.bytes
                    let isHeld = journal.spooled(block.range, at: place)
                    #expect(isHeld)
                }
                journal.forgetCopies(downTo: Int.random(in: 0..<5_000, using: &generator))
            case 9:
                let lost = journal.dropOldest()
                #expect(lost.allSatisfy { $0.allSatisfy { held.contains($0) } })
                for range in lost { held.subtract(range) }
            default:
                switch journal.takeNewest() {
                case nil: #expect(pending.isEmpty)
                case .report(let report):
                    let numbers = try sequences(report)
                    #expect(numbers.last.map { $0 <= (pending.max() ?? 0) } ?? false)
                    #expect(numbers.allSatisfy { pending.contains($0) })
                    pending.subtract(numbers)
                case .fetch(let place, let range):
                    pending.subtract(range)
                    let isWhole = journal.fetched(try #require(disk[place]), of: range)
                    #expect(isWhole)
                    pending.formUnion(held.subtracting(settled).intersection(range))
                }
            }
            // Whole blocks that are settled, and those given up, are not held any more.
            held = held.filter { isHeld($0, by: journal) }
            settled.formIntersection(held)
            pending.formIntersection(held)
            #expect(journal.unsettledCount == UInt64(held.subtracting(settled).count))
            #expect(journal.lowestHeld == held.subtracting(settled).min())
            #expect(Set(journal.pending.ranges.flatMap { Array($0) }) == pending)
            #expect(journal.memoryByteCount >= 0)
        }
    }

    @Test func theWholeBacklogLeavesOnceNewestFirst() throws {
        var generator = SeededGenerator(seed: 3)
        var journal = RunJournal(run: run)
        for sequence in 1...5_000 as ClosedRange<UInt64> {
            journal.append(entry(sequence, &generator), now: at(sequence))
        }
        var seen: [UInt64] = []
        while case .report(let report)? = journal.takeNewest() {
            let bytes = report.bytes(birth: BirthReference(run: run, number: 1), lowestHeld: 1)
            #expect(bytes.count <= Limits.messageBytesMax)
            seen = try sequences(report) + seen
        }
        let isInOrder = seen == Array(1...5_000)
        #expect(isInOrder)
    }

    @Test func damagedBlocksAreAnnouncedAsAGapAndNothingElseIs() throws {
        var settings = Journal.Settings()
        settings.spoolAfter = .seconds(30)
        let place = SpoolPlace(segment: 1, offset: 8, byteCount: 100)
        let birth = Birth(
            number: 9, run: RunID(value: 7), boot: BootID(high: 1, low: 1),
            node: try NodeDescription(name: "n"), channels: [])
        var journal = Journal(run: run, settings: settings)
        journal.restore(
            [SpooledRun(birth: birth, blocks: [(1..<10, place), (20..<30, place)])], now: .zero)
        #expect(journal.count == 19)
        #expect(
            journal.takeGaps(9, now: .zero) == [Gap(run: birth.run, range: 10..<20, reason: .power)]
        )
        guard case .fetch(_, let range)? = journal.takeNewest()?.taken else {
            Issue.record("nothing to read")
            return
        }
        journal.fetched([2, 0, 0], RunRange(run: birth.run, range: range))
        #expect(
            journal.takeGaps(9, now: .zero) == [
                Gap(run: birth.run, range: 20..<30, reason: .damaged)
            ])
        #expect(journal.count == 9)
        #expect(journal.lowestHeld(of: birth.run) == 1)
    }

    /// A collector that heard of the floor first would never ask why readings are missing.
    @Test func aGapKeepsTheFloorDownUntilItIsSettledAndIsToldAgain() throws {
        var generator = SeededGenerator(seed: 4)
        var settings = Journal.Settings()
        settings.memoryBytesMax = 100
        var journal = Journal(run: run, settings: settings)
        #expect(journal.append(entry(1, &generator), now: .zero) == 1)
        let gap = Gap(run: run, range: 1..<2, reason: .memoryFull)
        #expect(journal.lowestHeld(of: run) == 1)
        #expect(journal.takeGaps(9, now: at(0)) == [gap])
        #expect(journal.retellGaps(now: at(9_999)) == [])
        #expect(journal.retellGaps(now: at(10_000)) == [run])
        #expect(journal.takeGaps(9, now: at(10_000)) == [gap])
        var numbers = NumberRanges()
        numbers.insert(1..<2)
        let receipt = try #require(Receipt(run: run, settled: numbers))
        _ = journal.settle(receipt)
        #expect(journal.lowestHeld(of: run) == nil)
        #expect(journal.retellGaps(now: at(90_000)) == [])
    }

    @Test func theBirthOfAnEarlierRunStaysWhileAGapOfItIsNotKnown() throws {
        let birth = Birth(
            number: 9, run: RunID(value: 7), boot: BootID(high: 1, low: 1),
            node: try NodeDescription(name: "n"), channels: [])
        let place = SpoolPlace(segment: 1, offset: 8, byteCount: 100)
        var journal = Journal(run: run)
        journal.restore([SpooledRun(birth: birth, blocks: [(1..<10, place)])], now: .zero)
        journal.drop(RunRange(run: birth.run, range: 1..<10), .spoolFull)
        var others = NumberRanges()
        others.insert(1..<2)
        _ = journal.settle(try #require(Receipt(run: run, settled: others)))
        #expect(journal.birth(of: birth.run) == birth)
        var lost = NumberRanges()
        lost.insert(1..<10)
        _ = journal.settle(try #require(Receipt(run: birth.run, settled: lost)))
        #expect(journal.birth(of: birth.run) == nil)
    }

    @Test func blocksGoToDiskWhenTheirReadingsAreOld() throws {
        var generator = SeededGenerator(seed: 4)
        var settings = Journal.Settings()
        settings.spoolAfter = .seconds(30)
        var journal = Journal(run: run, settings: settings)
        for second in 1...40 as ClosedRange<UInt64> {
            _ = journal.append(entry(second, &generator), now: at(second * 1_000))
        }
        #expect(journal.spoolDeadline == at(31_000))
        let blocks = journal.takeUnspooled(now: at(31_000))
        #expect(blocks.map(\.range) == [1..<41])
    }

    @Test func withoutASpoolNothingIsDue() {
        var generator = SeededGenerator(seed: 4)
        var journal = Journal(run: run)
        _ = journal.append(entry(1, &generator), now: .zero)
        #expect(journal.spoolDeadline == nil)
        #expect(journal.takeAllUnspooled().isEmpty)
    }

    // MARK: Parts

    private func isHeld(_ number: UInt64, by journal: RunJournal) -> Bool {
        journal.holds(number)
    }

    private func sequences(_ report: ReportEncoder) throws -> [UInt64] {
        let bytes = report.bytes(
            birth: BirthReference(run: run, number: 1), lowestHeld: report.firstSequence)
        guard case .report(let parsed) = try TelemetryMessage(parsing: bytes) else { return [] }
        return parsed.entries.map(\.sequence)
    }

    private func stretch(below end: UInt64, _ generator: inout SeededGenerator) -> Range<UInt64> {
        let low = UInt64.random(in: 1...end + 1, using: &generator)
        return low..<low + UInt64.random(in: 0...300, using: &generator)
    }

    private func entry(_ sequence: UInt64, _ generator: inout SeededGenerator) -> Report.Entry {
        Report.Entry(
            sequence: sequence, channel: UInt16.random(in: 1...5, using: &generator),
            milliseconds: Int64(sequence) * 10,
            cell: .scaled(Int64.random(in: -99_999...99_999, using: &generator)))
    }

    private func at(_ milliseconds: UInt64) -> Instant {
        Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
    }
}

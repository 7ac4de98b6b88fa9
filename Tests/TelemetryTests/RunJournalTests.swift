import NearbyCore
import Testing

@testable import Telemetry

@Suite struct RunJournalTests {
    private typealias Fixture = JournalFixture

    /// Against plain sets of numbers: readings come, are sent, settled, taken back, go to disk, are
    /// read again and given up, in any order.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func aRunsJournalBehavesAsPlainSets(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var journal = RunJournal(run: Fixture.run)
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
                    journal.append(Fixture.entry(sequence, &generator), now: Fixture.at(sequence))
                    held.insert(sequence)
                    pending.insert(sequence)
                }
            case 5:
                let range = stretch(below: sequence, &generator)
                journal.sent(range)
                pending.subtract(range)
            case 6:
                let range = stretch(below: sequence, &generator)
                journal.requeue(range)
                pending.formUnion(held.subtracting(settled).intersection(range))
            case 7:
                var ranges = NumberRanges()
                for _ in 0..<3 { ranges.insert(stretch(below: sequence, &generator)) }
                _ = journal.settle(ranges)
                settled.formUnion(held.filter(ranges.contains))
                pending.subtract(settled)
            case 8:
                let limit = Fixture.at(sequence - min(sequence, 100))
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
                    let numbers = try Fixture.sequences(report)
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
            held = held.filter(journal.held.contains)
            settled.formIntersection(held)
            pending.formIntersection(held)
            #expect(journal.unsettledCount == UInt64(held.subtracting(settled).count))
            #expect(journal.lowestHeld == held.subtracting(settled).min())
            #expect(Set(journal.pending.ranges.flatMap { Array($0) }) == pending)
            #expect(journal.brokenInvariants == [])
        }
    }

    /// A long run in which whatever can happen to a journal does, in any order; half of the seeds
    /// begin with blocks that an earlier process left on disk.
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func theFieldsAgreeAfterEachStep(seed: UInt64) throws {
        var world = JournalWorld(seed: seed, isRestored: seed % 2 == 0)
        #expect(world.journal.brokenInvariants == [])
        for step in 0..<4_000 {
            let happened = world.step()
            let broken = world.journal.brokenInvariants
            try #require(broken == [], "step \(step), \(happened)")
        }
        let isLong = world.sequence > 20_000
        #expect(isLong)
    }

    @Test func theWholeBacklogLeavesOnceNewestFirst() throws {
        var generator = SeededGenerator(seed: 3)
        var journal = RunJournal(run: Fixture.run)
        for sequence in 1...5_000 as ClosedRange<UInt64> {
            journal.append(Fixture.entry(sequence, &generator), now: Fixture.at(sequence))
        }
        var seen: [UInt64] = []
        while case .report(let report)? = journal.takeNewest() {
            let bytes = report.bytes(
                birth: BirthReference(run: Fixture.run, number: 1), lowestHeld: 1)
            #expect(bytes.count <= Limits.messageBytesMax)
            seen = try Fixture.sequences(report) + seen
        }
        let isInOrder = seen == Array(1...5_000)
        #expect(isInOrder)
    }

    private func stretch(below end: UInt64, _ generator: inout SeededGenerator) -> Range<UInt64> {
        let low = UInt64.random(in: 1...end + 1, using: &generator)
        return low..<low + UInt64.random(in: 0...300, using: &generator)
    }
}

extension RunJournal {
    /// What is not as the comments at the fields of `RunJournal` and `JournalBlocks` say.
    var brokenInvariants: [String] {
        var broken: [String] = []
        var numbers = NumberRanges()
        var end: UInt64 = 0
        for range in held.ranges {
            if range.isEmpty || range.lowerBound < end { broken.append("blocks at \(range)") }
            if settled.missing(in: range).isEmpty { broken.append("\(range) settled as a whole") }
            end = range.upperBound
            numbers.insert(range)
        }
        if numbers.count != held.count { broken.append("held \(held.count)") }
        for range in settled.ranges where !numbers.missing(in: range).isEmpty {
            broken.append("settled, lost: \(range)")
        }
        for range in pending.ranges {
            if !numbers.missing(in: range).isEmpty { broken.append("pending, lost: \(range)") }
            if settled.missing(in: range) != [range] { broken.append("both: \(range)") }
        }
        for block in held.closed where block.bytes == nil && block.place == nil {
            broken.append("nowhere: \(block.range)")
        }
        let hasOpen = held.ranges.count > held.closed.count
        let byteCount = held.closed.reduce(hasOpen ? Limits.journalBlockOverheadBytes : 0) {
            $0 + $1.memoryByteCount
        }
        if memoryByteCount != byteCount { broken.append("memory \(memoryByteCount)") }
        return broken
    }
}

/// A run's journal, the disk beneath it, and what was asked of that.
private struct JournalWorld {
    private typealias Fixture = JournalFixture

    var journal: RunJournal
    /// The number of the last reading.
    var sequence: UInt64 = 0
    private var generator: SeededGenerator
    private var disk: [SpoolPlace: [UInt8]] = [:]
    private var fetches: [(place: SpoolPlace, range: Range<UInt64>)] = []

    init(seed: UInt64, isRestored: Bool) {
        generator = SeededGenerator(seed: seed)
        journal = RunJournal(run: Fixture.run)
        guard isRestored else { return }
        var found: [(range: Range<UInt64>, place: SpoolPlace)] = []
        for _ in 0..<20 {
            // Some overlap the one before, some leave a hole.
            let low = max(2, sequence + random(0...6)) - 1
            let range = low..<low + random(1...300)
            found.append((range, write(Fixture.block(range, &generator))))
            sequence = max(sequence, range.upperBound - 1)
        }
        journal = RunJournal(run: Fixture.run, blocks: found, now: .zero)
    }

    /// Does something. Returns what.
    mutating func step() -> String {
        switch random(0...19) {
        case 0...6: append()
        case 7: journal.sent(stretch())
        case 8: journal.requeue(stretch())
        case 9: journal.requeueAll()
        case 10, 11: settle()
        case 12: spool()
        case 13: journal.forgetCopies(downTo: Int(random(0...20_000)))
        case 14: drop()
        case 15, 16: finishFetch()
        default: return takeNewest()
        }
        return "\(journal.held.closed.count) blocks"
    }

    private mutating func append() {
        for _ in 0..<random(1...60) {
            sequence += 1
            journal.append(Fixture.entry(sequence, &generator), now: Fixture.at(sequence))
        }
    }

    private mutating func settle() {
        var ranges = NumberRanges()
        for _ in 0..<3 { ranges.insert(stretch()) }
        // Now and then a receipt settles all up to some number, as collectors' do.
        if random(0...9) == 0 { ranges.insert(0..<random(1...sequence + 1)) }
        let before = Set(journal.held.closed.filter { $0.place != nil }.map(\.range))
        let hasLeftDisk = journal.settle(ranges)
        #expect(hasLeftDisk == !before.isSubset(of: journal.held.closed.map(\.range)))
    }

    /// Some of what is brought to disk arrives there, perhaps after it was given up.
    private mutating func spool() {
        let limit = Fixture.at(sequence - min(sequence, random(0...2_000)))
        let blocks = journal.unspooled(takenBy: limit, bytesMax: 20_000)
        if random(0...3) == 0 { _ = journal.dropOldest() }
        for block in blocks where random(0...3) > 0 {
            let isThere = journal.held.closed.contains { $0.range == block.range }
            let isHeld = journal.spooled(block.range, at: write(block.bytes))
            #expect(isHeld == isThere)
        }
    }

    private mutating func drop() {
        let ranges = journal.held.closed.map(\.range)
        switch random(0...3) {
        case 0: _ = journal.dropOldest()
        case 1: _ = journal.drop(stretch())
        default:
            if let range = ranges.randomElement(using: &generator) { _ = journal.drop(range) }
        }
    }

    private mutating func takeNewest() -> String {
        switch journal.takeNewest() {
        case nil: return "nothing to send"
        case .report(let report): return "report up to \(report.lastSequence)"
        case .fetch(let place, let range):
            fetches.append((place, range))
            return "fetch \(range)"
        }
    }

    /// One in eight is damaged.
    private mutating func finishFetch() {
        guard let (place, range) = fetches.popLast(), var bytes = disk[place] else { return }
        if random(0...7) == 0 { bytes.removeLast() }
        if !journal.fetched(bytes, of: range) { _ = journal.drop(range) }
    }

    private mutating func write(_ bytes: [UInt8]) -> SpoolPlace {
        let place = SpoolPlace(segment: 1, offset: disk.count, byteCount: bytes.count)
        disk[place] = bytes
        return place
    }

    private mutating func stretch() -> Range<UInt64> {
        let low = random(1...sequence + 1)
        return low..<low + random(0...300)
    }

    private mutating func random(_ range: ClosedRange<UInt64>) -> UInt64 {
        UInt64.random(in: range, using: &generator)
    }
}

import NearbyCore
import Testing

@testable import Telemetry

@Suite struct JournalTests {
    private typealias Fixture = JournalFixture

    private let run = JournalFixture.run

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
        guard case .fetch(_, let range)? = journal.takeNewest()?.resend else {
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
        #expect(journal.append(Fixture.entry(1, &generator), now: .zero) == 1)
        let gap = Gap(run: run, range: 1..<2, reason: .memoryFull)
        #expect(journal.lowestHeld(of: run) == 1)
        #expect(journal.takeGaps(9, now: Fixture.at(0)) == [gap])
        #expect(journal.announceGapsAgain(now: Fixture.at(9_999)) == [])
        #expect(journal.announceGapsAgain(now: Fixture.at(10_000)) == [run])
        #expect(journal.takeGaps(9, now: Fixture.at(10_000)) == [gap])
        var numbers = NumberRanges()
        numbers.insert(1..<2)
        let receipt = try #require(Receipt(run: run, settled: numbers))
        _ = journal.settle(receipt)
        #expect(journal.lowestHeld(of: run) == nil)
        #expect(journal.announceGapsAgain(now: Fixture.at(90_000)) == [])
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
            _ = journal.append(Fixture.entry(second, &generator), now: Fixture.at(second * 1_000))
        }
        #expect(journal.spoolDeadline == Fixture.at(31_000))
        let blocks = journal.takeUnspooled(now: Fixture.at(31_000))
        #expect(blocks.map(\.range) == [1..<41])
    }

    @Test func withoutASpoolNothingIsDue() {
        var generator = SeededGenerator(seed: 4)
        var journal = Journal(run: run)
        _ = journal.append(Fixture.entry(1, &generator), now: .zero)
        #expect(journal.spoolDeadline == nil)
        #expect(journal.takeAllUnspooled().isEmpty)
    }
}

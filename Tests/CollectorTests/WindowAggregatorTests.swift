import NearbyCore
import SlowStatistics
import Telemetry
import Testing

@testable import Collector

@Suite struct WindowAggregatorTests {
    @Test func windowsAgreeWithASlowOracle() throws {
        for seed in 0..<20 as Range<UInt64> { try compareWithOracle(seed: seed) }
    }

    /// Random readings, in random order within a second, against sums over plain lists.
    private func compareWithOracle(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let birth = try Fixture.birth(channels: [
            ("a", .none, -2), ("b", .none, -1), ("c", .none, 0),
        ])
        var aggregator = WindowAggregator()
        var windows: [Window] = []
        var all: [Reading] = []
        var sequence: UInt64 = 0
        for second in 20..<60 as Range<Int64> {
            var readings: [Reading] = []
            for _ in 0..<Int.random(in: 0..<40, using: &generator) {
                sequence += 1
                let isNull = UInt8.random(in: 0..<10, using: &generator) == 0
                let value = DecimalValue(
                    coefficient: Int64.random(in: -5_000...5_000, using: &generator), exponent: -2)
                readings.append(
                    Reading(
                        sequence: sequence, channel: UInt16.random(in: 1...3, using: &generator),
                        time: Fixture.at(
                            second * 1_000 - Int64.random(in: 0..<1_000, using: &generator)),
                        outcome: isNull ? .null(.timeout) : .value(value)))
            }
            all += readings
            let delivery = Delivery(
                peer: Fixture.peer(1), birth: birth, readings: readings,
                arrival: Fixture.at(second * 1_000))
            windows += closed(aggregator.handle(.delivery(delivery), now: delivery.arrival))
        }
        windows += closed(aggregator.handle(.finish, now: Fixture.at(60_000)))
        var total = 0
        for window in windows {
            for row in window.rows {
                let end = window.start + window.width
                let inside = all.filter {
                    $0.channel == row.channel.number && $0.time >= window.start && $0.time < end
                }
                check(row, against: inside)
                total += inside.count
            }
        }
        #expect(total == all.count)
    }

    private func check(_ row: Window.Row, against readings: [Reading]) {
        #expect(SlowStatistics(readings).differences(from: row.statistics) == [])
        #expect(row.rate == Double(row.statistics.count) / 10)
        #expect(row.statistics.areQuantilesExact)
    }

    @Test func aWindowClosesItsLatenessAfterItsEnd() throws {
        var aggregator = WindowAggregator()
        #expect(aggregator.nextDeadline == nil)
        _ = aggregator.handle(
            .delivery(try delivery([(1, 12_000, 5)], at: 12_000)), now: Fixture.at(12_000))
        #expect(aggregator.nextDeadline == Fixture.at(21_000))
        #expect(aggregator.handle(.deadlineReached, now: Fixture.at(20_999)).isEmpty)
        let windows = closed(aggregator.handle(.deadlineReached, now: Fixture.at(21_000)))
        #expect(windows.map(\.start) == [Fixture.at(10_000)])
        #expect(windows.first?.rows.first?.age == .seconds(9))
        #expect(aggregator.handle(.deadlineReached, now: Fixture.at(21_000)).isEmpty)
    }

    @Test func lateReadingsAreCountedAndShowAsLastOnlyIfNewest() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        _ = aggregator.handle(.deadlineReached, now: Fixture.at(21_000))
        let late = try delivery([(2, 19_000, 7), (3, 11_000, 9)], at: 22_000)
        let outputs = aggregator.handle(.delivery(late), now: Fixture.at(22_000))
        #expect(outputs == [.drop(.readingOutsideWindows, count: 2)])
        let row = try #require(
            closed(aggregator.handle(.deadlineReached, now: Fixture.at(31_000))).first?.rows.first)
        #expect(row.lateCount == 2)
        #expect(row.statistics.count == 0)
        #expect(row.last == .value(DecimalValue(coefficient: 7, exponent: -2)))
        #expect(row.age == .seconds(12))
    }

    @Test func aWindowsLastIsItsOwnThoughANewerReadingIsThereAlready() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5), (2, 19_500, 6)], at: 19_600))
        feed(&aggregator, try delivery([(3, 20_500, 7)], at: 20_600))
        let windows = closed(aggregator.handle(.deadlineReached, now: Fixture.at(31_000)))
        let rows = windows.flatMap(\.rows)
        #expect(
            rows.map(\.last) == [6, 7].map { .value(DecimalValue(coefficient: $0, exponent: -2)) })
    }

    @Test func aChannelThatBeginsAfterAWindowIsNotInIt() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 20_500, 7)], at: 20_600))
        #expect(closed(aggregator.handle(.deadlineReached, now: Fixture.at(21_000))).isEmpty)
        let windows = closed(aggregator.handle(.deadlineReached, now: Fixture.at(31_000)))
        #expect(windows.map(\.start) == [Fixture.at(20_000)])
    }

    @Test func lossIsCountedInTheWindowInWhichItShows() throws {
        var aggregator = WindowAggregator()
        var first = try delivery([(1, 12_000, 5)], at: 12_000)
        first.missing = 3
        feed(&aggregator, first)
        var lost = closed(aggregator.handle(.deadlineReached, now: Fixture.at(21_000)))
        var second = try delivery([(9, 22_000, 5)], at: 22_000)
        second.missing = 5
        feed(&aggregator, second)
        lost += closed(aggregator.handle(.deadlineReached, now: Fixture.at(31_000)))
        #expect(lost.flatMap(\.rows).map(\.lostCount) == [3, 2])
    }

    @Test func silentChannelsStayInSightAndAreForgottenInTheEnd() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        var windows: [Window] = []
        while let deadline = aggregator.nextDeadline {
            windows += closed(aggregator.handle(.deadlineReached, now: deadline))
        }
        #expect(windows.count == 61)
        #expect(windows.last?.rows.first?.age == .seconds(609))
    }

    @Test func theRunBeforeARestartIsNotShownBesideTheNewOne() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        feed(&aggregator, try delivery([(1, 13_000, 6)], at: 13_000, run: 0x200))
        let both = closed(aggregator.handle(.deadlineReached, now: Fixture.at(21_000)))
        #expect(both.first?.rows.count == 2)
        let after = closed(aggregator.handle(.deadlineReached, now: Fixture.at(31_000)))
        #expect(after.first?.rows.map(\.run) == [RunID(value: 0x200)])
    }

    /// The new run's first readings are here before the last of the old one's.
    @Test(arguments: [false, true])
    func aRunThatHasEndedIsNotThePresentOneThoughItsReadingsComeLater(namesIt: Bool) throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        var new = try delivery([(1, 14_000, 6)], at: 14_000, run: 0x200)
        if namesIt {
            new.birth.previous = PreviousRun(run: RunID(value: 0x100), lastSequence: 1)
        }
        feed(&aggregator, new)
        // With a name, it does not even matter what their clocks say.
        feed(&aggregator, try delivery([(2, namesIt ? 14_500 : 12_500, 7)], at: 15_000))
        _ = aggregator.handle(.deadlineReached, now: Fixture.at(21_000))
        for second in [31, 41, 51] as [Int64] {
            let windows = closed(
                aggregator.handle(.deadlineReached, now: Fixture.at(second * 1_000)))
            #expect(windows.flatMap(\.rows).map(\.run) == [RunID(value: 0x200)])
        }
    }

    @Test func aRunThatWasForgottenLeavesItsAgentToTheNext() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        while let deadline = aggregator.nextDeadline {
            _ = aggregator.handle(.deadlineReached, now: deadline)
        }
        #expect(aggregator.runCount == 0)
        feed(&aggregator, try delivery([(1, 902_000, 6)], at: 902_000, run: 0x200))
        #expect(
            aggregator.current(now: Fixture.at(903_000)).rows.map(\.run) == [RunID(value: 0x200)])
    }

    @Test func atTheEndWhatIsOverIsClosedWhatIsOpenSaysSoAndNothingEmptyIsShown() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5), (2, 19_500, 6)], at: 19_600))
        feed(&aggregator, try delivery([(3, 20_200, 7)], at: 20_300))
        // The first is over, but late readings are waited for.
        var windows = closed(aggregator.handle(.finish, now: Fixture.at(20_500)))
        #expect(windows.map(\.start) == [Fixture.at(10_000), Fixture.at(20_000)])
        #expect(windows.map(\.isClosed) == [true, false])
        aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        #expect(closed(aggregator.handle(.deadlineReached, now: Fixture.at(21_000))).count == 1)
        windows = closed(aggregator.handle(.finish, now: Fixture.at(21_000)))
        #expect(windows.isEmpty)
    }

    @Test func aLongPauseDoesNotCloseWindowsByTheThousand() throws {
        var aggregator = WindowAggregator()
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        let windows = closed(aggregator.handle(.deadlineReached, now: Fixture.at(86_400_000_000)))
        #expect(windows.count <= Int(Limits.openWindowsMax))
        #expect(windows.first?.rows.first?.statistics.count == 1)
        _ = aggregator.handle(.deadlineReached, now: .distantFuture)
    }

    @Test func thePhaseAlignsWindowsWithUTC() throws {
        var settings = WindowAggregator.Settings()
        settings.phase = .milliseconds(1_795_000_003_412)
        var aggregator = WindowAggregator(settings: settings)
        feed(&aggregator, try delivery([(1, 12_000, 5)], at: 12_000))
        let window = aggregator.current(now: Fixture.at(12_000))
        #expect((window.start + settings.phase).nanoseconds % 10_000_000_000 == 0)
        #expect(window.rows.first?.statistics.count == 1)
        #expect(!window.isClosed)
    }

    @Test func anOverfullWindowKeepsASampleForItsQuantiles() throws {
        var aggregator = WindowAggregator(seed: 3)
        for block in 0..<100 as Range<Int64> {
            let values = (0..<100 as Range<Int64>).map { index in
                (UInt64(block * 100 + index), 12_000 + block, block * 100 + index)
            }
            feed(&aggregator, try delivery(values, at: 12_000 + block))
        }
        let row = try #require(aggregator.current(now: Fixture.at(13_000)).rows.first)
        #expect(row.statistics.count == 10_000)
        #expect(!row.statistics.areQuantilesExact)
        #expect(abs((row.statistics.p50 ?? 0) - 50) < 5)
        #expect(row.statistics.max == DecimalValue(coefficient: 9_999, exponent: -2))
    }

    @Test func runsBeyondTheLimitOfSeriesAreCountedAndNotKept() throws {
        var aggregator = WindowAggregator()
        let channels = (0..<Limits.channelsPerRunMax).map { ("c\($0)", Unit.none, Int8(0)) }
        let readings = (1...UInt64(channels.count)).map {
            Fixture.reading($0, channel: UInt16($0), at: 12_000, 1)
        }
        let full = UInt64(Limits.windowSeriesMax / channels.count)
        var dropped = 0
        for run in 1...(full + 3) {
            let delivery = Delivery(
                peer: Fixture.peer(run), birth: try Fixture.birth(run: run, channels: channels),
                readings: readings, arrival: Fixture.at(12_000))
            for case .drop(.readingTableFull, let count) in aggregator.handle(
                .delivery(delivery), now: delivery.arrival)
            { dropped += count }
        }
        #expect(dropped == 3 * channels.count)
        #expect(aggregator.runCount == Int(full))
    }

    @Test func anAgentBeyondItsShareOfSeriesHindersNobodyAndIsToldOnce() throws {
        var settings = WindowAggregator.Settings()
        settings.seriesPerPeerMax = 3
        var aggregator = WindowAggregator(settings: settings)
        let channels = (0..<5).map { ("c\($0)", Unit.none, Int8(0)) }
        var outputs: [WindowAggregator.Output] = []
        for (peer, run) in [(1, 0x100), (1, 0x200), (2, 0x300)] as [(UInt64, UInt64)] {
            let readings = (1...(peer == 1 ? 5 : 3)).map {
                Fixture.reading(UInt64($0), channel: UInt16($0), at: 12_000, 1)
            }
            let delivery = Delivery(
                peer: Fixture.peer(peer), birth: try Fixture.birth(run: run, channels: channels),
                readings: readings, arrival: Fixture.at(12_000))
            outputs += aggregator.handle(.delivery(delivery), now: delivery.arrival)
        }
        let node = try NodeDescription(name: "north")
        #expect(
            outputs == [
                .shareFull(Fixture.peer(1), node), .drop(.seriesQuota, count: 2),
                .drop(.seriesQuota, count: 5),
            ])
        let rows = aggregator.current(now: Fixture.at(13_000)).rows
        #expect(rows.map(\.peer) == [1, 1, 1, 2, 2, 2].map { Fixture.peer($0) })
    }

    @Test func absurdTimesNeitherTrapNorOpenWindows() throws {
        var aggregator = WindowAggregator()
        let most = Report.Entry.millisecondsMax
        feed(&aggregator, try delivery([(1, 12_000, 1), (2, most, 2), (3, 0, 3)], at: 12_000))
        for offset in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
            var absurd = try delivery([(4, 12_000, 1), (5, most, 2)], at: 12_000)
            absurd.offset = offset
            feed(&aggregator, absurd)
        }
        #expect(aggregator.current(now: Fixture.at(12_000)).rows.first?.statistics.count == 1)
    }

    // MARK: Parts

    private func delivery(
        _ values: [(sequence: UInt64, time: Int64, coefficient: Int64)], at arrival: Int64,
        run: UInt64 = 0x100
    ) throws -> Delivery {
        Delivery(
            peer: Fixture.peer(1),
            birth: try Fixture.birth(run: run, channels: [("a", .celsius, -2)]),
            readings: values.map { Fixture.reading($0.sequence, at: $0.time, $0.coefficient) },
            arrival: Fixture.at(arrival))
    }

    private func feed(_ aggregator: inout WindowAggregator, _ delivery: Delivery) {
        _ = aggregator.handle(.delivery(delivery), now: delivery.arrival)
    }

    private func closed(_ outputs: [WindowAggregator.Output]) -> [Window] {
        outputs.compactMap { output in
            if case .window(let window) = output { return window }
            return nil
        }
    }
}

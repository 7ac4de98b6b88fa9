import NearbyCore
import Testing
import VectorFile

@testable import Telemetry

@Suite struct TelemeterTests {
    let collector = PeerID(high: 2, low: 0)
    private let viewer = PeerID(high: 1, low: 0)
    private let other = PeerID(high: 3, low: 0)

    @Test func theBirthIsSentBeforeTheReportThatNeedsIt() throws {
        var telemeter = try telemeter(wait: .zero)
        let first = telemeter.handle(.collectorUp(collector), now: .zero)
        #expect(try births(first).map(\.channels.count) == [0])
        let second = telemeter.handle(.sample(try sample("t", "21.5", at: 5)), now: at(5))
        #expect(second.count == 2)
        let birth = try #require(try births(second).first)
        let report = try #require(try reports(second).first)
        #expect(birth.reference == report.birth)
        #expect(
            report.readings(using: birth).readings.map { $0.outcome.value?.description } == [
                "21.50"
            ])
    }

    @Test func channelsThatAppearTogetherCostOneBirth() throws {
        var telemeter = try telemeter(wait: .milliseconds(250))
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        for index in 0..<20 {
            let outputs = telemeter.handle(.sample(try sample("c\(index)", "1", at: 5)), now: at(5))
            #expect(outputs.isEmpty)
        }
        let outputs = telemeter.handle(.deadlineReached, now: at(255))
        #expect(try births(outputs).map(\.channels.count) == [20])
        #expect(try reports(outputs).map(\.entries.count) == [20])
    }

    @Test func theBirthNumberStartsWithOneAndRisesWithTheChannels() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        #expect(telemeter.birth.number == 1)
        _ = telemeter.handle(.sample(try sample("a", "1", at: 0)), now: .zero)
        #expect(telemeter.birth.number == 2)
        _ = telemeter.handle(.sample(try sample("a", "2", at: 0)), now: .zero)
        #expect(telemeter.birth.number == 2)
    }

    @Test func oneCounterNumbersTheReadingsOfAllChannels() throws {
        var telemeter = try telemeter(wait: .milliseconds(250))
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        for name in ["a", "b", "a", "c"] {
            _ = telemeter.handle(.sample(try sample(name, "1", at: 5)), now: at(5))
        }
        let report = try #require(try reports(telemeter.handle(.flush, now: at(6))).first)
        #expect(report.entries.map(\.sequence) == [1, 2, 3, 4])
        #expect(report.entries.map(\.channel) == [1, 2, 1, 3])
    }

    /// A sensor that is absent at the start: nothing of it is known yet but its name and unit.
    @Test func aChannelThatBeginsWithANullTakesTheScaleOfItsFirstValue() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        let unknown = try #require(ChannelDescription(name: "t", unit: .celsius))
        let known = try #require(ChannelDescription(name: "t", unit: .celsius, scale: -3))
        let null = Sample(channel: unknown, outcome: .null(.absent), time: .zero)
        let first = telemeter.handle(.sample(null), now: .zero)
        #expect(try births(first).map { $0.channels.map(\.scale) } == [[0]])
        let value = try DecimalValue(parsing: "85.000")
        let sample = Sample(channel: known, outcome: .value(value), time: at(5))
        let second = telemeter.handle(.sample(sample), now: at(5))
        let birth = try #require(try births(second).first)
        #expect(birth.number == 3)
        #expect(birth.channels.map(\.scale) == [-3])
        #expect(birth.channels.map(\.number) == [1])
        let report = try #require(try reports(second).first)
        #expect(report.birth == birth.reference)
        #expect(report.entries.map(\.cell) == [.scaled(85_000)])
        // The report of before reads with it too.
        let before = try #require(try reports(first).first)
        #expect(before.readings(using: birth).readings.map(\.outcome) == [.null(.absent)])
        // From now on it stands, whatever comes.
        for later in [null, Sample(channel: unknown, outcome: .value(value), time: at(9))] {
            #expect(try births(telemeter.handle(.sample(later), now: at(9))).isEmpty)
        }
        #expect(telemeter.birth.channels.map(\.scale) == [-3])
    }

    /// While nobody was there, null and value wait in one report, and one birth says it all.
    @Test func aNullAndTheFirstValueShareABirth() throws {
        var telemeter = try telemeter(wait: .milliseconds(250))
        let unknown = try #require(ChannelDescription(name: "t", unit: .celsius))
        let null = Sample(channel: unknown, outcome: .null(.absent), time: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        _ = telemeter.handle(.sample(null), now: .zero)
        let known = try #require(ChannelDescription(name: "t", unit: .celsius, scale: -1))
        let value = DecimalValue(coefficient: 215, exponent: -1)
        _ = telemeter.handle(
            .sample(Sample(channel: known, outcome: .value(value), time: at(5))), now: at(5))
        let outputs = telemeter.handle(.flush, now: at(6))
        #expect(try births(outputs).map { $0.channels.map(\.scale) } == [[-1]])
        #expect(
            try reports(outputs).map { $0.entries.map(\.cell) } == [
                [.null(.absent), .scaled(215)]
            ])
    }

    @Test func channelNumbersAreNeverUsedAgain() throws {
        var telemeter = try telemeter(wait: .zero)
        let temperature = try #require(ChannelDescription(name: "t", unit: .celsius))
        let humidity = try #require(ChannelDescription(name: "h", unit: .relativeHumidity))
        _ = telemeter.handle(.declare([temperature, humidity]), now: .zero)
        _ = telemeter.handle(.declare([humidity]), now: .zero)
        _ = telemeter.handle(.declare([temperature, humidity]), now: .zero)
        #expect(telemeter.birth.channels.map(\.number) == [1, 2, 3])
        #expect(telemeter.birth.channels.map(\.isRetired) == [true, false, false])
        #expect(telemeter.birth.channels.map(\.name) == ["t", "h", "t"])
    }

    @Test func aChangedUnitMakesANewChannel() throws {
        var telemeter = try telemeter(wait: .zero)
        for unit in [Unit.celsius, Unit.pascal] {
            let description = try #require(ChannelDescription(name: "t", unit: unit))
            _ = telemeter.handle(.declare([description]), now: .zero)
        }
        #expect(telemeter.birth.channels.map(\.isRetired) == [true, false])
    }

    @Test func reportsLeaveWhenTheirOldestReadingIsOld() throws {
        var telemeter = try telemeter(wait: .milliseconds(250))
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        // Measured at 900 ms, handed over at 1,000 ms.
        let outputs = telemeter.handle(.sample(try sample("a", "1", at: 900)), now: at(1_000))
        #expect(outputs.isEmpty)
        #expect(telemeter.nextDeadline == at(1_150))
        #expect(telemeter.handle(.deadlineReached, now: at(1_149)).isEmpty)
        #expect(try reports(telemeter.handle(.deadlineReached, now: at(1_150))).count == 1)
        // Now only its receipt is waited for.
        #expect(telemeter.nextDeadline == at(1_150) + Limits.receiptTimeout)
        #expect(telemeter.handle(.deadlineReached, now: at(2_000)).isEmpty)
    }

    @Test func aReportThatNothingIsExpectedForLeaves() throws {
        var telemeter = try telemeter(wait: .milliseconds(250))
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        #expect(telemeter.handle(.nothingExpected, now: at(900)).isEmpty)
        _ = telemeter.handle(.sample(try sample("a", "1", at: 900)), now: at(1_000))
        #expect(telemeter.openReportDeadline == at(1_150))
        #expect(try reports(telemeter.handle(.nothingExpected, now: at(1_000))).count == 1)
        #expect(telemeter.openReportDeadline == nil)
    }

    @Test func reportsKeepWithinTheirSize() throws {
        var telemeter = try telemeter(wait: .seconds(10), bytes: 100)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        var generator = SeededGenerator(seed: 4)
        var reportCount = 0
        for index in 0..<500 {
            let text = DecimalValue.random(using: &generator).description
            let sample = try sample("c\(index % 7)", text, at: Int64(index))
            for output in telemeter.handle(.sample(sample), now: at(Int64(index))) {
                guard case .sendUnreliable(let bytes, _, _) = output else { continue }
                #expect(bytes.count <= 100)
                reportCount += 1
            }
        }
        #expect(reportCount > 10)
    }

    @Test func readingsWaitForACollectorAndTheNewestGoFirst() throws {
        var telemeter = try telemeter(wait: .zero)
        for index in 1...500 {
            let outputs = telemeter.handle(
                .sample(try sample("a", "\(index * 977)", at: Int64(index))), now: at(1_000))
            #expect(outputs.isEmpty)
        }
        #expect(telemeter.waitingCount == 500)
        let sent = try reports(telemeter.handle(.collectorUp(collector), now: at(1_001)))
        let sequences = sent.map { $0.entries.map(\.sequence) }
        #expect(sequences.count > 1)
        #expect(sequences.first?.last == 500)
        for (newer, older) in zip(sequences, sequences.dropFirst()) {
            #expect(older.last.map { $0 + 1 } == newer.first)
        }
        #expect(sent.allSatisfy { $0.lowestHeld == 1 })
    }

    @Test func anOpenReportSurvivesTheLossOfTheCollector() throws {
        var telemeter = try telemeter(wait: .seconds(1))
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        _ = telemeter.handle(.sample(try sample("a", "1", at: 0)), now: .zero)
        _ = telemeter.handle(.destinationDown(collector), now: .zero)
        #expect(telemeter.nextDeadline == nil)
        let outputs = telemeter.handle(.collectorUp(other), now: at(2_000))
        #expect(try reports(outputs).flatMap(\.entries).map(\.sequence) == [1])
    }

    @Test func aViewerGetsCopiesAndSwallowsNothing() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.viewerUp(viewer), now: .zero)
        let copies = telemeter.handle(.sample(try sample("a", "1", at: 0)), now: .zero)
        #expect(try reports(copies).count == 1)
        let word = try #require(Receipt(run: telemeter.birth.run, settled: ranges(1..<2)))
        let bytes = TelemetryMessage.receipt(word).bytes
        #expect(
            telemeter.handle(.received(bytes, from: viewer), now: .zero)
                == [.drop(.telemetryUnexpected)])
        #expect(telemeter.waitingCount == 1)
        let outputs = telemeter.handle(.collectorUp(collector), now: at(1))
        #expect(try reports(outputs).flatMap(\.entries).map(\.sequence) == [1])
        #expect(telemeter.handle(.received(bytes, from: collector), now: at(2)).isEmpty)
        #expect(telemeter.waitingCount == 0)
    }

    @Test func whatNoReceiptSettlesIsSentAgain() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        for index in 1...3 {
            _ = telemeter.handle(.sample(try sample("a", "\(index)", at: 0)), now: .zero)
        }
        let word = try #require(Receipt(run: telemeter.birth.run, settled: ranges(1..<2, 3..<4)))
        _ = telemeter.handle(
            .received(TelemetryMessage.receipt(word).bytes, from: collector), now: at(1_000))
        #expect(telemeter.waitingCount == 1)
        #expect(telemeter.nextDeadline == Instant.zero + Limits.receiptTimeout)
        let again = telemeter.handle(.deadlineReached, now: Instant.zero + Limits.receiptTimeout)
        let report = try #require(try reports(again).first)
        #expect(report.entries.map(\.sequence) == [2])
        #expect(report.lowestHeld == 2)
        #expect(
            again.contains {
                if case .sendUnreliable(_, _, .bulk) = $0 { return true }
                return false
            })
        #expect(telemeter.resentCount == 1)
    }

    @Test func withoutAnyReceiptOneReportNowAndThenAsksForOne() throws {
        var telemeter = try telemeter(wait: .zero)
        for index in 1...2_000 {
            _ = telemeter.handle(.sample(try sample("a", "\(index * 991)", at: 0)), now: .zero)
        }
        var times: [Int64] = []
        var outputs = telemeter.handle(.collectorUp(collector), now: .zero)
        var now = Instant.zero
        while now < at(300_000) {
            if try !reports(outputs).isEmpty { times.append(now.nanoseconds / 1_000_000) }
            now = try #require(telemeter.nextDeadline)
            outputs = telemeter.handle(.deadlineReached, now: now)
        }
        #expect(times.filter { $0 > 10_000 }.count < 30)
        #expect(times.filter { $0 > 250_000 }.count >= 1)
        #expect(telemeter.waitingCount == 2_000)
    }

    @Test func whatDoesNotFitInMemoryIsAnnouncedAsAGap() throws {
        var journal = Journal.Settings()
        journal.memoryBytesMax = 30_000
        var telemeter = try telemeter(wait: .zero, journal: journal)
        var dropped = 0
        for index in 1...20_000 {
            let outputs = telemeter.handle(
                .sample(try sample("a", "\(index * 977 % 10_007)", at: Int64(index))),
                now: at(Int64(index)))
            for case .drop(.journalFull, let count) in outputs { dropped += count }
            #expect(telemeter.memoryByteCount <= 30_000)
        }
        #expect(dropped > 0)
        #expect(dropped + telemeter.waitingCount == 20_000)
        let outputs = telemeter.handle(.collectorUp(collector), now: at(20_001))
        var gaps: [Gap] = []
        for case .sendReliable(let bytes, _) in outputs {
            if case .gap(let gap) = try TelemetryMessage(parsing: bytes) { gaps.append(gap) }
        }
        #expect(gaps.map(\.range) == [1..<UInt64(dropped) + 1])
        #expect(gaps.map(\.reason) == [.memoryFull])
        // The floor rises over it when it is known.
        #expect(try reports(outputs).allSatisfy { $0.lowestHeld == 1 })
        var lost = NumberRanges()
        lost.insert(1..<UInt64(dropped) + 1)
        let receipt = try #require(Receipt(run: telemeter.birth.run, settled: lost))
        let bytes = TelemetryMessage.receipt(receipt).bytes
        _ = telemeter.handle(.received(bytes, from: collector), now: at(20_002))
        let later = telemeter.handle(.sample(try sample("a", "1", at: 20_003)), now: at(20_003))
        #expect(try reports(later).contains { $0.lowestHeld == UInt64(dropped) + 1 })
    }

    @Test func everyDestinationGetsBirthAndReports() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        _ = telemeter.handle(.viewerUp(viewer), now: .zero)
        let outputs = telemeter.handle(.sample(try sample("a", "1", at: 0)), now: .zero)
        let kinds = outputs.map { output -> String in
            switch output {
            case .sendReliable(_, let peer): "birth \(peer.high)"
            case .sendUnreliable(_, let peer, _): "report \(peer.high)"
            case .drop, .spool, .fetch, .forget: "other"
            }
        }
        #expect(kinds == ["birth 1", "birth 2", "report 1", "report 2"])
    }

    @Test func aBirthRequestIsAnsweredAtMostOnceASecond() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        let request = TelemetryMessage.birthRequest(telemeter.birth.reference).bytes
        #expect(
            try births(telemeter.handle(.received(request, from: collector), now: at(5))).count == 1
        )
        let second = telemeter.handle(.received(request, from: collector), now: at(6))
        #expect(second == [.drop(.birthRequestRate)])
        #expect(
            try births(telemeter.handle(.received(request, from: collector), now: at(1_005))).count
                == 1)
        let stranger = telemeter.handle(.received(request, from: viewer), now: at(9_000))
        #expect(stranger == [.drop(.telemetryUnexpected)])
    }

    @Test func strangeMessagesAreCounted() throws {
        var telemeter = try telemeter(wait: .zero)
        let inputs: [([UInt8], DropReason)] = [
            ([], .messageMalformed), ([7, 0], .telemetryUnknownType), ([3, 0], .messageMalformed),
            (vector("report"), .telemetryUnexpected),
        ]
        for (bytes, reason) in inputs {
            #expect(
                telemeter.handle(.received(bytes, from: collector), now: .zero) == [
                    .drop(reason)
                ])
        }
    }

    @Test func channelsAreBounded() throws {
        var telemeter = try telemeter(wait: .zero)
        var drops = 0
        for index in 0..<(Limits.channelsPerRunMax + 2) {
            let sample = try sample("c\(index)", "1", at: 0)
            drops += telemeter.handle(.sample(sample), now: .zero).count {
                $0 == .drop(.readingTableFull)
            }
        }
        #expect(drops == 2)
        #expect(telemeter.birth.channels.count == Limits.channelsPerRunMax)
    }

    // MARK: Sizes

    @Test func aLoneReadingTakesAtMostTwentyFourBytes() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        // After a month of uptime and ten million readings.
        let entry = Report.Entry(
            sequence: 10_000_000, channel: 40, milliseconds: 30 * 86_400_000, cell: .scaled(2153))
        let report = Report(
            birth: BirthReference(run: RunID(value: 1), number: 9), lowestHeld: 10_000_000,
            entries: [entry])
        #expect(report.bytes.count <= 24)
    }

    @Test func twentyChannelsAtTenHertzTakeAtMostSixBytesAReading() throws {
        var telemeter = try telemeter(wait: .milliseconds(250))
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        var generator = SeededGenerator(seed: 5)
        var bytesSent = 0
        var readingsSent = 0
        for tick in 0..<100 {
            let now = at(86_400_000 + Int64(tick) * 100)
            for channel in 0..<20 {
                // Five digits with noise in the last two, a millisecond between channels.
                let noise = Int64.random(in: 0..<100, using: &generator)
                let value = DecimalValue(
                    coefficient: 10_000 + Int64(channel) * 1_000 + noise, exponent: -2)
                let sample = Sample(
                    channel: try #require(ChannelDescription(name: "c\(channel)", scale: -2)),
                    outcome: .value(value), time: now + .milliseconds(channel))
                var outputs = telemeter.handle(.deadlineReached, now: now + .milliseconds(channel))
                outputs += telemeter.handle(.sample(sample), now: now + .milliseconds(channel))
                for case .sendUnreliable(let bytes, _, _) in outputs { bytesSent += bytes.count }
                readingsSent += try reports(outputs).reduce(0) { $0 + $1.entries.count }
            }
        }
        #expect(readingsSent > 1_900)
        #expect(Double(bytesSent) / Double(readingsSent) <= 6)
    }

    // MARK: Parts

    func telemeter(
        wait: Duration, bytes: Int = 400, run: UInt64 = 0x1_0000,
        journal: Journal.Settings = Journal.Settings()
    ) throws -> Telemeter {
        var settings = Telemeter.Settings(
            run: RunID(value: run), boot: BootID(high: 7, low: 8),
            node: try NodeDescription(name: "north"))
        settings.wait = wait
        settings.reportBytesMax = bytes
        settings.journal = journal
        return Telemeter(settings: settings)
    }

    private func ranges(_ ranges: Range<UInt64>...) -> NumberRanges {
        var set = NumberRanges()
        for range in ranges { set.insert(range) }
        return set
    }

    func sample(_ name: String, _ text: String, at milliseconds: Int64) throws -> Sample {
        Sample(
            channel: try #require(ChannelDescription(name: name, scale: -2)),
            outcome: .value(try DecimalValue(parsing: text)), time: at(milliseconds))
    }

    func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    func births(_ outputs: [Telemeter.Output]) throws -> [Birth] {
        var births: [Birth] = []
        for case .sendReliable(let bytes, _) in outputs {
            if case .birth(let birth) = try TelemetryMessage(parsing: bytes) {
                births.append(birth)
            }
        }
        return births
    }

    func reports(_ outputs: [Telemeter.Output]) throws -> [Report] {
        var reports: [Report] = []
        for case .sendUnreliable(let bytes, _, _) in outputs {
            if case .report(let report) = try TelemetryMessage(parsing: bytes) {
                reports.append(report)
            }
        }
        return reports
    }
}

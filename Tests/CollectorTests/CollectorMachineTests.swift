import NearbyCore
import Telemetry
import Testing

@testable import Collector

@Suite struct CollectorMachineTests {
    private let peer = Fixture.peer(7)

    @Test func readingsAreDeliveredWithTheirBirth() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        #expect(receive(birth, &machine) == [.born(peer, birth)])
        let outputs = machine.handle(
            .received(Fixture.report(birth, first: 5, count: 2, at: 900), from: peer, hops: 2),
            now: Fixture.at(1_000))
        let delivery = try #require(deliveries(outputs).first)
        #expect(outputs.count == 1)
        #expect(delivery.readings.map(\.sequence) == [5, 6])
        #expect(
            delivery.readings.first?.outcome == .value(DecimalValue(coefficient: 5, exponent: -2)))
        #expect(delivery.hops == 2)
        #expect(delivery.eventTime(of: delivery.readings[0]) == Fixture.at(1_000))
        #expect(delivery.rank == .estimate)
    }

    @Test func duplicatesAreDeliveredOnce() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        _ = receive(birth, &machine)
        let report = Fixture.report(birth, first: 1, count: 3)
        _ = machine.handle(.received(report, from: peer, hops: 1), now: .zero)
        let again = machine.handle(.received(report, from: peer, hops: 1), now: .zero)
        #expect(again == [.drop(.reportDuplicate, count: 3)])
        let overlap = Fixture.report(birth, first: 3, count: 2)
        let outputs = machine.handle(.received(overlap, from: peer, hops: 1), now: .zero)
        #expect(deliveries(outputs).flatMap(\.readings).map(\.sequence) == [4])
    }

    @Test func theSameNumbersOfAnotherRunOrPeerAreNew() throws {
        var machine = CollectorMachine()
        let first = try birth(run: 0x100)
        let second = try birth(run: 0x200)
        var count = 0
        for (birth, peer) in [(first, peer), (second, peer), (first, Fixture.peer(8))] {
            _ = receive(birth, from: peer, &machine)
            let report = Fixture.report(birth, first: 1)
            count +=
                deliveries(machine.handle(.received(report, from: peer, hops: 1), now: .zero)).count
        }
        #expect(count == 3)
        // What was under way from the first run is still told apart.
        let late = machine.handle(
            .received(Fixture.report(first, first: 1), from: peer, hops: 1), now: .zero)
        #expect(late == [.drop(.reportDuplicate)])
    }

    @Test func aReportWithoutBirthWaitsAndTheBirthIsAskedFor() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        let report = Fixture.report(birth, first: 1)
        let asked = machine.handle(.received(report, from: peer, hops: 3), now: Fixture.at(100))
        #expect(
            asked == [.send(TelemetryMessage.birthRequest(birth.reference).bytes, to: peer)])
        // Not again within a second.
        let more = Fixture.report(birth, first: 2)
        #expect(machine.handle(.received(more, from: peer, hops: 3), now: Fixture.at(200)).isEmpty)
        #expect(machine.heldReportCount == 2)
        let outputs = receive(birth, at: 300, &machine)
        #expect(deliveries(outputs).flatMap(\.readings).map(\.sequence) == [1, 2])
        #expect(deliveries(outputs).map(\.arrival) == [Fixture.at(100), Fixture.at(200)])
        #expect(machine.heldReportCount == 0)
        #expect(machine.nextDeadline == nil)
    }

    @Test func theBirthIsAskedForAgainAfterASecond() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        var requests = 0
        for tick in 0..<35 {
            let report = Fixture.report(birth, first: UInt64(tick + 1))
            let now = Fixture.at(Int64(tick) * 100)
            for case .send in machine.handle(.received(report, from: peer, hops: 1), now: now) {
                requests += 1
            }
        }
        #expect(requests == 4)
    }

    @Test func heldReportsAreBoundedAndExpire() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        var dropped = 0
        for sequence in 1...UInt64(Limits.heldReportsPerPeerMax + 5) {
            let report = Fixture.report(birth, first: sequence)
            for case .drop(.reportWithoutBirth, let count) in machine.handle(
                .received(report, from: peer, hops: 1), now: .zero)
            { dropped += count }
        }
        #expect(dropped == 5)
        #expect(machine.heldReportCount == Limits.heldReportsPerPeerMax)
        let deadline = try #require(machine.nextDeadline)
        #expect(deadline == Instant.zero + Limits.heldReportTime)
        let expired = machine.handle(.deadlineReached, now: deadline)
        #expect(expired == [.drop(.reportWithoutBirth, count: Limits.heldReportsPerPeerMax)])
        #expect(machine.nextDeadline == nil)
    }

    @Test func manyPeersWithoutBirthsStayBounded() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        let report = Fixture.report(birth, first: 1)
        for number in 0..<UInt64(Limits.collectorPeersMax + 50) {
            let now = Fixture.at(Int64(number))
            _ = machine.handle(.received(report, from: Fixture.peer(number), hops: 1), now: now)
        }
        #expect(machine.peerCount == Limits.collectorPeersMax)
        #expect(machine.heldReportCount <= Limits.heldReportsMax)
        _ = machine.handle(.deadlineReached, now: Fixture.at(60_000))
        #expect(machine.heldReportCount == 0)
    }

    @Test func aLaterBirthServesForEarlierReports() throws {
        var machine = CollectorMachine()
        let first = try birth()
        var second = first
        second.number &+= 1
        #expect(receive(second, &machine) == [.born(peer, second)])
        let outputs = machine.handle(
            .received(Fixture.report(first, first: 1), from: peer, hops: 1), now: .zero)
        #expect(deliveries(outputs).count == 1)
        // The earlier birth, late, changes nothing.
        #expect(receive(first, &machine).isEmpty)
    }

    @Test func anUnknownChannelIsCountedAndTheBirthAskedFor() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        _ = receive(birth, &machine)
        let report = Report(
            birth: birth.reference, lowestHeld: 1,
            entries: [.init(sequence: 1, channel: 99, milliseconds: 0, cell: .scaled(1))])
        let outputs = machine.handle(.received(report.bytes, from: peer, hops: 1), now: .zero)
        #expect(outputs.first == .drop(.readingUnknownChannel))
        #expect(outputs.count == 2)
    }

    @Test func theSmallestDelayMapsTheClock() throws {
        var machine = CollectorMachine()
        let birth = try birth()
        _ = receive(birth, &machine)
        // The agent's clock is 5,000 ms behind; delays are 80, 20 and 50 ms.
        var offsets: [Duration] = []
        for (sequence, delay) in [(1, 80), (2, 20), (3, 50)] as [(UInt64, Int64)] {
            let sent = Int64(sequence) * 1_000
            let report = Fixture.report(birth, first: sequence, at: sent)
            let now = Fixture.at(sent + 5_000 + delay)
            offsets += deliveries(machine.handle(.received(report, from: peer, hops: 1), now: now))
                .map(\.offset)
        }
        #expect(offsets == [.milliseconds(5_080), .milliseconds(5_020), .milliseconds(5_020)])
    }

    @Test func driftIsFollowed() {
        var clock = ClockEstimate(sent: .zero, arrived: .zero)
        // The agent's clock loses a millisecond a second.
        for second in 1...3_000 {
            clock.observe(
                sent: Fixture.at(Int64(second) * 999), arrived: Fixture.at(Int64(second) * 1_000))
        }
        #expect(clock.offset >= .milliseconds(1_800))
        #expect(clock.offset <= .milliseconds(3_000))
    }

    @Test func strangeMessagesAreCounted() {
        var machine = CollectorMachine()
        let inputs: [([UInt8], DropReason)] = [
            ([], .messageMalformed), ([1, 2], .birthMalformed), ([2, 2], .reportMalformed),
            ([3, 0, 0, 0, 0, 1], .telemetryUnexpected), ([4], .messageMalformed),
            ([99, 1], .telemetryUnknownType),
        ]
        for (bytes, reason) in inputs {
            let outputs = machine.handle(.received(bytes, from: peer, hops: 1), now: .zero)
            #expect(outputs == [.drop(reason)])
        }
    }

    /// Damaged messages in any order never trap and never exceed the tables.
    @Test func damagedMessagesNeverTrap() throws {
        var generator = SeededGenerator(seed: 9)
        var machine = CollectorMachine()
        var aggregator = WindowAggregator()
        let birth = try birth()
        let birthBytes = TelemetryMessage.birth(birth).bytes
        for round in 0..<20_000 {
            var bytes =
                Bool.random(using: &generator)
                ? Fixture.report(birth, first: UInt64(round), count: 3, at: Int64(round))
                : birthBytes
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: 1..<bytes.count, using: &generator)
                bytes[index] = UInt8.random(in: 0...255, using: &generator)
            }
            let now = Fixture.at(Int64(round) * 10)
            let outputs = machine.handle(
                .received(bytes, from: Fixture.peer(UInt64(round % 5)), hops: 1), now: now)
            for delivery in deliveries(outputs) {
                _ = aggregator.handle(.delivery(delivery), now: now)
            }
            #expect(machine.heldReportCount <= 5 * Limits.heldReportsPerPeerMax)
        }
    }

    /// From samples to deliveries, through loss, duplication and reordering: each reading that
    /// arrives is equal to the sample and comes once.
    @Test func whatTheAgentMeasuresIsWhatTheCollectorSees() throws {
        var generator = SeededGenerator(seed: 10)
        var settings = Telemeter.Settings(
            run: RunID(value: 0x77), boot: BootID(high: 1, low: 2),
            node: try NodeDescription(name: "n"))
        settings.reportBytesMax = 200
        var telemeter = Telemeter(settings: settings)
        var machine = CollectorMachine()
        var samples: [Outcome] = []
        var network: [[UInt8]] = []
        _ = telemeter.handle(.collectorUp(peer), now: .zero)
        var received: [UInt64: Outcome] = [:]
        for tick in 0..<5_000 {
            let now = Fixture.at(Int64(tick) * 10)
            let isNull = UInt8.random(in: 0..<20, using: &generator) == 0
            let value = DecimalValue(
                coefficient: Int64.random(in: -99_999...99_999, using: &generator),
                exponent: Int8.random(in: -4...1, using: &generator))
            let outcome = isNull ? Outcome.null(.checksum) : .value(value)
            samples.append(outcome)
            let name = "c\(Int.random(in: 0..<min(30, 1 + tick / 50), using: &generator))"
            guard let channel = ChannelDescription(name: name, scale: -2) else { continue }
            let sample = Sample(channel: channel, outcome: outcome, time: now)
            for output in telemeter.handle(.sample(sample), now: now) {
                switch output {
                case .sendReliable(let bytes, _): network.append(bytes)
                case .sendUnreliable(let bytes, _, _):
                    network += [[UInt8]](
                        repeating: bytes, count: Int.random(in: 0...2, using: &generator))
                case .drop, .spool, .fetch, .forget: Issue.record("\(output)")
                }
            }
            guard tick % 100 == 0 else { continue }
            for bytes in network.shuffled(using: &generator) {
                let outputs = machine.handle(.received(bytes, from: peer, hops: 1), now: now)
                for reading in deliveries(outputs).flatMap(\.readings) {
                    #expect(received.updateValue(reading.outcome, forKey: reading.sequence) == nil)
                }
            }
            network = []
        }
        for (sequence, outcome) in received { #expect(samples[Int(sequence) - 1] == outcome) }
        #expect(received.count > 2_500)
    }

    /// Whatever order the mappings come in, the latest stretch is what goes on.
    @Test func ofAStoredBootTheLatestStretchIsGoneOnWith() throws {
        let birth = try birth()
        let run = StoredRun(
            key: RunKey(peer: peer, run: birth.run), birth: birth, settled: NumberRanges())
        let utc: Int64 = 1_795_239_900
        let stretches = (0..<3 as Range<Int64>).map { number in
            ClockMapping(
                boot: birth.boot,
                clock: ClockReading(rank: .network, unixOffset: .seconds(utc + 100 + number)),
                uncertainty: .milliseconds(1), since: Instant(nanoseconds: number * 1_000_000))
        }
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            var machine = CollectorMachine(isDurable: true)
            let own = ClockReading(rank: .network, unixOffset: .seconds(utc))
            _ = machine.handle(.ownClock(own), now: Fixture.at(0))
            _ = machine.handle(
                .restored([run, run], order.map { stretches[$0] }), now: Fixture.at(0))
            // It is asked, and its clock still is what the last stretch says: 102 s before ours.
            let asked = Fixture.at(200_000)
            _ = machine.handle(.connected(peer), now: asked)
            let time = asked - .seconds(102)
            let answer = TimeAnswer(
                asked: asked, received: time, answered: time, boot: birth.boot,
                clock: ClockReading(rank: .none, unixOffset: .zero))
            let message = TelemetryMessage.timeExchange(.answer(answer))
            var outputs = machine.handle(
                .received(message.bytes, from: peer, hops: 1), now: asked + .milliseconds(1))
            #expect(outputs.isEmpty)
            outputs = machine.handle(.flush, now: asked + .milliseconds(1))
            let batches = outputs.compactMap { output in
                if case .commit(let batch) = output { return batch }
                return nil
            }
            #expect(batches.flatMap(\.clocks).filter { $0.boot == birth.boot }.isEmpty)
        }
    }

    // MARK: Parts

    private func birth(run: UInt64 = 0x100) throws -> Birth {
        try Fixture.birth(run: run, channels: [("t", .celsius, -2), ("h", .relativeHumidity, 0)])
    }

    private func receive(
        _ birth: Birth, from other: PeerID? = nil, at milliseconds: Int64 = 0,
        _ machine: inout CollectorMachine
    ) -> [CollectorMachine.Output] {
        machine.handle(
            .received(TelemetryMessage.birth(birth).bytes, from: other ?? peer, hops: 1),
            now: Fixture.at(milliseconds))
    }

    private func deliveries(_ outputs: [CollectorMachine.Output]) -> [Delivery] {
        outputs.compactMap { output in
            if case .accepted(let delivery) = output { return delivery }
            return nil
        }
    }
}

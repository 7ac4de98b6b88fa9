import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

/// One side of a link: what it sends, and when; the other side is scripted or another machine.
private struct Side {
    var machine: LivenessMachine
    var sent: [(at: Instant, bytes: [UInt8])] = []
    var events: [(at: Instant, output: LivenessMachine.Output)] = []

    init(linkClass: LinkClass = .ethernet, seed: UInt64 = 1) {
        machine = LivenessMachine(linkClass: linkClass, seed: seed, now: .zero)
    }

    /// The bytes that go out now.
    mutating func feed(_ input: LivenessMachine.Input, _ now: Instant) -> [[UInt8]] {
        var bytes: [[UInt8]] = []
        for output in machine.handle(input, now: now) {
            if case .send(let payload) = output {
                sent.append((now, payload))
                bytes.append(payload)
                _ = machine.handle(.frameSent(isData: false), now: now)
            } else {
                events.append((now, output))
            }
        }
        return bytes
    }

    mutating func runAlone(to end: Instant) {
        var now = Instant.zero
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            _ = feed(.deadlineReached, now)
            if events.contains(where: { $0.output == .lost }) { return }
        }
    }
}

struct LivenessMachineTests {
    @Test func dataIsAnsweredWithin50Milliseconds() {
        var side = Side()
        _ = side.feed(.frameReceived(isData: true), milliseconds(100))
        side.runAlone(to: milliseconds(150))
        #expect(side.sent.map(\.bytes) == [[FrameKind.empty.rawValue]])
    }

    @Test func whateverIsSentIsAnAnswer() {
        var side = Side()
        _ = side.feed(.frameReceived(isData: true), milliseconds(100))
        _ = side.feed(.frameSent(isData: true), milliseconds(110))
        _ = side.feed(.frameReceived(isData: false), milliseconds(120))
        side.runAlone(to: milliseconds(500))
        #expect(side.sent.isEmpty)
    }

    @Test func aProbeIsAnsweredAtOnce() {
        var side = Side()
        let bytes = side.feed(.received(.probe), milliseconds(5))
        #expect(bytes == [LivenessFrame.answer.bytes])
    }

    @Test func aNeighbourThatDoesNotAnswerIsProbedThreeTimesAndThenSuspect() {
        var side = Side()
        _ = side.feed(.frameSent(isData: true), milliseconds(10))
        side.runAlone(to: milliseconds(400))
        let suspected = side.events.first { $0.output == .suspected }?.at
        #expect(suspected ?? .distantFuture <= milliseconds(240))
        let before = side.sent.filter { $0.at < suspected ?? .zero }
        #expect(before.map(\.bytes) == Array(repeating: LivenessFrame.probe.bytes, count: 3))
        #expect(side.machine.cost == RoutingMessage.metricInfinite)
    }

    /// Also where data was sent just before, whose answer is still awaited.
    @Test func whereNobodyIsThereItStaysSuspect() {
        var side = Side()
        _ = side.feed(.frameSent(isData: true), milliseconds(10))
        let probe = side.feed(.unreachable, milliseconds(11))
        #expect(probe == [LivenessFrame.probe.bytes])
        side.runAlone(to: milliseconds(1_000))
        #expect(side.events.map(\.output) == [.suspected])
        #expect(side.machine.cost == RoutingMessage.metricInfinite)
        #expect(side.machine.lossPercent == 0)
    }

    @Test func aSuspectIsTrustedAgainAfterAnsweringAFewProbes() {
        var side = Side()
        _ = side.feed(.frameSent(isData: true), milliseconds(10))
        var now = Instant.zero
        var answers = 0
        while let deadline = side.machine.nextDeadline, deadline <= milliseconds(2_900) {
            now = max(now, deadline)
            let wasSuspect = side.events.contains { $0.output == .suspected }
            let bytes = side.feed(.deadlineReached, now)
            guard wasSuspect, bytes.contains(LivenessFrame.probe.bytes) else { continue }
            answers += 1
            _ = side.feed(.received(.answer), now + .milliseconds(1))
            now = now + .milliseconds(1)
            if side.machine.cost != RoutingMessage.metricInfinite { break }
        }
        #expect(answers == Limits.answersUntilTrusted)
        guard case .costChanged(let cost)? = side.events.last?.output else {
            Issue.record("no cost was told")
            return
        }
        #expect(cost == side.machine.cost)
        #expect(cost >= LinkClass.ethernet.cost)
        #expect(cost < 2 * LinkClass.ethernet.cost)
    }

    @Test func manyFramesBetweenTwoProbesProveNoMoreThanOne() {
        var side = Side()
        _ = side.feed(.frameSent(isData: true), milliseconds(10))
        side.runAlone(to: milliseconds(300))
        for _ in 0..<100 { _ = side.feed(.frameReceived(isData: false), milliseconds(300)) }
        #expect(side.machine.cost == RoutingMessage.metricInfinite)
    }

    /// A collector that is behind with its work falls behind further with each probe.
    @Test func aSuspectThatAnswersNothingIsProbedMoreAndMoreRarely() {
        var side = Side()
        _ = side.feed(.unreachable, milliseconds(10))
        side.sent = []
        side.runAlone(to: milliseconds(3_000))
        let probes = side.sent.filter { $0.bytes == LivenessFrame.probe.bytes }
        let expected: [Int64] = [160, 310, 610, 910, 1_510, 2_110, 2_710]
        #expect(probes.map(\.at) == expected.map { milliseconds($0) })
    }

    @Test func aSuspectThatAnswersAtLastIsProbedAtTheOldPace() {
        var side = Side()
        _ = side.feed(.unreachable, milliseconds(10))
        side.runAlone(to: milliseconds(1_700))
        _ = side.feed(.received(.answer), milliseconds(1_700))
        side.sent = []
        side.runAlone(to: milliseconds(1_900))
        #expect(side.sent.map(\.at) == [milliseconds(1_850)])
        #expect(side.sent.map(\.bytes) == [LivenessFrame.probe.bytes])
    }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func threeHellosThatDidNotComeAreTheEnd(seed: UInt64) {
        var side = Side(seed: seed)
        side.runAlone(to: milliseconds(10_000))
        #expect(side.events.last?.output == .lost)
        #expect(side.events.last?.at == milliseconds(3_100))
        let hellos = side.sent.filter { $0.at < milliseconds(2_150) }
        #expect(hellos.map(\.bytes) == Array(repeating: LivenessFrame.hello.bytes, count: 2))
        let probes = side.sent.filter {
            $0.at >= milliseconds(2_150) && $0.at < milliseconds(3_100)
        }
        #expect(probes.count >= 4)
        #expect(probes.allSatisfy { $0.bytes == LivenessFrame.probe.bytes })
    }

    /// Two hellos in a row are lost on a bad link now and then.
    @Test func whoAnswersAfterTwoHellosThatDidNotComeIsNoSuspect() {
        var side = Side()
        side.runAlone(to: milliseconds(2_160))
        #expect(side.sent.last?.bytes == LivenessFrame.probe.bytes)
        _ = side.feed(.received(.answer), milliseconds(2_170))
        side.runAlone(to: milliseconds(4_300))
        #expect(!side.events.contains { $0.output == .suspected || $0.output == .lost })
    }

    /// What goes out once a second needs no hello beside it.
    @Test(arguments: 0..<10 as Range<UInt64>) func reportsOfEachSecondAreHellosToo(seed: UInt64) {
        var side = Side(seed: seed)
        for second in 1...20 {
            let now = milliseconds(Int64(second) * 1_000)
            side.runAlone(to: now)
            _ = side.feed(.frameSent(isData: true), now)
            _ = side.feed(.frameReceived(isData: false), now + .milliseconds(2))
        }
        #expect(side.sent.isEmpty)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func idleNeighboursSayHelloOnceASecondAndStayAlive(seed: UInt64) {
        var sides = [Side(seed: seed), Side(seed: seed + 100)]
        talk(&sides, until: milliseconds(100_000), dataEvery: nil, seed: seed, loss: 0)
        for side in sides {
            #expect(side.sent.allSatisfy { $0.bytes == LivenessFrame.hello.bytes })
            #expect((97...100).contains(side.sent.count))
            #expect(side.events.isEmpty)
        }
    }

    @Test func aGoodLinkKeepsItsCostUnderTraffic() {
        var sides = [Side(), Side(seed: 2)]
        talk(&sides, until: milliseconds(20_000), dataEvery: .milliseconds(20), seed: 1, loss: 0)
        #expect(sides[0].machine.cost == LinkClass.ethernet.cost)
        #expect(sides[0].events.isEmpty)
        #expect(sides[0].sent.allSatisfy { $0.bytes != LivenessFrame.probe.bytes })
    }

    @Test func aLossyLinkCostsMoreAndIsNotLost() {
        var sides = [Side(linkClass: .wifi), Side(linkClass: .wifi, seed: 2)]
        talk(
            &sides, until: milliseconds(60_000), dataEvery: .milliseconds(200), seed: 1, loss: 0.2)
        #expect(sides[0].events.allSatisfy { $0.output != .lost })
        let costs = sides[0].events.compactMap { event -> UInt16? in
            if case .costChanged(let cost) = event.output { cost } else { nil }
        }
        #expect(costs.contains { $0 > LinkClass.wifi.cost })
    }

    /// Frames with data, each answered after this time.
    ///
    /// - Returns: the time of the last answer.
    private func converse(
        _ side: inout Side, times: Int, answer: Duration, from start: Instant = .zero
    ) -> Instant {
        var now = start
        for _ in 0..<times {
            _ = side.feed(.frameSent(isData: true), now)
            let end = now + answer
            while let deadline = side.machine.nextDeadline, deadline < end {
                now = max(now, deadline)
                _ = side.feed(.deadlineReached, now)
            }
            now = end
            _ = side.feed(.frameReceived(isData: false), now)
        }
        return now
    }

    /// From the last frame that it got until it is suspect.
    private func timeUntilSuspect(_ side: inout Side, from now: Instant) -> Duration? {
        side.events = []
        _ = side.feed(.frameSent(isData: true), now)
        side.runAlone(to: now + .milliseconds(1_000))
        return side.events.first { $0.output == .suspected }.map { $0.at - now }
    }

    /// It says nothing until it is suspect and for so long beyond, then answers each probe; if it
    /// is late, those before too.
    ///
    /// - Returns: when it was suspect, and when it is trusted again.
    private func fallSilent(
        _ side: inout Side, for silence: Duration, isLate: Bool, from start: Instant
    ) throws -> (time: Duration, end: Instant) {
        side.events = []
        _ = side.feed(.frameSent(isData: true), start)
        var (now, probes) = (start, 0)
        while side.events.isEmpty, let deadline = side.machine.nextDeadline {
            now = max(now, deadline)
            if side.feed(.deadlineReached, now).contains(LivenessFrame.probe.bytes) { probes += 1 }
        }
        try #require(side.events.map(\.output) == [.suspected])
        let (time, heardFrom) = (now - start, now + silence)
        while let deadline = side.machine.nextDeadline {
            now = max(now, deadline)
            guard side.feed(.deadlineReached, now).contains(LivenessFrame.probe.bytes) else {
                continue
            }
            probes += 1
            guard now >= heardFrom else { continue }
            now = now + .milliseconds(1)
            for _ in 0..<(isLate ? probes : 1) { _ = side.feed(.received(.answer), now) }
            probes = 0
            if side.machine.cost != RoutingMessage.metricInfinite { break }
        }
        return (time, now)
    }

    /// Who is behind with its work would fall behind further with everybody's probes.
    @Test func whoAnswersLateIsGivenTwiceTheTimeForHalfAMinute() throws {
        var side = Side()
        var now = converse(&side, times: 20, answer: .milliseconds(26))
        for expected in [95, 452, 904, 1_356, 1_356] as [Int64] {
            let silence = try fallSilent(
                &side, for: .milliseconds(100), isLate: true, from: now)
            #expect(silence.time == .milliseconds(expected))
            // Without loss it has three probes again.
            now = converse(&side, times: 80, answer: .milliseconds(26), from: silence.end)
        }
        for _ in 0..<2 {
            now = now + .seconds(40)
            _ = side.feed(.frameReceived(isData: false), now)
            now = converse(&side, times: 20, answer: .milliseconds(26), from: now)
        }
        #expect(timeUntilSuspect(&side, from: now) == .milliseconds(95))
    }

    /// With little between its delays, too: otherwise no other way would be taken for 3 s.
    @Test(arguments: [LinkClass.ethernet, .wifi, .bluetooth], [0, 1, 2, 3])
    func whoIsGoneIsSuspectBeforeItIsLost(_ linkClass: LinkClass, _ delayCount: Int) throws {
        var side = Side(linkClass: linkClass)
        let answer = Duration.milliseconds(linkClass == .bluetooth ? 100 : 20)
        var now = converse(&side, times: 20, answer: answer)
        for _ in 0..<delayCount {
            let silence = try fallSilent(
                &side, for: .milliseconds(100), isLate: true, from: now)
            now = converse(&side, times: 3, answer: answer, from: silence.end)
        }
        side.events = []
        _ = side.feed(.frameSent(isData: true), now)
        side.runAlone(to: now + .seconds(4))
        let suspected = try #require(side.events.first { $0.output == .suspected })
        #expect(suspected.at - now <= .milliseconds(2_000))
    }

    @Test func delaysAreForgottenOnAnIdleLinkToo() throws {
        var side = Side()
        let now = converse(&side, times: 20, answer: .milliseconds(26))
        let silence = try fallSilent(&side, for: .milliseconds(100), isLate: true, from: now)
        // Hellos alone.
        var time = silence.end
        while time < silence.end + .seconds(40) {
            time = time + .seconds(1)
            _ = side.feed(.frameReceived(isData: false), time)
        }
        let suspect = try #require(timeUntilSuspect(&side, from: time))
        #expect(suspect < .milliseconds(400))
    }

    /// What was lost on the way says nothing of how busy it is.
    @Test func whoWasReallyGoneIsMissedAsSoonEachTime() throws {
        var side = Side()
        var now = converse(&side, times: 20, answer: .milliseconds(26))
        for expected in [95, 226, 226, 226] as [Int64] {
            let silence = try fallSilent(
                &side, for: .milliseconds(100), isLate: false, from: now)
            #expect(silence.time == .milliseconds(expected))
            now = converse(&side, times: 80, answer: .milliseconds(26), from: silence.end)
        }
    }

    @Test func whoAlwaysAnswersInTimeIsMissedSoon() {
        var side = Side()
        let now = converse(&side, times: 20, answer: .milliseconds(26))
        #expect(timeUntilSuspect(&side, from: now) == .milliseconds(95))
    }

    @Test func whoWasLateOnceGetsMoreTimeForHalfAMinute() {
        var side = Side()
        var now = converse(&side, times: 20, answer: .milliseconds(26))
        now = converse(&side, times: 1, answer: .milliseconds(60), from: now)
        var patient = side
        // Two frames counted as lost, so it is one probe more, in the same time.
        #expect(timeUntilSuspect(&patient, from: now) == .milliseconds(225))
        now = converse(&side, times: 1_200, answer: .milliseconds(26), from: now)
        #expect(side.events.isEmpty)
        #expect(timeUntilSuspect(&side, from: now) == .milliseconds(95))
    }

    /// Such as by satellite: the round trip is longer than all the patience of a wire.
    @Test func whoIsAlwaysSlowIsNotSuspectForLong() {
        var side = Side()
        let now = converse(&side, times: 8, answer: .milliseconds(600))
        side.events = []
        _ = converse(&side, times: 100, answer: .milliseconds(600), from: now)
        #expect(side.events.isEmpty)
    }

    @Test func anOutageTellsNothingOfTheLink() {
        var side = Side()
        var now = converse(&side, times: 20, answer: .milliseconds(26))
        now = converse(&side, times: 1, answer: .milliseconds(2_000), from: now)
        while side.machine.cost == RoutingMessage.metricInfinite {
            now = max(now, side.machine.nextDeadline ?? now)
            _ = side.feed(.deadlineReached, now)
            _ = side.feed(.received(.answer), now)
        }
        now = converse(&side, times: 60, answer: .milliseconds(26), from: now)
        #expect(timeUntilSuspect(&side, from: now) == .milliseconds(95))
    }

    @Test func linksCostByTheirClass() {
        let costs = LinkClass.allCases.map(\.cost)
        #expect(costs == costs.sorted())
        #expect(Set(costs).count == costs.count)
    }

    /// Both sides run; the first sends data at times.
    private func talk(
        _ sides: inout [Side], until end: Instant, dataEvery: Duration?, seed: UInt64, loss: Double
    ) {
        var random = SeededGenerator(seed: seed)
        var wire: [(at: Instant, to: Int, input: LivenessMachine.Input)] = []
        var nextData = dataEvery.map { Instant.zero + $0 } ?? .distantFuture
        var now = Instant.zero
        while now < end {
            let deadlines = sides.map { $0.machine.nextDeadline ?? .distantFuture }
            let arrival = wire.min { $0.at < $1.at }?.at ?? .distantFuture
            now = max(now, min(deadlines[0], deadlines[1], arrival, nextData))
            func send(_ input: LivenessMachine.Input, to: Int) {
                if Double.random(in: 0..<1, using: &random) < loss { return }
                let delay = random.duration(in: .milliseconds(1)..<Duration.milliseconds(5))
                wire.append((now + delay, to, input))
            }
            if nextData <= now, let dataEvery {
                nextData = now + dataEvery
                _ = sides[0].feed(.frameSent(isData: true), now)
                send(.frameReceived(isData: true), to: 1)
            }
            let due = wire.filter { $0.at <= now }
            wire.removeAll { $0.at <= now }
            var inputs = due.map { ($0.to, $0.input) }
            for index in 0..<2 where deadlines[index] <= now {
                inputs.append((index, .deadlineReached))
            }
            for (index, input) in inputs {
                for bytes in sides[index].feed(input, now) {
                    let frame = try? LivenessFrame(parsing: bytes.dropFirst()[...])
                    let input = frame.map { LivenessMachine.Input.received($0) }
                    send(input ?? .frameReceived(isData: false), to: 1 - index)
                }
            }
        }
    }
}

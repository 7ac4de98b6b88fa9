import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Who is answered, how often, and how discovery info is fetched.
@Suite struct DiscoveryAnswerTests {
    typealias Base = DiscoveryMachineTests

    private func unicasts(_ outputs: [DiscoveryMachine.Output]) -> [DiscoveryFrame] {
        outputs.compactMap { if case .unicast(let frame, to: _) = $0 { frame } else { nil } }
    }

    private func isAnswered(
        _ own: DiscoveryMachine.OwnState, by flags: BeaconFlags, multicast: Bool = true
    ) -> Bool {
        var machine = Base.settled(own)
        let frame = Base.frame(.beacon(Base.beacon(flags: flags)))
        let input = DiscoveryMachine.Input.received(frame, from: Base.at(7), multicast: multicast)
        return unicasts(machine.handle(input, now: Base.late)).contains {
            if case .answer = $0.body { true } else { false }
        }
    }

    @Test func onlyThoseWhoWantOrAreWantedAreAnswered() {
        let idle = DiscoveryMachine.OwnState(dataPort: 1, role: .relay, flags: [])
        let full = DiscoveryMachine.OwnState(dataPort: 1, role: .relay, flags: .full)
        #expect(isAnswered(.wanting(), by: []))
        #expect(isAnswered(idle, by: .wantsNeighbours))
        #expect(!isAnswered(idle, by: []))
        #expect(isAnswered(full, by: .wantsNeighbours))
        #expect(!isAnswered(full, by: [.wantsNeighbours, .hasRoute]))
        #expect(isAnswered(.wanting(), by: [], multicast: false))
    }

    @Test func answersAreNotAnsweredAndOldAcquaintancesNeither() {
        var machine = Base.settled()
        let answer = Base.frame(.answer(Base.beacon()))
        let outputs = machine.handle(
            .received(answer, from: Base.at(7), multicast: false), now: Base.late)
        #expect(unicasts(outputs).isEmpty)
        var answers = 0
        for second in 1...10 {
            let beacon = Base.frame(.beacon(Base.beacon()))
            let input = DiscoveryMachine.Input.received(beacon, from: Base.at(7), multicast: true)
            answers += unicasts(machine.handle(input, now: Base.late + .seconds(2 * second))).count
        }
        #expect(answers == 4)
    }

    /// A program that was killed and comes back: its browser finds us by a beacon only.
    @Test func whoRestartsBesideAProgramIsAnsweredThoughItIsInUse() {
        for (patience, isAnswered) in [(Duration.seconds(5), true), (nil, false)]
            as [(Duration?, Bool)]
        {
            var machine = Base.settled(lostPeerTime: patience)
            func hear(run: UInt64, _ now: Instant) -> [DiscoveryMachine.Output] {
                let frame = Base.frame(.beacon(Base.beacon()), run: run)
                let source = Base.at(7, port: UInt16(1_000 * run))
                return machine.handle(.received(frame, from: source, multicast: true), now: now)
                    + machine.handle(.inUse(Base.stranger, true), now: now)
                    + machine.handle(.deadlineReached, now: now + .seconds(1))
            }
            _ = hear(run: 1, Base.late)
            let outputs = hear(run: 2, Base.late + .seconds(5))
            #expect(unicasts(outputs).isEmpty == !isAnswered)
        }
    }

    /// People look at a list: who was killed leaves it before long.
    @Test(arguments: [(Duration.seconds(5), 44), (nil, 131)] as [(Duration?, Int64)])
    func whoIsSilentIsLost(_ patience: Duration?, _ seconds: Int64) {
        var machine = Base.settled(lostPeerTime: patience)
        let frame = Base.frame(.beacon(Base.beacon()))
        _ = machine.handle(
            .received(frame, from: Base.at(7), multicast: true), now: Base.late)
        var lostAt: Int64?
        for second in 1...140 as ClosedRange<Int64> where lostAt == nil {
            let outputs = machine.handle(
                .deadlineReached, now: Base.late + .seconds(second))
            if outputs.contains(.lost(Base.stranger)) { lostAt = second }
        }
        #expect(lostAt.map { (seconds - 1)...seconds ~= $0 } == true)
    }

    @Test func oneAddressIsAnsweredOnceASecond() {
        var machine = Base.settled()
        var answers: [DiscoveryFrame] = []
        // Another invented peer each time, so that the limit is the address's.
        for index in 0..<200 as Range<UInt64> {
            let frame = Base.frame(.beacon(Base.beacon()), peer: PeerID(high: 100, low: index))
            let now = Base.late + .milliseconds(Int64(index) * 10)
            answers += unicasts(
                machine.handle(.received(frame, from: Base.at(7), multicast: true), now: now))
        }
        #expect((1...2).contains(answers.count))
    }

    @Test func answersInAllStayUnderTenASecond() {
        var machine = Base.settled()
        var times: [Instant] = []
        var refused = 0
        for index in 0..<3_000 as Range<UInt32> {
            let peer = PeerID(high: 100, low: UInt64(index))
            let frame = Base.frame(.beacon(Base.beacon()), peer: peer)
            let now = Base.late + .milliseconds(index)
            let outputs = machine.handle(
                .received(frame, from: Base.at(1_000 + index), multicast: false), now: now)
            times += Array(repeating: now, count: unicasts(outputs).count)
            refused += outputs.count { $0 == .drop(.beaconAnswerRate) }
        }
        for (index, time) in times.enumerated() {
            #expect(times[index...].prefix { $0 - time < .seconds(1) }.count <= 10)
        }
        // Two places are for the beacons of two links, one each for a request and a nudge.
        #expect((18...30).contains(times.count))
        #expect(refused > 0)
    }

    @Test func beaconsInTwoDatagramsLeaveFewerAnswersInTheFirstSecond() {
        var machine = DiscoveryMachine(
            identity: DiscoveryMachine.Identity(
                peer: Base.own, run: RunID(value: 50), network: Base.network,
                datagramsPerBeacon: 2),
            own: .wanting(), seed: 1)
        _ = machine.handle(.linkUp(Base.link, hasBroadcast: true), now: .zero)
        var datagrams = 0
        func count(_ outputs: [DiscoveryMachine.Output]) -> Int {
            unicasts(outputs).count
                + 2 * outputs.count { if case .multicast = $0 { true } else { false } }
        }
        datagrams += count(machine.handle(.start, now: .zero))
        for index in 0..<999 as Range<UInt32> {
            let frame = Base.frame(
                .beacon(Base.beacon()), peer: PeerID(high: 100, low: UInt64(index)))
            datagrams += count(
                machine.handle(
                    .received(frame, from: Base.at(1_000 + index), multicast: false),
                    now: .zero + .milliseconds(index)))
        }
        #expect((7...10).contains(datagrams))
    }

    @Test func ownBeaconOnTheLinkCountsAsTheAnswerToOneThatCameByMulticast() {
        func answersAfterABeacon(multicast: Bool) -> Int {
            var machine = Base.settled()
            // Others are known, so that the answer waits.
            for low in 0..<1_000 as Range<UInt64> {
                _ = machine.handle(.inUse(PeerID(high: 100, low: low), true), now: Base.late)
            }
            let frame = Base.frame(.beacon(Base.beacon()))
            _ = machine.handle(
                .received(frame, from: Base.at(7), multicast: multicast), now: Base.late)
            // News make a beacon leave at once.
            var own = DiscoveryMachine.OwnState.wanting()
            own.role = .relay
            _ = machine.handle(.ownChanged(own), now: Base.late)
            return unicasts(machine.handle(.deadlineReached, now: Base.late + .seconds(20))).count
        }
        #expect(answersAfterABeacon(multicast: true) == 0)
        #expect(answersAfterABeacon(multicast: false) == 1)
    }

    @Test func answerIsNoLongerThanWhatItAnswers() {
        var machine = DiscoveryMachine(
            identity: DiscoveryMachine.Identity(
                peer: Base.own, run: RunID(value: 50), network: Base.network, proves: true),
            own: .wanting(), seed: 1)
        _ = machine.handle(.start, now: .zero)
        var frame = Base.frame(.beacon(Base.beacon()))
        let source = Base.at(7)
        let bare = machine.handle(.received(frame, from: source, multicast: true), now: .zero)
        #expect(unicasts(bare).isEmpty && bare.contains(.drop(.beaconAnswerRate)))
        frame.proof = 1
        let answers = unicasts(
            machine.handle(.received(frame, from: source, multicast: true), now: .zero))
        #expect(answers.count == 1)
        #expect(answers.allSatisfy { $0.byteCount + 8 <= frame.byteCount })
    }

    @Test func invitationCountsAsTheAnswer() {
        var machine = Base.settled()
        // Others are known, so that the answer waits.
        for low in 0..<100 as Range<UInt64> {
            let frame = Base.frame(.beacon(Base.beacon()), peer: PeerID(high: 100, low: low))
            _ = machine.handle(.received(frame, from: Base.at(9), multicast: true), now: Base.late)
            _ = machine.handle(.inUse(PeerID(high: 100, low: low), true), now: Base.late)
        }
        let frame = Base.frame(.beacon(Base.beacon()))
        _ = machine.handle(.received(frame, from: Base.at(7), multicast: false), now: Base.late)
        _ = machine.handle(.inUse(Base.stranger, true), now: Base.late)
        let outputs = machine.handle(.deadlineReached, now: Base.late + .seconds(2))
        #expect(unicasts(outputs).isEmpty)
    }

    /// A collector wants nobody: a peer that lost it by losing its interface hears of it by an
    /// answer, or by the collector's next beacon, which may be half a minute away.
    @Test func peerThatWasInUseIsAnsweredAgain() {
        var machine = Base.settled(.collecting())
        let frame = Base.frame(.beacon(Base.beacon(flags: .wantsNeighbours)))
        func answersToABeacon(at now: Instant) -> Int {
            let outputs = machine.handle(
                .received(frame, from: Base.at(7), multicast: true), now: now)
            return unicasts(outputs).count
        }
        for second in 0..<4 { #expect(answersToABeacon(at: Base.late + .seconds(second)) == 1) }
        _ = machine.handle(.inUse(Base.stranger, true), now: Base.late + .seconds(4))
        #expect(answersToABeacon(at: Base.late + .seconds(5)) == 0)
        _ = machine.handle(.inUse(Base.stranger, false), now: Base.late + .seconds(6))
        for second in 7..<11 { #expect(answersToABeacon(at: Base.late + .seconds(second)) == 1) }
        #expect(answersToABeacon(at: Base.late + .seconds(11)) == 0)
    }

    @Test func foundComesWithTheInfo() throws {
        var machine = Base.settled(.collecting())
        let info = try Base.info()
        let frame = Base.frame(.beacon(Base.beacon(flags: [], info: info)))
        let first = machine.handle(
            .received(frame, from: Base.at(7), multicast: true), now: Base.late)
        var sighting = try #require(machine.sighting(of: Base.stranger))
        #expect(sighting.info.isEmpty)
        let request = Base.frame(.infoRequest(digest: info.digest), peer: Base.own, run: 50)
        #expect(first == [.heard(sighting), .unicast(request, to: Base.at(7))])
        let reply = Base.frame(.infoReply(info))
        let second = machine.handle(
            .received(reply, from: Base.at(7), multicast: false), now: Base.late)
        sighting.info = info
        #expect(second == [.found(sighting)])
        let third = machine.handle(
            .received(reply, from: Base.at(7), multicast: false), now: Base.late)
        #expect(third == [.drop(.discoveryInfoUnsolicited)])
    }

    @Test func foundComesAfterASecondWithoutInfoAndChangedFollows() throws {
        var machine = Base.settled(.collecting())
        let info = try Base.info()
        let frame = Base.frame(.beacon(Base.beacon(flags: [], info: info)))
        _ = machine.handle(.received(frame, from: Base.at(7), multicast: true), now: Base.late)
        let early = machine.handle(.deadlineReached, now: Base.late + .milliseconds(999))
        #expect(!early.contains { if case .found = $0 { true } else { false } })
        let without = try #require(machine.sighting(of: Base.stranger))
        let due = machine.handle(.deadlineReached, now: Base.late + .milliseconds(1_010))
        #expect(due.contains(.found(without)))
        let forged = Base.frame(.infoReply(try DiscoveryInfo([("name", "other")])))
        let later = Base.late + .seconds(3)
        let refused = machine.handle(
            .received(forged, from: Base.at(7), multicast: false), now: later)
        #expect(refused.contains(.drop(.discoveryInfoDigest)))
        let reply = Base.frame(.infoReply(info))
        let outputs = machine.handle(
            .received(reply, from: Base.at(7), multicast: false), now: later)
        #expect(try outputs == [.changed(#require(machine.sighting(of: Base.stranger)))])
        #expect(machine.sighting(of: Base.stranger)?.info == info)
    }

    /// Of one that was found before it had any.
    @Test(arguments: [true, false]) func changedWaitsForTheInfo(comes: Bool) throws {
        var machine = Base.settled(.collecting())
        let info = try Base.info()
        let silent = Base.frame(.beacon(Base.beacon(flags: [])))
        _ = machine.handle(.received(silent, from: Base.at(7), multicast: true), now: Base.late)
        let start = Base.late + .seconds(5)
        let telling = Base.frame(.beacon(Base.beacon(flags: [], info: info)))
        let first = machine.handle(
            .received(telling, from: Base.at(7), multicast: true), now: start)
        #expect(!first.contains { if case .changed = $0 { true } else { false } })
        let reply = Base.frame(.infoReply(info))
        let second =
            comes
            ? machine.handle(.received(reply, from: Base.at(7), multicast: false), now: start)
            : machine.handle(.deadlineReached, now: start + .milliseconds(1_010))
        let sighting = try #require(machine.sighting(of: Base.stranger))
        #expect(second.contains(.changed(sighting)))
        #expect(sighting.info == (comes ? info : .empty))
    }

    @Test func infoIsAskedForSixTimesAtMost() throws {
        var machine = Base.settled(.collecting())
        let frame = Base.frame(.beacon(Base.beacon(flags: [], info: try Base.info())))
        var requests = unicasts(
            machine.handle(.received(frame, from: Base.at(7), multicast: true), now: Base.late)
        ).count
        while let deadline = machine.nextDeadline, deadline < Base.late + .seconds(120) {
            requests += unicasts(machine.handle(.deadlineReached, now: deadline)).count
        }
        #expect(requests == 6)
    }

    @Test func infoRequestIsAnsweredForTheOwnDigestOnceASecond() throws {
        let info = try Base.info()
        var machine = Base.settled(.wanting(info: info))
        let reply = Base.frame(.infoReply(info), peer: Base.own, run: 50)
        let request = Base.frame(.infoRequest(digest: info.digest))
        let input = DiscoveryMachine.Input.received(request, from: Base.at(7), multicast: false)
        #expect(machine.handle(input, now: Base.late) == [.unicast(reply, to: Base.at(7))])
        #expect(machine.handle(input, now: Base.late) == [.drop(.beaconAnswerRate)])
        let stale = Base.frame(.infoRequest(digest: 3))
        #expect(
            machine.handle(.received(stale, from: Base.at(8), multicast: false), now: Base.late)
                == [.drop(.discoveryInfoDigest)])
    }

    @Test func flappingFlagsAreOneChangeASecond() {
        var machine = Base.settled(.collecting())
        var changes = 0
        for step in 0..<400 {
            let flags: BeaconFlags = step % 2 == 0 ? [] : .hasRoute
            let frame = Base.frame(.beacon(Base.beacon(flags: flags)))
            let now = Base.late + .milliseconds(10 * step)
            let outputs = machine.handle(
                .received(frame, from: Base.at(7), multicast: true), now: now)
            changes += outputs.count { if case .changed = $0 { true } else { false } }
        }
        #expect((3...4).contains(changes))
    }
}

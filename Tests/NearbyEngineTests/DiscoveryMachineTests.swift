import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// One machine, fed by hand.
@Suite struct DiscoveryMachineTests {
    static let link = LinkID(value: 1)
    static let otherLink = LinkID(value: 2)
    static let network = NetworkTag(value: 0x11)
    static let own = PeerID(high: 5, low: 5)
    static let stranger = PeerID(high: 9, low: 9)

    static func machine(
        _ own: DiscoveryMachine.OwnState = .wanting(), lostPeerTime: Duration? = nil,
        proves: Bool = false
    ) -> DiscoveryMachine {
        var identity = DiscoveryMachine.Identity(
            peer: Self.own, run: RunID(value: 50), network: network)
        identity.lostPeerTime = lostPeerTime
        identity.proves = proves
        var machine = DiscoveryMachine(identity: identity, own: own, seed: 3)
        _ = machine.handle(.linkUp(link, hasBroadcast: true), now: .zero)
        _ = machine.handle(.linkUp(otherLink, hasBroadcast: true), now: .zero)
        _ = machine.handle(.start, now: .zero)
        return machine
    }

    static func at(_ host: UInt32, port: UInt16 = 4577, on link: LinkID = link) -> Endpoint {
        Endpoint(link: link, address: .ipv4(address: host, port: port))
    }

    static func frame(
        _ body: DiscoveryFrame.Body, peer: PeerID = stranger, run: UInt64 = 1,
        network: NetworkTag = network, versions: ClosedRange<UInt8> = 1...1
    ) -> DiscoveryFrame {
        DiscoveryFrame(
            versions: versions, network: network, peer: peer, run: RunID(value: run), body: body)
    }

    static func beacon(
        port: UInt16 = 4577, flags: BeaconFlags = .wantsNeighbours, info: DiscoveryInfo = .empty
    ) -> Beacon {
        Beacon(
            dataPort: port, role: .agent, flags: flags, costToCollector: nil,
            infoDigest: info.digest)
    }

    static let late = Instant.zero + .seconds(1_000)

    /// A machine past its opening, with nothing due at `late`.
    static func settled(
        _ own: DiscoveryMachine.OwnState = .wanting(), lostPeerTime: Duration? = nil,
        proves: Bool = false
    ) -> DiscoveryMachine {
        var machine = machine(own, lostPeerTime: lostPeerTime, proves: proves)
        while let deadline = machine.nextDeadline, deadline <= late {
            _ = machine.handle(.deadlineReached, now: deadline)
        }
        return machine
    }

    static func info() throws -> DiscoveryInfo { try DiscoveryInfo([("name", "bench")]) }

    /// Those that a service names are tried until they are heard.
    @Test func anAdvertisedAddressIsTriedUntilItsPeerIsHeard() {
        var machine = Self.settled()
        let peer = Self.at(7)
        func beaconsSent(until end: Instant) -> Int {
            var count = 0
            while let deadline = machine.nextDeadline, deadline <= end {
                let outputs = machine.handle(.deadlineReached, now: deadline)
                count += outputs.count {
                    if case .unicast(_, peer) = $0 { true } else { false }
                }
            }
            return count
        }
        _ = machine.handle(.advertisedPeers([peer], by: .avahi), now: Self.late)
        let unanswered = beaconsSent(until: Self.late + .seconds(10))
        #expect((4...9).contains(unanswered), "\(unanswered)")
        _ = machine.handle(
            .received(Self.frame(.answer(Self.beacon())), from: peer, multicast: false),
            now: Self.late + .seconds(10))
        #expect(beaconsSent(until: Self.late + .seconds(60)) == 0)
        #expect(beaconsSent(until: Self.late + .seconds(140)) >= 2)
        _ = machine.handle(.advertisedPeers([], by: .avahi), now: Self.late + .seconds(140))
        #expect(beaconsSent(until: Self.late + .seconds(300)) == 0)
    }

    /// What a service says costs the configured addresses nothing.
    @Test func advertisedAddressesLeaveRoomForConfiguredOnes() {
        var machine = Self.settled()
        let many = (0..<100).map { Self.at(100 + $0) }
        _ = machine.handle(.advertisedPeers(many, by: .avahi), now: Self.late)
        _ = machine.handle(.staticPeers([Self.at(7)]), now: Self.late)
        var tried: Set<Endpoint> = []
        while let deadline = machine.nextDeadline, deadline <= Self.late + .seconds(120) {
            for output in machine.handle(.deadlineReached, now: deadline) {
                if case .unicast(_, let endpoint) = output { tried.insert(endpoint) }
            }
        }
        #expect(tried.contains(Self.at(7)))
        #expect(tried.isSubset(of: Set(many.prefix(64) + [Self.at(7)])))
    }

    /// So that a second link to a neighbour is known on both sides.
    @Test func aPeerInUseIsAnsweredAtAnAddressThatIsNew() {
        var machine = Self.settled()
        _ = machine.handle(.inUse(Self.stranger, true), now: Self.late)
        var answers = 0
        var now = Self.late
        for _ in 0..<20 {
            let frame = Self.frame(.beacon(Self.beacon()))
            var outputs = machine.handle(
                .received(frame, from: Self.at(7, on: Self.otherLink), multicast: false), now: now)
            now = now + .seconds(2)
            outputs += machine.handle(.deadlineReached, now: now)
            answers += outputs.count {
                guard case .unicast(let frame, _) = $0, case .answer = frame.body else {
                    return false
                }
                return true
            }
        }
        #expect(answers == 4)
    }

    @Test func firstBeaconLeavesOnEveryLinkAtOnce() {
        let identity = DiscoveryMachine.Identity(
            peer: Self.own, run: RunID(value: 50), network: Self.network)
        var machine = DiscoveryMachine(identity: identity, own: .wanting(), seed: 3)
        #expect(machine.handle(.linkUp(Self.otherLink, hasBroadcast: true), now: .zero).isEmpty)
        #expect(machine.handle(.linkUp(Self.link, hasBroadcast: true), now: .zero).isEmpty)
        #expect(machine.nextDeadline == nil)
        let frame = Self.frame(.beacon(Self.beacon()), peer: Self.own, run: 50)
        #expect(
            machine.handle(.start, now: .zero)
                == [.multicast(frame, on: Self.link), .multicast(frame, on: Self.otherLink)])
    }

    @Test func foreignNetworkAndForeignVersionAreDroppedAndCounted() {
        var machine = Self.settled()
        let strange = Self.frame(.beacon(Self.beacon()), network: NetworkTag(value: 0x12))
        #expect(
            machine.handle(.received(strange, from: Self.at(7), multicast: true), now: Self.late)
                == [.drop(.beaconForeignNetwork)])
        let newer = Self.frame(.beacon(Self.beacon()), versions: 2...3)
        #expect(
            machine.handle(.received(newer, from: Self.at(7), multicast: true), now: Self.late)
                == [.drop(.beaconVersion)])
        #expect(machine.peerCount == 0)
    }

    @Test func ownBeaconOnTheOtherInterfaceIsAnEcho() {
        var machine = Self.settled()
        let echo = Self.frame(.beacon(Self.beacon()), peer: Self.own, run: 50)
        let source = Self.at(1, on: Self.otherLink)
        #expect(
            machine.handle(.received(echo, from: source, multicast: true), now: Self.late)
                == [.drop(.beaconEcho)])
    }

    @Test func ownPeerIDWithAnotherRunIsASuspicionAtMostEveryTenSeconds() {
        var machine = Self.settled()
        let clone = Self.frame(.beacon(Self.beacon()), peer: Self.own, run: 51)
        let input = DiscoveryMachine.Input.received(clone, from: Self.at(7), multicast: true)
        #expect(
            machine.handle(input, now: Self.late) == [
                .suspicion(RunID(value: 51), from: Self.at(7))
            ])
        #expect(machine.handle(input, now: Self.late) == [.drop(.beaconEcho)])
        let later = Self.late + .seconds(10)
        #expect(
            machine.handle(input, now: later).contains(
                .suspicion(RunID(value: 51), from: Self.at(7))))
        #expect(machine.peerCount == 0)
    }

    @Test func onePeerOnTwoInterfacesIsOnePeerWithTwoEndpoints() {
        var machine = Self.settled()
        let frame = Self.frame(.beacon(Self.beacon(port: 9)))
        let first = Self.at(7, port: 4577, on: Self.link)
        let second = Self.at(8, port: 4577, on: Self.otherLink)
        _ = machine.handle(.received(frame, from: first, multicast: true), now: Self.late)
        let outputs = machine.handle(
            .received(frame, from: second, multicast: true), now: Self.late)
        let endpoints = [
            Self.at(7, port: 9, on: Self.link), Self.at(8, port: 9, on: Self.otherLink),
        ]
        #expect(machine.peerCount == 1)
        #expect(machine.sightings.map(\.endpoints) == [endpoints])
        guard case .heard(let sighting) = outputs.first else {
            Issue.record("\(outputs)")
            return
        }
        #expect(sighting.endpoints == endpoints)
    }

    @Test func replayedBeaconAddsOnlyALastCandidate() throws {
        var machine = Self.settled()
        let frame = Self.frame(.beacon(Self.beacon(info: try Self.info())))
        let asked = machine.handle(
            .received(frame, from: Self.at(7), multicast: true), now: Self.late)
        #expect(asked.contains { if case .unicast = $0 { true } else { false } })
        let reply = Self.frame(.infoReply(try Self.info()))
        _ = machine.handle(.received(reply, from: Self.at(7), multicast: false), now: Self.late)
        _ = machine.handle(.inUse(Self.stranger, true), now: Self.late)
        for host in 100..<150 as Range<UInt32> {
            let outputs = machine.handle(
                .received(frame, from: Self.at(host), multicast: true), now: Self.late)
            #expect(!outputs.contains(.lost(Self.stranger)))
        }
        let sighting = try #require(machine.sighting(of: Self.stranger))
        #expect(sighting.endpoints.first == Self.at(7))
        #expect(sighting.endpoints.count == Limits.candidatesPerPeer)
        #expect(try sighting.info == (Self.info()))
    }

    @Test func restartedPeerChangesAndPutsItsNewEndpointFirst() throws {
        var machine = Self.settled()
        let before = Self.frame(.beacon(Self.beacon(port: 1)), run: 1)
        let after = Self.frame(.beacon(Self.beacon(port: 2)), run: 2)
        _ = machine.handle(.received(before, from: Self.at(7), multicast: true), now: Self.late)
        let later = Self.late + .seconds(2)
        let outputs = machine.handle(
            .received(after, from: Self.at(7), multicast: true), now: later)
        let sighting = try #require(machine.sighting(of: Self.stranger))
        #expect(sighting.run == RunID(value: 2))
        #expect(sighting.endpoints == [Self.at(7, port: 2), Self.at(7, port: 1)])
        #expect(outputs.contains(.heard(sighting)))
        #expect(outputs.contains(.changed(sighting)))
    }

    @Test func silentPeerIsLostUnlessInUse() {
        var machine = Self.settled()
        let frame = Self.frame(.beacon(Self.beacon()))
        let other = PeerID(high: 10, low: 10)
        let otherFrame = Self.frame(.beacon(Self.beacon()), peer: other)
        _ = machine.handle(.received(frame, from: Self.at(7), multicast: true), now: Self.late)
        _ = machine.handle(.received(otherFrame, from: Self.at(8), multicast: true), now: Self.late)
        _ = machine.handle(.inUse(other, true), now: Self.late)
        let outputs = machine.handle(.deadlineReached, now: Self.late + .seconds(131))
        #expect(outputs.contains(.lost(Self.stranger)))
        #expect(!outputs.contains(.lost(other)))
        let released = Self.late + .seconds(500)
        #expect(!machine.handle(.inUse(other, false), now: released).contains(.lost(other)))
        let end = machine.handle(.deadlineReached, now: released + .seconds(131))
        #expect(end.contains(.forgotten(other)) && end.contains(.lost(other)))
    }

    @Test func farewellLosesAPeerOfThisRunThatIsNotInUse() {
        var machine = Self.settled()
        let frame = Self.frame(.beacon(Self.beacon()))
        let goodbye = Self.beacon(flags: .leaving)
        let source = Self.at(7)
        _ = machine.handle(.received(frame, from: source, multicast: true), now: Self.late)
        let old = Self.frame(.beacon(goodbye), run: 77)
        #expect(
            machine.handle(.received(old, from: source, multicast: true), now: Self.late).isEmpty)
        _ = machine.handle(.inUse(Self.stranger, true), now: Self.late)
        let now = Self.frame(.beacon(goodbye))
        #expect(
            machine.handle(.received(now, from: source, multicast: true), now: Self.late).isEmpty)
        _ = machine.handle(.inUse(Self.stranger, false), now: Self.late)
        #expect(
            machine.handle(.received(now, from: source, multicast: true), now: Self.late)
                == [.forgotten(Self.stranger), .lost(Self.stranger)])
    }

    @Test func farewellOfAPeerInUseCountsForPeopleWhenItsChannelEnds() {
        let goodbye = Self.frame(.beacon(Self.beacon(flags: .leaving)))
        for (patience, proves, wait, isLost) in [
            (Duration.seconds(5), false, Duration.seconds(1), true),
            (.seconds(5), false, .seconds(4), false), (nil, false, .seconds(1), false),
            (nil, true, .seconds(1), true),
        ] as [(Duration?, Bool, Duration, Bool)] {
            var machine = Self.settled(lostPeerTime: patience, proves: proves)
            let frame = Self.frame(.beacon(Self.beacon()))
            _ = machine.handle(
                .received(frame, from: Self.at(7), multicast: true), now: Self.late)
            _ = machine.handle(.inUse(Self.stranger, true), now: Self.late)
            let heard = machine.handle(
                .received(goodbye, from: Self.at(7), multicast: true), now: Self.late)
            #expect(heard.isEmpty)
            let outputs = machine.handle(.inUse(Self.stranger, false), now: Self.late + wait)
            #expect(outputs.contains(.lost(Self.stranger)) == isLost)
        }
    }

    @Test func linkThatGoesTakesItsEndpointsAlong() throws {
        var machine = Self.settled()
        let frame = Self.frame(.beacon(Self.beacon()))
        let other = Self.frame(.beacon(Self.beacon()), peer: PeerID(high: 10, low: 10))
        let second = Self.at(8, on: Self.otherLink)
        _ = machine.handle(.received(frame, from: Self.at(7), multicast: true), now: Self.late)
        _ = machine.handle(.received(frame, from: second, multicast: true), now: Self.late)
        _ = machine.handle(.received(other, from: Self.at(9), multicast: true), now: Self.late)
        let outputs = machine.handle(.linkDown(Self.link), now: Self.late)
        #expect(
            outputs == [.forgotten(PeerID(high: 10, low: 10)), .lost(PeerID(high: 10, low: 10))])
        #expect(machine.sighting(of: Self.stranger)?.endpoints == [second])
    }

    @Test func nudgeOfAnUnknownPeerStandsForItsBeacon() throws {
        var machine = Self.settled()
        let nudge = Self.frame(.nudge(attempt: 4))
        let outputs = machine.handle(
            .received(nudge, from: Self.at(7), multicast: false), now: Self.late)
        let sighting = try #require(machine.sighting(of: Self.stranger))
        #expect(sighting.endpoints == [Self.at(7)])
        #expect(sighting.flags == .wantsNeighbours)
        #expect(outputs.first == .heard(sighting))
        #expect(outputs.last == .nudged(Self.stranger, RunID(value: 1), attempt: 4))
    }

    @Test func deadlineThatComesEarlyOrTwiceDoesNothing() {
        var machine = Self.settled()
        #expect(machine.handle(.deadlineReached, now: Self.late).isEmpty)
        #expect(machine.handle(.deadlineReached, now: .zero).isEmpty)
    }
}

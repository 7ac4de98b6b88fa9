import NearbyCore
import NearbyWire
import Testing

@testable import NearbyGroups

@Suite struct GroupFaultTests {
    /// Whatever is cut, left and restarted: once all can reach each other and somebody has invited
    /// whoever is outside, all are one group.
    @Test(arguments: 1...60) func inTheEndAllAreOneGroup(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 2...9, using: &random)
        let world = GroupWorld(count, seed: seed)
        var cuts: Set<[Int]> = []
        for _ in 0..<Int.random(in: 5...40, using: &random) {
            let left = Int.random(in: 0..<count, using: &random)
            let right = Int.random(in: 0..<count, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: world.invite(right, by: left)
            case 4,
                5 where left != right:
                cuts.insert([left, right].sorted())
                world.cut(left, right)
            case 6 where left != right:
                cuts.remove([left, right].sorted())
                world.heal(left, right)
            case 7: world.leave(left)
            case 8: world.restart(left)
            default: break
            }
            world.run(for: random.duration(in: .milliseconds(1)..<Duration.seconds(5)))
        }
        for pair in cuts.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            world.heal(pair[0], pair[1])
        }
        world.run(for: .seconds(60))
        for guest in 1..<count { world.invite(guest, by: 0) }
        world.run(for: .seconds(60))
        #expect(world.areAGroup(Array(0..<count)))
    }

    /// Its node went on with another run, and nobody saw it go.
    @Test func aPeerThatRestartedAtOnceIsInvitedAgain() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        world.restart(1, isNoticed: false)
        world.give(.restarted(GroupWorld.peer(1)), at: 0)
        world.give(.reachable(GroupWorld.peer(0)), at: 1)
        world.run(for: .seconds(5))
        #expect(world.areAGroup([0]))
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
    }

    /// Invited before it is known that the member is gone, or while it is asked whether it is.
    @Test(arguments: [true, false])
    func anInvitationOfAMemberThatHasRestartedIsSaidOnceThatIsKnown(_ isEarly: Bool) {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        world.restart(1, isNoticed: false)
        if isEarly { world.invite(1, by: 0) }
        world.give(.restarted(GroupWorld.peer(1)), at: 0)
        world.give(.reachable(GroupWorld.peer(0)), at: 1)
        if !isEarly { world.invite(1, by: 0) }
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
        #expect(!world.events[0].contains { if case .declined = $0 { true } else { false } })
    }

    @Test func anInvitationOfAMemberIsSaidToNobodyWhoIsThereOrLeaves() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let before = world.events[1].count
        world.invite(1, by: 0, timeout: .seconds(30))
        world.cut(0, 1)
        world.run(for: .seconds(5))
        world.heal(0, 1)
        world.run(for: .seconds(5))
        #expect(world.areAGroup([0, 1]))
        world.invite(1, by: 0, timeout: .seconds(30))
        world.leave(1)
        world.run(for: .seconds(60))
        #expect(world.areAGroup([0]) && world.areAGroup([1]))
        let invited = world.events[1].dropFirst(before).contains {
            if case .invited = $0 { true } else { false }
        }
        #expect(!invited)
        #expect(
            world.machines[0].status.isInviting(GroupWorld.peer(1), into: GroupWorld.session)
                == false)
    }

    /// Even if the other side believes in the session that it had.
    @Test func thePeersOwnWordIsNewerThanWhatWas() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        world.restart(1, isNoticed: false)
        world.give(.reachable(GroupWorld.peer(0)), at: 1)
        world.invite(0, by: 1)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
    }

    @Test func whatWasDeclinedTakesNoPlace() {
        let world = GroupWorld(2)
        world.answers = { _, _ in .some(nil) }
        for _ in 0..<20 {
            world.invite(1, by: 0, timeout: .seconds(3_600))
            world.run(for: .seconds(5))
        }
        let session = GroupWorld.session
        let declined = GroupMachine.Event.declined(GroupWorld.peer(1), session, .declined)
        #expect(world.events[0].filter { $0 == declined }.count == 20)
    }

    @Test func nobodyIsConnectedWhileOutOfReach() {
        let world = GroupWorld(2) { _ in SessionTerms(asksAboutCertificates: true) }
        world.acceptsCertificates = { index, _ in index == 0 ? nil : true }
        world.invite(1, by: 0)
        world.run(for: .seconds(5))
        world.cut(0, 1)
        world.run(for: .seconds(3))
        world.give(.decide(GroupWorld.peer(1), GroupWorld.session, isAccepted: true), at: 0)
        #expect(world.state(of: 1, at: 0) != .connected)
    }

    @Test func aMemberThatInventsMembersFillsNoTable() throws {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let pair = SessionPair(
            from: try #require(world.machines[1].status.id(of: GroupWorld.session)),
            to: try #require(world.machines[0].status.id(of: GroupWorld.session)))
        for round in 0..<100 {
            let invented = (0..<Limits.introductionsMax).map { number in
                let high = UInt64(100 + round * 1_000 + number)
                return GroupMember(
                    peer: PeerID(high: high, low: 1), session: SessionID(value: high))
            }
            let bytes = GroupMessage.members(pair, invented).bytes
            world.give(.received(bytes, from: GroupWorld.peer(1), isReliable: true), at: 0)
        }
        let members = world.machines[0].status.tableSizes.first { $0.name == "members" }
        #expect(members?.count == 1 + Limits.introducedMembersMax)
        world.run(for: .seconds(40))
        #expect(world.areAGroup([0, 1]))
        world.run(for: Limits.lostMemberTime * 2)
        #expect(world.machines[0].status.tableSizes.first { $0.name == "members" }?.count == 1)
    }

    @Test func twoThatWereApartWhenTheyWereIntroducedConnectLater() {
        let world = GroupWorld(3)
        world.cut(1, 2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        world.invite(2, by: 0)
        world.run(for: Limits.connectTime * 3)
        #expect(world.state(of: 2, at: 1) == .notConnected)
        world.heal(1, 2)
        world.run(for: .seconds(30))
        #expect(world.areAGroup([0, 1, 2]))
    }

    @Test func whoSaysConnectWithoutEndIsHeardNoMore() throws {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let pair = SessionPair(
            from: try #require(world.machines[1].status.id(of: GroupWorld.session)),
            to: try #require(world.machines[0].status.id(of: GroupWorld.session)))
        let connect = GroupConnect(
            pair: pair, number: 3, preference: .required, isAnswer: false, credentials: .none)
        let bytes = GroupMessage.connect(connect).bytes
        for _ in 0..<1_000 {
            world.give(.received(bytes, from: GroupWorld.peer(1), isReliable: true), at: 0)
        }
        #expect(world.drops[.groupConnectRate] ?? 0 > 800)
        // Aloud: neither of the two goes on as if they were connected.
        world.run(for: .seconds(1))
        #expect(world.state(of: 1, at: 0) == .notConnected)
        #expect(world.state(of: 0, at: 1) == .notConnected)
        // And again after a while.
        world.run(for: Limits.connectsTime)
        let before = world.drops[.groupConnectRate]
        world.give(.received(bytes, from: GroupWorld.peer(1), isReliable: true), at: 0)
        #expect(world.drops[.groupConnectRate] == before)
    }

    @Test func overAChannelThatOthersReadNothingConnectsThatRequiresEncryption() {
        var machine = GroupMachine(own: GroupWorld.peer(0), verifier: Verifier(), seed: 1)
        let (session, peer) = (GroupWorld.session, GroupWorld.peer(1))
        _ = machine.handle(.open(session, SessionID(value: 5), SessionTerms()), now: .zero)
        _ = machine.handle(.reachable(peer, isEncrypted: false), now: .zero)
        var outputs = machine.handle(
            .invite(peer, into: session, context: [1], timeout: .seconds(5)), now: .zero)
        #expect(outputs == [])
        let time = machine.nextDeadline ?? .zero
        #expect(time < .zero + .seconds(5))
        outputs = machine.handle(.deadlineReached, now: time)
        #expect(
            outputs == [
                .event(.declined(peer, session, .ended(.preference))),
                .event(.state(peer, session, .notConnected)),
            ])
        let outcome = machine.handle(
            .connect(peer, SessionID(value: 9), from: session), now: .zero)
        #expect(outcome.contains(.event(.declined(peer, session, .ended(.preference)))))
        #expect(!machine.status.isMember(peer, of: session))
    }

    @Test func anInvitationWaitsForAChannelThatOthersCannotRead() {
        var machine = GroupMachine(own: GroupWorld.peer(0), verifier: Verifier(), seed: 1)
        let (session, peer) = (GroupWorld.session, GroupWorld.peer(1))
        _ = machine.handle(.open(session, SessionID(value: 5), SessionTerms()), now: .zero)
        _ = machine.handle(.reachable(peer, isEncrypted: false), now: .zero)
        _ = machine.handle(
            .invite(peer, into: session, context: [1], timeout: .seconds(5)), now: .zero)
        let outputs = machine.handle(.encryptionChanged(peer, isEncrypted: true), now: .zero)
        #expect(outputs.count == 1)
        guard case .sendReliable(_, to: peer)? = outputs.first else {
            Issue.record("nobody was invited")
            return
        }
        // From now on the program that is asked has all the time that it was given.
        #expect(machine.handle(.deadlineReached, now: .zero + .seconds(4)) == [])
        #expect(machine.nextDeadline == .zero + .seconds(5))
    }

    @Test func whoseChannelOthersCanReadNowIsPartedWith() throws {
        let world = GroupWorld(2) { index in
            SessionTerms(preference: index == 0 ? .required : .optional)
        }
        world.invite(1, by: 0)
        world.run(for: .seconds(5))
        #expect(world.areAGroup([0, 1]))
        world.give(.encryptionChanged(GroupWorld.peer(1), isEncrypted: false), at: 0)
        world.run(for: .seconds(5))
        #expect(world.state(of: 1, at: 0) == .notConnected)
        #expect(world.state(of: 0, at: 1) == .notConnected)
    }

    @Test func anIdentityThatNobodyTakesOpensNoSession() {
        struct Large: SessionIdentity {
            let certificates = [[UInt8](repeating: 1, count: Limits.certificateBytesMax + 1)]
            func sign(_ bytes: [UInt8]) -> [UInt8] { [] }
        }
        var machine = GroupMachine(own: GroupWorld.peer(0), verifier: Verifier(), seed: 1)
        let outputs = machine.handle(
            .open(
                GroupWorld.session, SessionID(value: 5), SessionTerms(identity: Large())),
            now: .zero)
        #expect(outputs == [.drop(.groupTooLong)])
        #expect(machine.status.id(of: GroupWorld.session) == nil)
    }

    @Test func aPeerThatInvitesWithoutEndFillsItsShare() {
        let world = GroupWorld(2)
        world.answers = { _, _ in .none }
        world.invite(1, by: 0)
        world.run(for: .seconds(5))
        for number in 10..<1_000 {
            let invite = GroupInvite(
                number: UInt32(number), session: SessionID(value: 5), preference: .required,
                timeout: .seconds(3_600), context: [])
            let bytes = GroupMessage.invite(invite).bytes
            world.give(.received(bytes, from: GroupWorld.peer(0), isReliable: true), at: 1)
        }
        let count = world.machines[1].status.tableSizes.first { $0.name == "invitations" }?.count
        #expect(count == Limits.invitationsOfAPeerMax)
    }

    @Test func whoKnowsNoSessionGetsIntoNone() {
        let world = GroupWorld(2)
        let connect = GroupConnect(
            pair: SessionPair(from: SessionID(value: 1), to: SessionID(value: 2)), number: 3,
            preference: .required, isAnswer: false, credentials: .none)
        let bytes = GroupMessage.connect(connect).bytes
        world.give(.received(bytes, from: GroupWorld.peer(1), isReliable: true), at: 0)
        #expect(world.events[0].isEmpty)
        #expect(world.drops[.groupUnknownSession] == 1)
    }

    @Test func aMemberThatNeverEndsAMessageIsPartedWith() throws {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let number = try #require(
            world.machines[1].status.theirNumber(of: GroupWorld.peer(0), in: GroupWorld.session))
        let part = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<7 {
            let bytes = GroupMessage.part(number: number, part[...]).bytes
            world.give(.received(bytes, from: GroupWorld.peer(1), isReliable: true), at: 0)
            #expect(world.state(of: 1, at: 0) == .connected)
        }
        let bytes = GroupMessage.part(number: number, [1]).bytes
        world.give(.received(bytes, from: GroupWorld.peer(1), isReliable: true), at: 0)
        #expect(world.state(of: 1, at: 0) == .notConnected)
    }

    @Test func aLongMessageArrivesWhole() throws {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let message = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 7) }
        world.give(
            .send(message, to: [GroupWorld.peer(1)], GroupWorld.session, isReliable: true), at: 0)
        world.run(for: .seconds(5))
        let received = world.events[1].compactMap { event in
            if case .message(let bytes, _, _, true) = event { bytes } else { nil }
        }
        #expect(received == [message])
    }

    @Test func whoAcceptsAndSaysNothingMoreIsGivenUp() throws {
        var now = Instant.zero
        let (peer, session) = (GroupWorld.peer(1), GroupWorld.session)
        var machine = GroupMachine(own: GroupWorld.peer(0), verifier: Verifier(), seed: 1)
        _ = machine.handle(.open(session, SessionID(value: 1), SessionTerms()), now: now)
        _ = machine.handle(.reachable(peer), now: now)
        let asked = machine.handle(
            .invite(peer, into: session, context: [], timeout: .seconds(20)), now: now)
        let numbers = asked.compactMap { output -> UInt32? in
            guard case .sendReliable(let bytes, _) = output,
                case .invite(let invite)? = try? GroupMessage(parsing: bytes)
            else { return nil }
            return invite.number
        }
        let number = try #require(numbers.first)
        let answer = GroupMessage.answer(invitation: number, .accepted(SessionID(value: 2)))
        var outputs = machine.handle(
            .received(answer.bytes, from: peer, isReliable: true), now: now)
        while let next = machine.nextDeadline, next < .zero + .seconds(600) {
            now = next
            outputs += machine.handle(.deadlineReached, now: now)
        }
        #expect(outputs.contains(.event(.declined(peer, session, .timedOut))))
        let events = outputs.compactMap { output in
            if case .event(let event) = output { event } else { nil }
        }
        #expect(events.last == .state(peer, session, .notConnected))
        #expect(now <= .zero + .seconds(60))
        #expect(machine.nextDeadline == nil)
        #expect(!machine.status.isInvolved(peer))
    }

    @Test func dataOfStrangersAreDropped() {
        let world = GroupWorld(3)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        for number in UInt16.min...UInt16.max {
            let bytes = GroupMessage.data(number: number, [1]).bytes
            world.give(.received(bytes, from: GroupWorld.peer(2), isReliable: false), at: 0)
        }
        #expect(world.messageCount == 0)
        #expect(world.drops[.groupNotConnected] == 65_536)
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 5)
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0x1f...0x29, using: &random) }
            world.give(.received(bytes, from: GroupWorld.peer(1), isReliable: true), at: 0)
        }
    }
}

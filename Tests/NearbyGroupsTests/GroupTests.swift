import NearbyCore
import NearbyWire
import Testing

@testable import NearbyGroups

@Suite struct GroupTests {
    @Test func whoAcceptsIsConnectedOnBothSides() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
        #expect(world.state(of: 1, at: 0) == .connected)
        #expect(world.state(of: 0, at: 1) == .connected)
        guard case .invited(let id, context: [1, 2])? = world.events[1].first else {
            Issue.record("\(world.events[1])")
            return
        }
        #expect(id.peer == GroupWorld.peer(0))
    }

    @Test func whomAMemberInvitesIsConnectedWithAll() {
        let world = GroupWorld(4)
        world.invite(1, by: 0)
        world.invite(2, by: 0)
        world.run(for: .seconds(10))
        world.invite(3, by: 1)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1, 2, 3]))
    }

    @Test func twoGroupsOfWhichMembersMeetAreOne() {
        let world = GroupWorld(6)
        for (guest, host) in [(1, 0), (2, 0), (4, 3), (5, 3)] { world.invite(guest, by: host) }
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1, 2]))
        #expect(world.areAGroup([3, 4, 5]))
        world.invite(5, by: 1)
        world.run(for: .seconds(15))
        #expect(world.areAGroup([0, 1, 2, 3, 4, 5]))
    }

    @Test func bothMayInviteAtOnce() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.invite(0, by: 1)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
    }

    @Test func fortyAreMoreThanEight() {
        let world = GroupWorld(40)
        for guest in 1..<40 { world.invite(guest, by: guest / 2) }
        world.run(for: .seconds(30))
        #expect(world.areAGroup(Array(0..<40)))
    }

    @Test func aPersonMayTakeLongAndNoLongerThanTheInviterWaits() {
        let world = GroupWorld(2)
        var asked: InvitationID?
        world.answers = { _, id in
            asked = id
            return .none
        }
        world.invite(1, by: 0, timeout: .seconds(60))
        world.run(for: .seconds(50))
        #expect(world.state(of: 1, at: 0) == .notConnected)
        if let asked { world.give(.answer(asked, with: GroupWorld.session), at: 1) }
        world.run(for: .seconds(5))
        #expect(world.areAGroup([0, 1]))
        world.leave(1)
        world.run(for: .seconds(1))
        world.invite(1, by: 0, timeout: .seconds(5))
        world.run(for: .seconds(8))
        let (peer, session) = (GroupWorld.peer(1), GroupWorld.session)
        #expect(world.events[0].contains(.declined(peer, session, .timedOut)))
        #expect(world.events[0].last == .state(peer, session, .notConnected))
        #expect(world.events[1].last == asked.map(GroupMachine.Event.withdrawn))
        // Too late.
        if let asked { world.give(.answer(asked, with: session), at: 1) }
        world.run(for: .seconds(40))
        #expect(world.areAGroup([0]))
        #expect(world.areAGroup([1]))
    }

    @Test func whoDeclinesIsNotAMember() {
        let world = GroupWorld(2)
        world.answers = { _, _ in .some(nil) }
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let (peer, session) = (GroupWorld.peer(1), GroupWorld.session)
        #expect(world.events[0].contains(.declined(peer, session, .declined)))
        #expect(world.events[0].last == .state(peer, session, .notConnected))
        #expect(world.areAGroup([0]))
    }

    @Test func anInvitationToSomebodyOutOfReachTimesOut() {
        let world = GroupWorld(2)
        world.cut(0, 1)
        world.invite(1, by: 0)
        world.run(for: .seconds(19))
        #expect(world.events[0].isEmpty)
        world.run(for: .seconds(2))
        let last = GroupMachine.Event.state(GroupWorld.peer(1), GroupWorld.session, .notConnected)
        #expect(world.events[0].last == last)
    }

    @Test func whoLeavesIsGoneForAllAndMayBeInvitedAgain() {
        let world = GroupWorld(3)
        world.invite(1, by: 0)
        world.invite(2, by: 0)
        world.run(for: .seconds(10))
        world.leave(2)
        world.run(for: .seconds(40))
        #expect(world.areAGroup([0, 1]))
        #expect(world.areAGroup([2]))
        #expect(world.state(of: 2, at: 0) == .notConnected)
        world.invite(2, by: 1)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1, 2]))
    }

    @Test func whoWasLostComesBackWithoutAnInvitation() {
        let world = GroupWorld(3)
        world.invite(1, by: 0)
        world.invite(2, by: 0)
        world.run(for: .seconds(10))
        world.cut(0, 2)
        world.cut(1, 2)
        world.run(for: .seconds(60))
        #expect(world.areAGroup([0, 1]))
        #expect(world.state(of: 2, at: 1) == .notConnected)
        world.heal(0, 2)
        world.heal(1, 2)
        world.run(for: .seconds(20))
        #expect(world.areAGroup([0, 1, 2]))
    }

    @Test func whoIsAwayTooLongHasToBeInvited() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        world.cut(0, 1)
        world.run(for: Limits.lostMemberTime + .seconds(10))
        world.heal(0, 1)
        world.run(for: .seconds(40))
        #expect(world.areAGroup([0]))
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
    }

    @Test func aProcessThatRestartedIsAStrangerUntilItIsInvited() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        world.restart(1)
        world.run(for: .seconds(40))
        #expect(world.areAGroup([0]))
        #expect(world.areAGroup([1]))
        world.invite(0, by: 1)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
    }

    @Test func severalSessionsOfAProcessAreApart() {
        let world = GroupWorld(3)
        let other = SessionNumber(value: 2)
        for index in 0..<3 { world.open(other, at: index) }
        world.answers = { index, _ in index == 1 ? GroupWorld.session : other }
        world.invite(1, by: 0)
        world.invite(2, by: 0, other)
        world.run(for: .seconds(10))
        world.answers = { _, _ in other }
        #expect(world.areAGroup([0, 1]))
        #expect(world.state(of: 2, at: 0, other) == .connected)
        #expect(world.state(of: 1, at: 0, other) == .notConnected)
        // A message reaches the session that it is for.
        world.give(
            .send([9], to: [GroupWorld.peer(2)], other, isReliable: true), at: 0)
        world.run(for: .seconds(1))
        #expect(
            world.events[2].last
                == .message([9], from: GroupWorld.peer(0), other, isReliable: true))
    }

    @Test(arguments: EncryptionPreference.allCases, EncryptionPreference.allCases)
    func preferencesGoTogetherOrRefuse(
        _ left: EncryptionPreference, _ right: EncryptionPreference
    ) {
        let world = GroupWorld(2) { SessionTerms(preference: $0 == 0 ? left : right) }
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let goTogether = EncryptionPreference.agreed(left, right) != nil
        #expect(world.areAGroup([0, 1]) == goTogether)
        if !goTogether {
            let (peer, session) = (GroupWorld.peer(1), GroupWorld.session)
            #expect(world.events[0].contains(.declined(peer, session, .ended(.preference))))
        }
    }

    @Test func certificatesAreJudgedByBoth() {
        let terms = { (index: Int) in
            SessionTerms(
                identity: Identity(certificates: [[UInt8(index), 1], [0xca]]),
                asksAboutCertificates: true)
        }
        let world = GroupWorld(3, terms: terms)
        world.acceptsCertificates = { index, chain in
            #expect(chain.last == [0xca])
            return !(index == 0 && chain[0] == [2, 1])
        }
        world.invite(1, by: 0)
        world.invite(2, by: 0)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
        let (peer, session) = (GroupWorld.peer(2), GroupWorld.session)
        #expect(world.events[0].contains(.declined(peer, session, .ended(.certificate))))
        #expect(world.events[2].last == .state(GroupWorld.peer(0), session, .notConnected))
    }

    @Test func aStolenChainIsRefused() {
        struct Thief: SessionIdentity {
            var certificates: [[UInt8]] { [[1, 1]] }
            func sign(_ bytes: [UInt8]) -> [UInt8] { [1, 1] + bytes.reversed() }
        }
        let world = GroupWorld(2) { index in
            SessionTerms(identity: index == 0 ? Thief() : nil)
        }
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0]))
        #expect(world.areAGroup([1]))
    }

    @Test func sessionsConnectByHandWithoutAnInvitation() throws {
        let world = GroupWorld(2)
        let id = try #require(world.machines[1].status.id(of: GroupWorld.session))
        world.give(.connect(GroupWorld.peer(1), id, from: GroupWorld.session), at: 0)
        world.run(for: .seconds(10))
        #expect(world.areAGroup([0, 1]))
        // Given up while the other side does not answer.
        let third = GroupWorld(2)
        third.cut(0, 1)
        third.give(.connect(GroupWorld.peer(1), id, from: GroupWorld.session), at: 0)
        third.give(.cancel(GroupWorld.peer(1), GroupWorld.session), at: 0)
        #expect(third.state(of: 1, at: 0) == .notConnected)
    }

    @Test func aMemberIsToldToKeepMessagesBackAndToGoOn() {
        let world = GroupWorld(2)
        world.invite(1, by: 0)
        world.run(for: .seconds(10))
        let key = GroupWorld.Key(at: 0, peer: 1, session: GroupWorld.session)
        for isHeld in [true, false] {
            world.give(.hold(GroupWorld.peer(0), GroupWorld.session, isHeld), at: 1)
            world.run(for: .seconds(5))
            #expect(world.held[key] == isHeld)
        }
        // Of those that are not connected nobody can want it.
        world.leave(1)
        world.run(for: .seconds(10))
        world.give(.hold(GroupWorld.peer(0), GroupWorld.session, true), at: 1)
        world.run(for: .seconds(5))
        #expect(world.held[key] == false)
    }
}

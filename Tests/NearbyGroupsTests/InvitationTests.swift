import NearbyCore
import Testing

@testable import NearbyGroups

@Suite struct InvitationTests {
    /// Who is told that the peer is not connected may invite again at once, for ever.
    @Test func aSecondInvitationWhileOneIsOpenChangesNothing() {
        let world = GroupWorld(2)
        var asked: InvitationID?
        world.answers = { _, id in
            asked = id
            return .none
        }
        for _ in 0..<5 {
            world.invite(1, by: 0, timeout: .seconds(60))
            world.run(for: .seconds(5))
        }
        #expect(world.events[0].isEmpty)
        #expect(world.events[1].count == 1)
        if let asked { world.give(.answer(asked, with: GroupWorld.session), at: 1) }
        world.run(for: .seconds(5))
        #expect(world.areAGroup([0, 1]))
        #expect(!world.events[0].contains { $0.isRefusal })
    }

    @Test func theFirstInvitationsTimeCounts() {
        let world = GroupWorld(2)
        world.answers = { _, _ in .none }
        world.invite(1, by: 0, timeout: .seconds(10))
        world.run(for: .seconds(5))
        world.invite(1, by: 0, timeout: .seconds(3_600))
        world.run(for: .seconds(10))
        let (peer, session) = (GroupWorld.peer(1), GroupWorld.session)
        #expect(
            world.events[0] == [
                .declined(peer, session, .timedOut), .state(peer, session, .notConnected),
            ])
    }
}

extension GroupMachine.Event {
    fileprivate var isRefusal: Bool { if case .declined = self { true } else { false } }
}

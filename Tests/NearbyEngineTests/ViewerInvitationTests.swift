import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// In the tie-break a viewer is a node like others: it is no way to a collector and may need one.
struct ViewerInvitationTests {
    private let own = PeerID(high: 1, low: 0)
    private let rescuer = PeerID(high: 100, low: 0)

    @Test func aViewerLooksForAWayToACollector() {
        var machine = connected()
        #expect(!machine.wantsNeighbours)
        #expect(invited(machine.handle(rescuerSighted(.relay, cost: 96), now: .zero)) == [rescuer])
    }

    @Test func aViewerWithAWayIsContentWithItsNeighbours() {
        var machine = connected()
        _ = machine.handle(.costToCollector(192), now: .zero)
        #expect(invited(machine.handle(rescuerSighted(.relay, cost: 96), now: .zero)) == [])
        // The way is gone, and does not come back: now it is wanted.
        #expect(invited(machine.handle(.costToCollector(nil), now: .zero)) == [])
        let patience = Instant.zero + Limits.lostWayPatience
        #expect(machine.nextDeadline == patience)
        #expect(invited(machine.handle(.deadlineReached, now: patience)) == [rescuer])
    }

    /// On a LAN neighbours are found sooner than the collector.
    @Test func whoHearsACollectorWantsItBesideItsNeighbours() {
        var machine = connected(role: .agent)
        _ = machine.handle(.costToCollector(192), now: .zero)
        #expect(!machine.wantsNeighbours)
        let sighted = rescuerSighted(.collector, cost: 0)
        #expect(invited(machine.handle(sighted, now: .zero)) == [rescuer])
        let channel = InvitationMachine.Input.admitted(
            ChannelToken(value: 99), peer: rescuer, run: RunID(value: 100), attempt: 1,
            weAreClient: true)
        _ = machine.handle(channel, now: .zero)
        _ = machine.handle(.costToCollector(96), now: .zero)
        // One is enough.
        let other = InvitationMachine.Input.sighted(
            PeerID(high: 101, low: 0), run: RunID(value: 101), role: .collector, costToCollector: 0)
        #expect(invited(machine.handle(other, now: .zero)) == [])
    }

    @Test func aViewerThatIsHeardRescuesNobody() {
        var machine = connected(role: .agent)
        #expect(invited(machine.handle(rescuerSighted(.viewer, cost: nil), now: .zero)) == [])
    }

    @Test func aFullNodeMakesRoomForAViewerWithoutAWay() {
        var machine = connected(count: Limits.neighboursAccepted, role: .agent)
        #expect(machine.isFull)
        let reaches = (0..<Limits.neighboursAccepted).map { number in
            NeighbourReach(
                PeerID(high: UInt64(number) + 2, low: 0), others: 3, leadsToCollector: false)
        }
        let token = ChannelToken(value: 50)
        func asked(hasRoute: Bool) -> [InvitationMachine.Output] {
            let request = PlaceRequest(
                link: LinkID(value: 1), hasRoute: hasRoute, seeksShortcut: false,
                neighbourCount: 2)
            return machine.handle(
                .asked(token, by: rescuer, request, reaches: reaches), now: .zero)
        }
        let full = DecisionFrame(verdict: .full, retryAfter: Limits.fullRetry)
        #expect(asked(hasRoute: true) == [.decided(token, full)])
        let accepted = DecisionFrame(verdict: .accepted, retryAfter: .zero)
        #expect(
            asked(hasRoute: false) == [
                .decided(token, accepted), .close(ChannelToken(value: 0), .dropped),
            ])
    }

    /// A machine with neighbours of which none leads to a collector.
    private func connected(
        count: Int = Limits.neighboursWanted, role: Role = .viewer
    ) -> InvitationMachine {
        var machine = InvitationMachine(own: own, role: role, seed: 1)
        for number in 0..<count {
            let peer = PeerID(high: UInt64(number) + 2, low: 0)
            let run = RunID(value: UInt64(number))
            _ = machine.handle(
                .sighted(peer, run: run, role: .agent, costToCollector: nil), now: .zero)
            _ = machine.handle(
                .admitted(
                    ChannelToken(value: UInt32(number)), peer: peer, run: run, attempt: 1,
                    weAreClient: true), now: .zero)
        }
        return machine
    }

    private func rescuerSighted(_ role: Role, cost: UInt16?) -> InvitationMachine.Input {
        .sighted(rescuer, run: RunID(value: 9), role: role, costToCollector: cost)
    }

    private func invited(_ outputs: [InvitationMachine.Output]) -> [PeerID] {
        outputs.compactMap { if case .invite(let peer, _) = $0 { peer } else { nil } }
    }
}

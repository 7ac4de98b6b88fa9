import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Who fills the last places, and whom that keeps out.
struct PlaceAttackTests: NeighbourScene {
    private static func ask(
        _ machine: inout InvitationMachine, _ peer: PeerID, _ request: PlaceRequest,
        _ reaches: [NeighbourReach], _ token: UInt32, _ now: Instant
    ) -> Bool {
        let outputs = machine.handle(
            .asked(ChannelToken(value: token), by: peer, request, reaches: reaches), now: now)
        var isAccepted = false
        for case .decided(_, let decision) in outputs { isAccepted = decision.verdict == .accepted }
        if isAccepted {
            _ = machine.handle(
                .admitted(
                    ChannelToken(value: token), peer: peer, run: RunID(value: 1), attempt: 1,
                    weAreClient: false), now: now)
        }
        return isAccepted
    }

    /// Two links meet in this node, and nobody else may join them.
    @Test func shortcutsLeaveRoomForABridge() {
        var machine = Self.connected(8, cost: 96)
        let seeks = PlaceRequest(
            link: Self.ethernet, hasRoute: true, seeksShortcut: true, neighbourCount: 5)
        var now = Instant.zero
        for number in 0..<40 {
            now = now + .seconds(70)
            let peer = PeerID(high: UInt64(1_000 + number), low: 0)
            _ = machine.handle(.sighted(peer, Self.sighting(cost: 300)), now: now)
            let reaches = machine.connectedPeers.map {
                NeighbourReach($0, others: 0, leadsToCollector: true, isOurWay: false)
            }
            _ = Self.ask(&machine, peer, seeks, reaches, UInt32(100 + number), now)
            while let due = machine.nextDeadline, due <= now + .seconds(60) {
                let outputs = machine.handle(.deadlineReached, now: due)
                if outputs.contains(.tooMany) { _ = machine.handle(.weighed(reaches), now: due) }
            }
        }
        let bridge = PeerID(high: 5_000, low: 0)
        let outputs = machine.handle(
            .sighted(bridge, Self.sighting(cost: nil, links: [Self.wifi])), now: now)
        #expect(Self.invited(outputs) == [bridge])
        var request = seeks
        request.link = Self.wifi
        request.hasRoute = false
        request.seeksShortcut = false
        request.neighbourCount = 4
        let accepted = Self.ask(
            &machine, bridge, request,
            machine.connectedPeers.map {
                NeighbourReach($0, others: 0, leadsToCollector: true, isOurWay: false)
            }, 999, now)
        #expect(accepted)
    }

    /// That none could go for long says nothing of those that come an hour later.
    @Test func trimmingIsQuickAgainAfterThereWereNotTooMany() throws {
        var machine = Self.connected(10, cost: 96)
        let stuck = (0..<10).map {
            NeighbourReach(Self.neighbour($0), others: 0, leadsToCollector: true, isOurWay: false)
        }
        var now = Instant.zero
        for _ in 0..<8 {
            now = try #require(machine.nextDeadline)
            _ = machine.handle(.deadlineReached, now: now)
            _ = machine.handle(.weighed(stuck), now: now)
        }
        for number in 0..<3 {
            _ = machine.handle(.channelClosed(ChannelToken(value: UInt32(number))), now: now)
            _ = machine.handle(.lost(Self.neighbour(number)), now: now)
        }
        now = now + .seconds(3_600)
        _ = machine.handle(.deadlineReached, now: now)
        for number in 20..<24 {
            let peer = Self.neighbour(number)
            _ = machine.handle(.sighted(peer, Self.sighting(cost: nil)), now: now)
            _ = machine.handle(
                .admitted(
                    ChannelToken(value: UInt32(number)), peer: peer, run: RunID(value: 1),
                    attempt: 1,
                    weAreClient: true), now: now)
        }
        #expect(machine.connectedCount > 8)
        let due = try #require(machine.nextDeadline)
        #expect(due - now <= Limits.trimPatience)
    }
}

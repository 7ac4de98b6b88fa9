import NearbyCore
import NearbyWire

@testable import NearbyEngine

/// An agent with neighbours, for tests of whom it wants beside them and whom it lets go.
protocol NeighbourScene {}

extension NeighbourScene {
    static var own: PeerID { PeerID(high: 1, low: 0) }
    static var ethernet: LinkID { LinkID(value: 1) }
    static var wifi: LinkID { LinkID(value: 2) }
    static var candidate: PeerID { PeerID(high: 100, low: 0) }

    static func sighting(
        cost: UInt16?, linkCost: UInt16 = 96, links: [LinkID] = [ethernet], role: Role = .agent
    ) -> InvitationPair.SightedRun {
        .init(
            run: RunID(value: 1), role: role, costToCollector: cost, linkCost: linkCost,
            links: links)
    }

    /// With as many neighbours, and a way of this cost.
    static func connected(
        _ count: Int, cost: UInt16?, collectors: Int = 0, links: [LinkID] = [ethernet],
        own: PeerID = own
    ) -> InvitationMachine {
        var machine = InvitationMachine(own: own, role: .agent, seed: 1)
        for number in 0..<count {
            let peer = neighbour(number)
            let role = number < collectors ? Role.collector : .agent
            _ = machine.handle(
                .sighted(
                    peer,
                    sighting(cost: role == .collector ? 0 : nil, links: links, role: role)),
                now: .zero)
            _ = machine.handle(
                .admitted(
                    ChannelToken(value: UInt32(number)), peer: peer, run: RunID(value: 1),
                    attempt: 1, weAreClient: true), now: .zero)
        }
        _ = machine.handle(.costToCollector(cost), now: .zero)
        return machine
    }

    static func neighbour(_ number: Int) -> PeerID {
        PeerID(high: UInt64(number) + 2, low: 0)
    }

    static func invited(_ outputs: [InvitationMachine.Output]) -> [PeerID] {
        outputs.compactMap { if case .invite(let peer, _) = $0 { peer } else { nil } }
    }
}

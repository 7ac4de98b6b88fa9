import NearbyCore
import NearbyWire

@testable import NearbyEngine

extension InvitationMachine.Input {
    /// Heard on one Ethernet link.
    static func sighted(
        _ peer: PeerID, run: RunID, role: Role, costToCollector: UInt16?
    ) -> Self {
        .sighted(
            peer,
            .init(
                run: run, role: role, costToCollector: costToCollector, linkCost: 96,
                links: [LinkID(value: 1)]))
    }
}

extension RendezvousMachine.View {
    init(links: LinkTable, peers: Peers) {
        self.init(links: links, peers: peers) {
            NeighbourReach($0, others: 0, leadsToCollector: false)
        }
    }
}

import NearbyCore

/// How full the bounded tables of a node are.
enum TableSizes {
    static func all(of node: Node) -> [(name: String, count: Int, limit: Int)] {
        let (channels, mesh, peers) = (node.channels, node.mesh, node.peers)
        let application = node.configuration.application
        let accepted = application?.neighboursAccepted ?? Limits.neighboursAccepted
        return [
            ("sightings", node.sightingCount, Limits.discoveryPeersMax),
            ("pairs", node.rendezvous.invitation.pairCount, Limits.pairsMax),
            ("channels", channels.count, Limits.channelsMax),
            ("handshakes of others", channels.inboundCount, channels.inboundLimit),
            ("destinations", mesh.routing.destinationCount, RoutingMachine.destinationsMax),
            (
                "calls", mesh.addressees.dialCount,
                1 + Limits.viewersMax + (application == nil ? 0 : Limits.dialedPeersMax)
            ),
            ("echoes", node.echoes.pendingCount, Limits.echoesPendingMax),
            (
                "neighbours", peers.neighbourCount,
                node.configuration.role == .collector
                    ? Limits.collectorNeighbours : accepted + Limits.neighboursWanted + 1
            ),
        ]
    }
}

import NearbyCore
import NearbyWire

/// What a node tells about itself: for `rivulet status`, and for the simulator's invariants.
extension Node {
    public var ownPeer: PeerID { own }

    public var dropCounters: DropCounters { drops }

    /// Grows with every change of a next hop.
    public var routesVersion: UInt64 { routing.version }

    /// Where packets of others for this destination go.
    public func forwardingHop(to destination: PeerID, now: Instant) -> PeerID? {
        routing.forwardingHop(to: destination.short, now: now)
    }

    public var routes: [Route] { routing.routes }

    public struct NeighbourStatus: Sendable {
        public var peer: PeerID
        public var name: String
        public var role: Role?
        public var endpoint: Endpoint
        /// Links that would carry its channel, that in use among them.
        public var linkCount: Int
        public var cost: UInt16
        public var waiting: [Int]
    }

    /// In the order of their PeerIDs.
    public var neighbourStatus: [NeighbourStatus] {
        peers.neighbourList.map { neighbour in
            NeighbourStatus(
                peer: neighbour.peer, name: neighbour.name, role: peers.role(of: neighbour.peer),
                endpoint: neighbour.endpoint, linkCount: neighbour.hop.provedCount,
                cost: neighbour.hop.cost, waiting: Priority.allCases.map(neighbour.queue.count(at:))
            )
        }
    }

    public struct PeerStatus: Sendable {
        public var peer: PeerID
        public var name: String
        public var role: Role
        public var isEncrypted: Bool
        public var isNeighbour: Bool
        public var since: Instant
    }

    /// Everybody with an open channel, in the order of their PeerIDs.
    public var peerStatus: [PeerStatus] {
        peers.associated.map { association in
            PeerStatus(
                peer: association.peer, name: association.terms.name, role: association.terms.role,
                isEncrypted: channels[association.token]?.seal?.isEncrypted ?? true,
                isNeighbour: peers.isNeighbour(association.peer), since: association.openedAt)
        }
    }

    public func name(of peer: PeerID) -> String? { peers[peer]?.terms.name }

    /// What a peer with an open channel is for, as it said when it was admitted.
    public func role(of peer: PeerID) -> Role? { peers.role(of: peer) }

    /// Whom the program was told to address.
    public var collector: PeerID? { addressees.collector }

    public var viewers: [PeerID] { addressees.viewers }

    public var sightingCount: Int { discovery.peerCount }

    /// Every table with its size and its limit.
    public var tableSizes: [(name: String, count: Int, limit: Int)] {
        [
            ("sightings", discovery.peerCount, Limits.discoveryPeersMax),
            ("pairs", invitation.pairCount, Limits.pairsMax),
            ("channels", channels.count, Limits.channelsMax),
            ("handshakes of others", channels.inboundCount, channels.inboundLimit),
            ("destinations", routing.destinationCount, RoutingMachine.destinationsMax),
            ("calls", addressees.callCount, 1 + Limits.viewersMax),
            (
                "neighbours", peers.neighbourCount,
                configuration.role == .collector
                    ? Limits.collectorNeighbours : Limits.neighboursAccepted + 4
            ),
        ]
    }

    /// Nodes in reach that cannot be neighbours, in the order of their PeerIDs.
    public func refusedNodes(now: Instant) -> [RefusedNode] { refused.recent(now: now) }

    /// Refusals for which the table had no place.
    public var omittedRefusals: Int { refused.omittedCount }

    /// Why there is no channel to this peer, if it was refused.
    public func refusal(of peer: PeerID) -> RefusedNode? { refused[peer] }

    /// The nodes of the network since our start, in the order of their PeerIDs.
    public var knownNodes: [KnownNode] { book.nodes }

    public func knownNode(_ peer: PeerID) -> KnownNode? { book[peer] }
}

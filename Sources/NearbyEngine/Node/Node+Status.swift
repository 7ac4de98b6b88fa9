import NearbyCore
import NearbyWire

/// What a node tells about itself: for `rivulet status`, and for the simulator's invariants.
extension Node {
    public var ownPeer: PeerID { own }
    public var dropCounters: DropCounters { outbox.drops }
    /// Whether sealed frames with this index are of a peer that was let in.
    public func hasAdmitted(_ index: UInt32) -> Bool { channels.isAdmitted(index) }

    /// Grows with every change of a next hop.
    public var routesVersion: UInt64 { mesh.routing.version }

    /// Where packets of others for this destination go.
    public func forwardingHop(to destination: PeerID, now: Instant) -> PeerID? {
        mesh.routing.forwardingHop(to: destination.short, now: now)
    }

    public var routes: [Route] { mesh.routing.routes }
    /// Each destination to which packets go with the next hop to it, in no order.
    public func eachHop(_ body: (ShortID, PeerID) -> Void) { mesh.routing.eachHop(body) }

    /// In the order of their PeerIDs.
    public var neighbourStatus: [NeighbourStatus] { peers.neighbourStatus }

    /// Where neighbours have proved to be: the endpoints in use, and those ready to take over.
    public var neighbourEndpoints: [Endpoint] { peers.neighbourEndpoints }

    /// Everybody with an open channel, in the order of their PeerIDs.
    public var peerStatus: [PeerStatus] { peers.peerStatus }

    public func name(of peer: PeerID) -> String? { peers[peer]?.terms.name }

    /// What a peer with an open channel is for, as it said when it was admitted.
    public func role(of peer: PeerID) -> Role? { peers.role(of: peer) }

    /// Whom the program was told to address.
    public var collector: PeerID? { mesh.addressees.collector }
    public var viewers: [PeerID] { mesh.addressees.viewers }

    /// Bytes of reliable messages that the peer may not have yet: 0–`reliableQueueBytesMax`.
    public func queuedReliableBytes(for peer: PeerID) -> Int {
        peers[peer]?.queuedReliableBytes ?? 0
    }

    public var sightingCount: Int { rendezvous.discovery.peerCount }
    /// Whom discovery has found and not lost, in the order of their PeerIDs.
    public var sightings: [Sighting] { rendezvous.discovery.sightings }

    /// Every table with its size and its limit.
    public var tableSizes: [(name: String, count: Int, limit: Int)] { TableSizes.all(of: self) }

    /// Nodes in reach that cannot be neighbours, in the order of their PeerIDs.
    public func refusedNodes(now: Instant) -> [RefusedNode] { rendezvous.refusals.recent(now: now) }

    /// Refusals for which the table had no place.
    public var omittedRefusals: Int { rendezvous.refusals.omittedCount }

    /// Why there is no channel to this peer, if it was refused.
    public func refusal(of peer: PeerID) -> RefusedNode? { rendezvous.refusals[peer] }

    /// The nodes of the network since our start, in the order of their PeerIDs.
    public var knownNodes: [KnownNode] { mesh.book.nodes }

    public func knownNode(_ peer: PeerID) -> KnownNode? { mesh.book[peer] }
}

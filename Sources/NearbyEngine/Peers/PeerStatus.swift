import NearbyCore
import NearbyWire

/// A peer that is addressed over one of our links, for `rivulet status`.
public struct NeighbourStatus: Sendable {
    public var peer: PeerID
    public var name: String
    public var role: Role?
    public var endpoint: Endpoint
    /// Links that would carry its channel, that in use among them.
    public var linkCount: Int
    /// What the link in use is made of.
    public var linkClass: LinkClass
    public var cost: UInt16
    /// Frames that were not answered in time, percent: an average over the last ones.
    public var lossPercent: Int
    /// Frames, by priority.
    public var waiting: [Int]
}

/// A peer with an open channel, for `rivulet status`.
public struct PeerStatus: Sendable {
    public var peer: PeerID
    public var name: String
    public var role: Role
    public var isEncrypted: Bool
    public var isNeighbour: Bool
    public var since: Instant
}

extension Peers {
    /// In the order of their PeerIDs.
    var neighbourStatus: [NeighbourStatus] {
        neighbourList.map { neighbour in
            NeighbourStatus(
                peer: neighbour.peer, name: neighbour.name, role: role(of: neighbour.peer),
                endpoint: neighbour.endpoint, linkCount: neighbour.hop.validatedCount,
                linkClass: neighbour.hop.linkClass, cost: neighbour.hop.cost,
                lossPercent: neighbour.hop.lossPercent,
                waiting: Priority.allCases.map(neighbour.queue.count(at:)))
        }
    }

    /// Where neighbours have proved to be: the endpoints in use, and those ready to take over.
    var neighbourEndpoints: [Endpoint] { neighbourList.flatMap(\.hop.validated) }

    /// In the order of their PeerIDs.
    var peerStatus: [PeerStatus] {
        associated.map { association in
            PeerStatus(
                peer: association.peer, name: association.terms.name, role: association.terms.role,
                isEncrypted: association.channel.seal?.isEncrypted ?? true,
                isNeighbour: isNeighbour(association.peer), since: association.openedAt)
        }
    }
}

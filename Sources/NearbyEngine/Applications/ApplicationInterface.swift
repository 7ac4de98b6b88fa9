import NearbyCore
import NearbyWire

/// What a node for sessions of applications does otherwise than one of agents: it calls peers and
/// is called by them, shows its name in beacons, and tells whom it sees.
public struct ApplicationTerms: Sendable {
    /// Neighbours that it takes when asked.
    public var neighboursAccepted = 256
    /// A channel whose peer is out of reach is given up after this time.
    var unreachableTime = Duration.seconds(8)
    /// A peer behind others that was not heard for so long is asked whether it is there, and three
    /// times more: one that restarted is missed so, too.
    var meshSilenceMax = Duration.seconds(5)

    public init() {}
}

/// What such a node is told beside what all are.
public enum ApplicationInput: Sendable {
    /// A channel with this peer is wanted, on a link or over the mesh, until it is released. Of at
    /// most `Limits.dialedPeersMax` peers.
    case dial(PeerID)
    /// It is not wanted any more; one on a link stays while it serves the mesh.
    case release(PeerID)
    /// What beacons show to others from now on; nil: we are not to be shown to people.
    case advertise(DiscoveryInfo?)
    /// What is said of encryption from now on.
    case prefer(EncryptionPreference)
    /// The channel with this peer can be read by others, and now need not be: it gets new keys if
    /// we began it, and the peer thinks so, too.
    case encrypt(PeerID)
}

/// What only programs with sessions of their own are told.
public enum ApplicationEvent: Sendable {
    /// A peer in reach of our links is new, or says something else of itself: unproved.
    case sighted(Sighting)
    case vanished(PeerID)
    /// The peer's traffic goes over another channel from now on, perhaps that of another run.
    case channel(PeerID, run: RunID, isEncrypted: Bool)
    /// An attempt at a channel came to nothing for a reason that lies in both sides' settings.
    case refused(PeerID, RefusedNode.Cause)
}

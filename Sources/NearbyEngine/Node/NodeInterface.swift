import NearbyCore
import NearbyWire

/// What a node is told at its start and keeps for its run.
public struct NodeConfiguration: Sendable {
    /// 1–63 bytes of UTF-8; identifies nothing.
    public var name: String
    public var role: Role
    /// The version of the program, told to admitted peers; at most 31 bytes of printable ASCII.
    public var software = ""
    /// Tells this network's beacons from others'.
    public var networkTag: NetworkTag
    /// The raw network secrets, 16 bytes each: the first is used, all are accepted. Empty:
    /// no secret is asked for.
    public var secrets: [[UInt8]]
    /// Whose key is good enough.
    public var membership = Membership.open
    public var preference: EncryptionPreference
    public var info: DiscoveryInfo
    /// Where our data sockets listen.
    public var dataPort: UInt16
    /// Whether to send and to answer beacons.
    public var sendsBeacons: Bool
    /// Whether packets of others pass through here.
    public var forwards: Bool
    public var run: RunID
    /// For jitter and choice, not for keys.
    public var seed: UInt64
    /// Those that count as collectors; empty: all that were admitted as such.
    public var collectors: Set<PeerID>
    /// New keys for a channel after this time.
    public var rekeyAfter: Duration
    /// Or after so many frames of one priority in one direction, whatever comes first.
    public var rekeyFrames = Limits.rekeyFrames
    /// Of a node that serves sessions of applications; nil: it serves none.
    public var application: ApplicationTerms?

    public init(name: String, role: Role, networkTag: NetworkTag, run: RunID, seed: UInt64) {
        self.name = name
        self.role = role
        self.networkTag = networkTag
        self.run = run
        self.seed = seed
        secrets = []
        preference = .required
        info = .empty
        dataPort = 0
        sendsBeacons = true
        forwards = true
        collectors = []
        rekeyAfter = .seconds(86_400)
    }
}

/// What a node is told.
public enum NodeInput: Sendable {
    case start
    case linkUp(LinkID, LinkClass)
    /// The interface is gone, or has lost its carrier.
    case linkDown(LinkID)
    case datagram([UInt8], from: Endpoint, isMulticast: Bool)
    /// The kernel says that a datagram of ours could not be delivered (ICMP: nobody listens at the
    /// port, or no host is there), with its first bytes as they were quoted. The link may be
    /// unknown.
    case returned([UInt8], of: Endpoint)
    /// Addresses to try without having heard of anybody there.
    case staticPeers([Endpoint])
    /// Addresses where peers were admitted in earlier runs: tried where multicast is silent.
    case rememberedPeers([Endpoint])
    /// All addresses that a service of the system names at present.
    case advertisedPeers([Endpoint], by: AdvertisingService)
    /// At most 1,000 bytes; lost if the network loses it.
    case sendUnreliable([UInt8], to: PeerID, Priority)
    /// At most 1 MiB; in order, exactly once while the channel lives or is renewed.
    case sendReliable([UInt8], to: PeerID)
    /// For nodes with `ApplicationTerms`.
    case application(ApplicationInput)
    /// Asks for a sign of life, told as `echo` with the same token, which is random: of the peer
    /// itself, over its channel if there is one; or, with a hop limit of 1–64, of whoever is so
    /// many links away on the way to it. 64 are awaited at a time.
    case echo(token: UInt64, to: PeerID, hopLimit: UInt8?)
    /// What to add to `now` to have the time since 1970 UTC; nil while nobody can vouch for it.
    /// Wanted once a minute where peers have certificates: theirs may run out.
    case clock(unixOffset: Duration?)
    case deadlineReached
    /// Says goodbye to all neighbours; nothing is to be expected of the node afterwards.
    case stop
}

/// What a node wants done, in the order in which it happened.
public enum NodeOutput: Sendable {
    case transmit(Transmission)
    case event(NodeEvent)
}

/// What goes to the network.
public enum Transmission: Sendable {
    case unicast([UInt8], to: Endpoint)
    case multicast([UInt8], on: LinkID)
    /// IPv4 broadcast, where multicast brings nothing.
    case broadcast([UInt8], on: LinkID)
}

/// What the program is told.
public enum NodeEvent: Sendable {
    case peer(PeerID, PeerState)
    /// The collector to address now; nil while there is none.
    case collector(PeerID?)
    /// All viewers to send copies to now, in the order of their PeerIDs.
    case viewers([PeerID])
    /// `hops`: links that it crossed, at least 1.
    case message([UInt8], from: PeerID, isReliable: Bool, hops: Int)
    /// Only of a node with `ApplicationTerms`.
    case application(ApplicationEvent)
    /// A sign of life, with the token that asked for it, and how long it took. `hops`: links that
    /// the answer crossed, at least 1. Over a channel it is proved, and has neither name nor link.
    indirect case echo(EchoAnswer, from: ShortID, hops: Int, after: Duration)
    case diagnostic(NodeDiagnostic)
}

/// How a peer and this node stand.
public enum PeerState: String, Equatable, Sendable {
    case notConnected = "not connected"
    case connecting
    case connected
}

/// What a person should read in the log.
public enum NodeDiagnostic: Sendable {
    case refused(PeerID?, DropReason, at: Endpoint?, text: String)
    case neighbourUp(PeerID, name: String, at: Endpoint)
    /// Another link carries the channel from now on.
    case neighbourMoved(PeerID, name: String, at: Endpoint)
    case neighbourLost(PeerID, name: String)
    /// It calls itself a collector and was admitted as something else.
    case noCollector(PeerID, name: String, role: Role)
    /// A node in reach that cannot be a neighbour; once for each.
    case nodeRefused(RefusedNode)
    /// Nodes behind others that were in reach and no longer are, and those that are again.
    case nodesVanished([KnownNode])
    case nodesReturned([KnownNode])
    /// Somebody has proved our own key there: two cards with one identity.
    case ownIdentityElsewhere(Endpoint)
}

import NearbyCore
import NearbyWire

/// The open channel with a peer, whatever path its frames take, and the session over it.
final class Association {
    /// An invitation that tries the open channel on a link first.
    struct Resumption {
        var attempt: UInt16
        var until: Instant
    }

    let peer: PeerID
    let token: ChannelToken
    /// What the peer said of itself.
    let terms: AdmitFrame
    var session = SessionMachine() { didSet { timers.touch(.association(peer)) } }
    /// Addresses at which it was asked whether it answers.
    var probes = PathProbes()
    var resumption: Resumption? { didSet { timers.touch(.association(peer)) } }
    /// Since when the peer is neither a neighbour nor routed to.
    var unreachableSince: Instant? { didSet { timers.touch(.association(peer)) } }
    /// The neighbour over which its frames leave.
    var firstHop: PeerID?
    let openedAt: Instant
    /// When the client of the channel begins a new one beside it.
    var rekeyAt: Instant { didSet { timers.touch(.association(peer)) } }
    var isRenewing = false
    /// After the next attempt, so long until another.
    var rekeyRetry = Limits.rekeyRetry
    /// When to see whether a peer that is no neighbour has been silent for long.
    var silenceCheckAt: Instant { didSet { timers.touch(.association(peer)) } }
    /// Questions since it was heard last.
    var silenceProbes = 0
    private let timers: NodeTimers

    init(
        peer: PeerID, token: ChannelToken, terms: AdmitFrame, rekeyAt: Instant,
        timers: NodeTimers, now: Instant
    ) {
        self.peer = peer
        self.token = token
        self.terms = terms
        self.rekeyAt = rekeyAt
        openedAt = now
        silenceCheckAt = now + Limits.meshSilenceMax
        self.timers = timers
        timers.touch(.association(peer))
    }

    deinit { timers.touch(.association(peer)) }

    var nextDeadline: Instant? {
        var earliest = min(rekeyAt, silenceCheckAt)
        if let since = unreachableSince { earliest = min(earliest, since + Limits.unreachableTime) }
        if let resumption { earliest = min(earliest, resumption.until) }
        return min(earliest, session.nextDeadline ?? .distantFuture)
    }
}

extension Limits {
    /// A channel whose peer is out of reach is kept so long: a node that moved comes back without a
    /// handshake.
    public static let unreachableTime = Duration.seconds(60)
    /// How long a peer may take to answer on a new link of an open channel.
    public static let resumptionTime = Duration.milliseconds(500)
}

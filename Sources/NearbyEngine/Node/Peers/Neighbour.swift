import NearbyCore
import NearbyWire

/// A peer that we reach over one of our links: what its hop needs.
final class Neighbour {
    let peer: PeerID
    var name: String
    /// Where it answers, and where else it would.
    var ways: LinkChoice { didSet { timers.touch(.neighbour(peer)) } }
    /// Of the link in use.
    var liveness: LivenessMachine { didSet { timers.touch(.neighbour(peer)) } }
    var queue: SendQueue
    var isWaiting = false
    private let timers: NodeTimers

    init(
        peer: PeerID, name: String, ways: LinkChoice, liveness: LivenessMachine, queue: SendQueue,
        timers: NodeTimers
    ) {
        self.peer = peer
        self.name = name
        self.ways = ways
        self.liveness = liveness
        self.queue = queue
        self.timers = timers
        timers.touch(.neighbour(peer))
    }

    deinit { timers.touch(.neighbour(peer)) }

    var endpoint: Endpoint { ways.used.endpoint }

    var nextDeadline: Instant? {
        let earliest = min(
            liveness.nextDeadline ?? .distantFuture, ways.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }
}

/// The open channel with a peer, whatever path its frames take, and the session over it.
final class Association {
    let peer: PeerID
    var token: ChannelToken
    var session: SessionMachine { didSet { timers.touch(.association(peer)) } }
    /// Addresses at which it was asked whether it answers.
    var probes = PathProbes()
    /// Since when the peer is neither a neighbour nor routed to.
    var unreachableSince: Instant? { didSet { timers.touch(.association(peer)) } }
    /// The neighbour over which its frames leave.
    var firstHop: PeerID?
    var openedAt: Instant
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
        peer: PeerID, token: ChannelToken, session: SessionMachine, rekeyAt: Instant,
        timers: NodeTimers, now: Instant
    ) {
        self.rekeyAt = rekeyAt
        self.peer = peer
        self.token = token
        self.session = session
        openedAt = now
        silenceCheckAt = now + Limits.meshSilenceMax
        self.timers = timers
        timers.touch(.association(peer))
    }

    deinit { timers.touch(.association(peer)) }

    var nextDeadline: Instant? {
        var earliest = min(rekeyAt, silenceCheckAt)
        if let since = unreachableSince { earliest = min(earliest, since + Limits.unreachableTime) }
        return min(earliest, session.nextDeadline ?? .distantFuture)
    }
}

extension Limits {
    /// A channel whose peer is out of reach is kept so long: a node that moved comes back without a
    /// handshake.
    public static let unreachableTime = Duration.seconds(60)
}

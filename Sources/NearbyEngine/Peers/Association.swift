import NearbyCore
import NearbyWire

/// The open channel with a peer, whatever path its frames take, the session over it, and when both
/// are renewed or given up.
final class Association: Timed {
    enum Input {
        /// The neighbour over which its frames leave from now on; nil: there is no way to it.
        case nextHop(PeerID?)
        /// An invitation tries the channel on a link before it begins another.
        case resume(attempt: UInt16)
        case abandonResumption
        case deadlineReached(isNeighbour: Bool)
    }

    enum Output: Equatable {
        case session(SessionMachine.Output)
        /// The peer did not answer on the link where this attempt tried it.
        case resumptionFailed(attempt: UInt16)
        /// Begin a handshake beside the channel.
        case renewKeys
        /// Find out over the mesh whether the peer is there.
        case probe
        /// It was out of reach, or silent, for too long.
        case giveUp
    }

    private struct Resumption {
        var attempt: UInt16
        var until: Instant
    }

    let peer: PeerID
    let channel: PeerChannel
    /// What the peer said of itself.
    let terms: AdmitFrame
    let openedAt: Instant
    /// Addresses at which it was asked whether it answers.
    var probes = PathProbes()
    private var session = SessionMachine() { didSet { timers.touch(place) } }
    private var resumption: Resumption? { didSet { timers.touch(place) } }
    /// The neighbour over which its frames left last.
    private var firstHop: PeerID?
    /// Links that its last message crossed.
    private var hops: Int?
    /// Since when the peer is neither a neighbour nor routed to.
    private var unreachableSince: Instant? { didSet { timers.touch(place) } }
    /// When the client of the channel begins a new one beside it; from the first time on every
    /// `rekeyRetry`, which grows.
    private var rekeyAt: Instant { didSet { timers.touch(place) } }
    private var isRenewing = false
    private var rekeyRetry = Limits.rekeyRetry
    /// When to see whether a peer that is no neighbour has been silent for long.
    private var silenceCheckAt: Instant { didSet { timers.touch(place) } }
    /// Probes since it was heard last.
    private var silenceProbes = 0
    private let unreachableTime: Duration
    private let silenceMax: Duration
    private let place: NodeTimers.Place
    private let timers: NodeTimers

    init(
        _ channel: PeerChannel, with peer: PeerID, _ terms: AdmitFrame, firstHop: PeerID? = nil,
        instead previous: Association? = nil, rekeyAt: Instant,
        application: ApplicationTerms? = nil, timers: NodeTimers, now: Instant
    ) {
        self.peer = peer
        self.channel = channel
        self.terms = terms
        self.firstHop = firstHop
        self.rekeyAt = rekeyAt
        resumption = previous?.resumption
        openedAt = now
        unreachableTime = application?.unreachableTime ?? Limits.unreachableTime
        silenceMax = application?.meshSilenceMax ?? Limits.meshSilenceMax
        silenceCheckAt = now + silenceMax
        self.timers = timers
        place = NodeTimers.Place(.association(peer))
        timers.begin(place, of: self)
    }

    deinit { timers.end(place) }

    /// It wants no attention any more.
    func end() { timers.end(place) }

    var token: ChannelToken { channel.token }

    /// The attempt that tries it on a link at present.
    var resumingAttempt: UInt16? { resumption?.attempt }

    var nextDeadline: Instant? {
        var earliest = min(rekeyAt, silenceCheckAt)
        if let since = unreachableSince { earliest = min(earliest, since + unreachableTime) }
        if let resumption { earliest = min(earliest, resumption.until) }
        return min(earliest, session.nextDeadline ?? .distantFuture)
    }

    func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .nextHop(let hop): return rerouted(hop, now)
        case .resume(let attempt):
            resumption = Resumption(attempt: attempt, until: now + Limits.resumptionTime)
            return []
        case .abandonResumption:
            resumption = nil
            return []
        case .deadlineReached(let isNeighbour): return deadlineReached(isNeighbour, now)
        }
    }

    /// What goes through the session; its own deadlines are among those of `handle` above.
    func handle(_ input: SessionMachine.Input, now: Instant) -> [SessionMachine.Output] {
        session.handle(input, now: now)
    }

    /// A message crossed so many links: whether the one before crossed as many.
    func crossedAsBefore(_ hops: Int) -> Bool {
        defer { self.hops = hops }
        return self.hops == hops
    }

    /// New keys are wanted, now or at this time.
    func renewKeys(from time: Instant) { if !isRenewing { rekeyAt = min(rekeyAt, time) } }

    /// The channel's keys have sealed as much as they should. The peer's word for it does not bring
    /// about more than a handshake a second.
    func keysWorn(now: Instant) { renewKeys(from: max(now, openedAt + Limits.rekeyRetry)) }

    /// Whole reliable messages that the peer may not have delivered, in order, for the association
    /// in place of this one.
    var unacknowledged: [[UInt8]] { session.unacknowledgedMessages }

    /// Bytes of reliable messages that the peer may not have yet.
    var queuedReliableBytes: Int { session.queuedReliableBytes }

    /// Whether it stays in place of a channel that began over the mesh at the same time as this one
    /// on a link: both sides keep the latter, in whatever order they were opened. Of two over the
    /// mesh, which both sides began, they keep that of the lower PeerID's client. Not one that the
    /// other side said it has lost (`renewedAt`): the new channel is our answer to that.
    func outlasts(_ new: PeerChannel, own: PeerID, renewedAt: Instant?, now: Instant) -> Bool {
        if let renewedAt, renewedAt >= openedAt { return false }
        guard channel.stage == .open, new.key.path.endpoint == nil,
            channel.peerTerms?.run == new.peerTerms?.run
        else { return false }
        if channel.key.path.endpoint != nil { return now - openedAt < Limits.invitationTimeout }
        return channel.isClient != new.isClient && channel.isClient == (own < peer)
            && now - openedAt < Limits.simultaneousOpenTime
    }

    /// The first hop is another one. What was measured on the old path says nothing of the new one.
    private func rerouted(_ hop: PeerID?, _ now: Instant) -> [Output] {
        guard let hop else {
            if unreachableSince == nil { unreachableSince = now }
            return []
        }
        unreachableSince = nil
        let previous = firstHop
        firstHop = hop
        guard let previous, previous != hop else { return [] }
        return tellSession(.pathReset, now)
    }

    private func tellSession(_ input: SessionMachine.Input, _ now: Instant) -> [Output] {
        session.handle(input, now: now).map { .session($0) }
    }

    private func deadlineReached(_ isNeighbour: Bool, _ now: Instant) -> [Output] {
        var outputs = tellSession(.deadlineReached, now)
        if let resumption, resumption.until <= now {
            self.resumption = nil
            outputs.append(.resumptionFailed(attempt: resumption.attempt))
        }
        if now >= rekeyAt, renewKeys(now) { outputs.append(.renewKeys) }
        if now >= silenceCheckAt { outputs += checkSilence(isNeighbour, now) }
        if let since = unreachableSince, now >= since + unreachableTime {
            outputs.append(.giveUp)
        }
        return outputs
    }

    /// Only the client of the channel begins. What got no answer within a second, then two and so
    /// on, is begun anew.
    private func renewKeys(_ now: Instant) -> Bool {
        guard channel.isClient else {
            rekeyAt = .distantFuture
            return false
        }
        isRenewing = true
        rekeyAt = now + rekeyRetry
        rekeyRetry = min(rekeyRetry * 2, Limits.rekeyRetryMax)
        return true
    }

    /// A peer that is no neighbour and silent is asked whether it is there, and given up if it does
    /// not answer.
    private func checkSilence(_ isNeighbour: Bool, _ now: Instant) -> [Output] {
        silenceCheckAt = now + min(Limits.meshProbeInterval, silenceMax)
        let due = channel.heardAt + silenceMax
        if isNeighbour || now < due {
            silenceProbes = 0
            silenceCheckAt = max(due, silenceCheckAt)
            return []
        }
        guard silenceProbes < Limits.meshProbesMax else { return [.giveUp] }
        silenceProbes += 1
        return [.probe]
    }
}

extension Limits {
    /// A channel whose peer is out of reach is kept so long: a node that moved comes back without a
    /// handshake.
    static let unreachableTime = Duration.seconds(60)
    /// Channels over the mesh that opened so close together may have been begun by both sides.
    static let simultaneousOpenTime = Duration.seconds(5)
    /// How long a peer may take to answer on a new link of an open channel.
    static let resumptionTime = Duration.milliseconds(500)
    /// Between attempts to renew the keys of a channel; doubles to the maximum.
    static let rekeyRetry = Duration.seconds(1)
    static let rekeyRetryMax = Duration.seconds(4)
    /// How long nothing may come over a channel through the mesh before its peer is asked.
    static let meshSilenceMax = Duration.seconds(120)
    static let meshProbeInterval = Duration.seconds(10)
    static let meshProbesMax = 3
}

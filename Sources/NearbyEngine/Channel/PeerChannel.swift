import NearbyCore
import NearbyWire

/// One attempt at, or one instance of, a channel between this node and a peer: from the first
/// handshake datagram until it is closed. `ChannelMachine` owns it and drives its handshake and its
/// admission; once it is open, `PeerMachine` says over which path it is used, and that another has
/// replaced it.
final class PeerChannel: Timed {
    enum Stage: Equatable {
        case handshaking
        case admitting
        /// Admitted and accepted.
        case open
        /// Another channel of the pair carries traffic; this one still opens what is under way.
        case closing(at: Instant)
    }

    /// How a handshake's datagrams are told from those of others.
    struct AttemptKey: Hashable {
        var path: Path
        /// The client's random number; nil for bare records.
        var attempt: UInt32?
        var isClient: Bool
    }

    let token: ChannelToken
    private(set) var key: AttemptKey
    /// The client's number in the tie-break.
    let attemptNumber: UInt16
    /// Whom we invited; proved or refused by the handshake.
    let expectedPeer: PeerID?
    let startedAt: Instant
    var stage = Stage.handshaking { didSet { timers.touch(place) } }
    /// When the last authentic frame came.
    var heardAt: Instant
    /// Of the newest frame with a numbered routing message: all of these are of one priority.
    var routingCounter: UInt64?
    /// A datagram of the other side has come.
    private(set) var isAnswered = false
    /// Its latest; at a server, the one with the cookie is the first.
    private var lastHeard: Instant
    /// Until the first sealed frame of the other side was opened.
    var handshake: (any SecureChannel)?
    var seal: FrameSeal?
    /// The exporter's bytes that proofs are bound to, until the admission begins.
    var binding: [UInt8] = []
    var admission: AdmissionMachine? { didSet { timers.touch(place) } }
    /// Known once the handshake is finished.
    var peer: PeerID?
    /// What its certificates say, where they count.
    var certification: Certification?
    /// What the peer said of itself, once it is admitted.
    var peerTerms: AdmitFrame?
    /// The way back, where no neighbour and no route is used: the path of the handshake.
    var path: Path
    private let place: NodeTimers.Place
    private let timers: NodeTimers

    init(
        token: ChannelToken, key: AttemptKey, attemptNumber: UInt16, expectedPeer: PeerID?,
        handshake: any SecureChannel, timers: NodeTimers, now: Instant
    ) {
        self.token = token
        self.key = key
        self.attemptNumber = attemptNumber
        self.expectedPeer = expectedPeer
        self.handshake = handshake
        startedAt = now
        lastHeard = now
        heardAt = now
        path = key.path
        self.timers = timers
        place = NodeTimers.Place(.channel(token))
        timers.begin(place, of: self)
    }

    deinit { timers.end(place) }

    /// It wants no attention any more.
    func end() { timers.end(place) }

    var isClient: Bool { key.isClient }

    /// Not yet open: an attempt.
    var isAttempt: Bool { stage == .handshaking || stage == .admitting }

    /// A datagram of the handshake came.
    func answered(_ now: Instant) {
        isAnswered = true
        lastHeard = now
        timers.touch(place)
    }

    /// The handshake goes on over another path: nothing has come back on this one.
    func move(to path: Path) {
        key.path = path
        self.path = path
    }

    /// When a handshake without keys is given up. A stranger's gets less than our own, and ours
    /// less once the other side has answered and is silent: it evicted us, or started anew, and
    /// only another attempt reaches it.
    var handshakeDeadline: Instant {
        let longest = isClient ? Limits.handshakeTimeout : Limits.inboundHandshakeTimeout
        let end = startedAt + longest
        return isClient && !isAnswered ? end : min(end, lastHeard + Limits.handshakeIdleTimeout)
    }

    var nextDeadline: Instant? {
        switch stage {
        case .handshaking:
            min(handshake?.nextDeadline ?? .distantFuture, handshakeDeadline)
        case .admitting: admission?.nextDeadline
        case .open: nil
        case .closing(let at): at
        }
    }
}

extension Limits {
    /// From the first flight to keys; a fresh attempt follows.
    public static let handshakeTimeout = Duration.seconds(20)
    /// How long a handshake waits for a first answer at one address before it tries others too.
    static let addressTimeout = Duration.milliseconds(250)
    /// Channels of any stage.
    static let channelsMax = 1_200
    /// How long a replaced channel still opens frames.
    static let replacedChannelTime = Duration.seconds(2)
}

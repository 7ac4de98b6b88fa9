import NearbyCore
import NearbyWire

/// The way that frames of a channel take.
enum Path: Hashable, Comparable {
    case link(Endpoint)
    /// Inside mesh packets to this node.
    case mesh(ShortID)

    /// A stable byte form for cookies.
    var bytes: [UInt8] {
        switch self {
        case .link(let endpoint): [1] + endpoint.address.bytes
        case .mesh(let node): [2] + PeerID(high: node.value, low: 0).bytes.prefix(8)
        }
    }

    var endpoint: Endpoint? { if case .link(let endpoint) = self { endpoint } else { nil } }
}

/// One attempt at, or one instance of, a channel between this node and a peer: from the first
/// handshake datagram until it is closed. `Node` owns it and drives it.
final class Channel {
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
    var stage = Stage.handshaking { didSet { timers.touch(.channel(token)) } }
    /// When the last authentic frame came.
    var heardAt: Instant
    /// Of the frame in hand, among those of its priority.
    var counterInHand: UInt64 = 0
    /// Of the newest frame with a numbered routing message: all of these are of one priority.
    var routingCounter: UInt64?
    /// A datagram of the other side has come.
    var isAnswered = false
    /// Its latest; at a server, the one with the cookie is the first.
    var lastHeard: Instant { didSet { timers.touch(.channel(token)) } }
    /// Until the first sealed frame of the other side was opened.
    var handshake: (any SecureChannel)?
    var seal: FrameSeal?
    var admission: AdmissionMachine? { didSet { timers.touch(.channel(token)) } }
    /// Known once the handshake is finished.
    var peer: PeerID?
    /// What the peer said of itself, once it is admitted.
    var peerTerms: AdmitFrame?
    /// The way back, where no neighbour and no route is used: the path of the handshake.
    var path: Path
    /// Challenges that wait for their responses, at most `Limits.candidatesPerPeer`; oldest first.
    var challenges: [(token: UInt64, endpoint: Endpoint, sentAt: Instant)] = []
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
        timers.touch(.channel(token))
    }

    deinit { timers.touch(.channel(token)) }

    var isClient: Bool { key.isClient }

    /// The handshake goes on over another path: nothing has come back on this one.
    func move(to path: Path) {
        key.path = path
        self.path = path
    }

    /// When a handshake without keys is given up. A stranger's gets less than our own.
    var patienceEnd: Instant {
        isClient
            ? startedAt + Limits.handshakeTimeout
            : min(
                startedAt + Limits.inboundHandshakeTimeout,
                lastHeard + Limits.handshakeSilenceMax)
    }

    var nextDeadline: Instant? {
        switch stage {
        case .handshaking:
            min(handshake?.nextDeadline ?? .distantFuture, patienceEnd)
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
    static let addressPatience = Duration.milliseconds(250)
    /// Channels of any stage.
    public static let channelsMax = 1_200
    /// How long a replaced channel still opens frames.
    public static let replacedChannelTime = Duration.seconds(2)
}

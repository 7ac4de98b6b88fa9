import NearbyCore

/// Our own seqno (RFC 8966 §3.2.2): it grows when somebody asks for a newer one (§3.8.1.2). It is
/// never stored: neighbours tell a restarted node the highest that they know, and it goes on above.
struct OwnSeqno: Sendable {
    enum Raise: Equatable, Sendable {
        /// We are there already, or made a leap just now: then who wants it asks again.
        case unchanged
        case postponed(until: Instant)
        case raised
    }

    private(set) var value: UInt32
    /// What this run began with, or went on with above an earlier run's: no seqno of this run lies
    /// outside of `first`…`value`.
    private var first: UInt32
    /// Until then it stays, so that nobody can make us flood the mesh; then it goes to `wanted`,
    /// the newest that was wanted meanwhile. Nothing is wanted before it was raised once.
    private var raiseFrom: Instant?
    private var wanted: UInt32?
    /// Until then it makes no leap.
    private var leapFrom: Instant?

    /// - Parameter first: random, so that what others still know of an earlier run is told from
    ///   what they know of this one.
    init(first: UInt32) {
        self.first = first
        value = first
    }

    /// Goes on at a seqno that others know or want, wherever on the circle it lies.
    mutating func raise(to seqno: UInt32, now: Instant) -> Raise {
        guard !value.isAtLeast(seqno) else { return .unchanged }
        if let raiseFrom, now < raiseFrom {
            if wanted.map({ seqno.isNewer(than: $0) }) ?? true { wanted = seqno }
            return .postponed(until: raiseFrom)
        }
        if seqno &- value > Limits.seqnoRaiseMax {
            if let leapFrom, now < leapFrom { return .unchanged }
            leapFrom = now + Limits.leapInterval
        }
        value = seqno
        raiseFrom = now + Limits.raiseInterval
        return .raised
    }

    /// What was wanted in the pause after the last time.
    mutating func raiseIfWanted(now: Instant) -> Raise {
        guard let seqno = wanted else { return .unchanged }
        if let raiseFrom, now < raiseFrom { return .postponed(until: raiseFrom) }
        wanted = nil
        return raise(to: seqno, now: now)
    }

    /// A neighbour knows this one of us: ours is to be above it.
    mutating func goAbove(_ seqno: UInt32, now: Instant) -> Raise {
        if seqno == value { return raise(to: seqno &+ 1, now: now) }
        guard !value.isAtLeast(seqno) else { return .unchanged }
        let raise = raise(to: seqno &+ 1, now: now)
        if raise == .raised { first = value }
        return raise
    }

    /// Whether whoever knows it knew us before a restart.
    func isOfEarlierRun(_ seqno: UInt32) -> Bool { seqno &- first > value &- first }
}

extension Limits {
    /// A request may raise our own seqno so far at any time; further only once in a `leapInterval`.
    /// More than two runs of one node differ at their start.
    static let seqnoRaiseMax: UInt32 = 1 << 25
    /// Between two raises of our own seqno.
    static let raiseInterval = Duration.milliseconds(200)
}

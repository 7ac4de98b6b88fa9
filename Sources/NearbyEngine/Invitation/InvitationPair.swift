import NearbyCore

/// What goes on between this node and one other.
struct InvitationPair: Sendable, Hashable {
    struct SightedRun: Sendable, Hashable {
        var run: RunID
        var role: Role
        /// What it says that its route costs; nil: it has none.
        var costToCollector: UInt16?
        /// What the best link to it costs while nothing is lost.
        var linkCost: UInt16 = 0
        /// The links that it was heard on, if they are such that a node wants somebody on each.
        var links: [LinkID] = []

        /// What the way to a collector over it would cost; nil: there is none.
        var wayToCollector: UInt32? { costToCollector.map { UInt32($0) + UInt32(linkCost) } }
    }

    struct KnownChannel: Sendable, Hashable {
        var token: ChannelToken
        var run: RunID
        /// The client's number.
        var attempt: UInt16
        var weAreClient: Bool
        /// Over which it was opened.
        var link: LinkID?

        /// Whether this channel stays in use beside another of the same two runs: by rules that
        /// both sides compute alike, in whatever order the channels were admitted. The lower
        /// PeerID's client goes first; of one client the later attempt.
        func outranks(_ other: KnownChannel, isClientPreferred: Bool) -> Bool {
            guard run == other.run else { return false }
            guard weAreClient == other.weAreClient else { return weAreClient == isClientPreferred }
            return Int16(bitPattern: attempt &- other.attempt) > 0
        }
    }

    enum Answer: Sendable, Hashable {
        case awaited(until: Instant)
        case came
        /// Somebody else may have the place; it is still welcome.
        case overdue
    }

    enum State: Sendable, Hashable {
        case idle
        case inviting(attempt: UInt16, Answer)
        /// The lower one was told; it has until then.
        case nudging(until: Instant, sentAt: Instant)
        /// Discovery's limits held the nudge back; it is tried again then.
        case nudgeHeldBack(until: Instant)
        /// It did not: we invite.
        case overdue
        case backingOff(until: Instant, after: Setback)
    }

    enum Setback: Sendable, Hashable {
        /// It could not be reached, or its channel was lost.
        case failure
        /// It has no place for us.
        case declined
        /// We have no place for it.
        case dropped
    }

    var sighting: SightedRun?
    var channel: KnownChannel?
    var state = State.idle
    var failures = 0
    /// Invitations and nudges since it was last admitted: which address is tried first.
    var tries: UInt16 = 0
    /// Handshakes in a row that it answered, and then no more.
    var silences = 0
    /// It nudged us.
    var wantsUs = false
    /// Between back-offs that its nudges ended.
    var wakePause = GrowingPause(first: Limits.wakePauseFirst, longest: Limits.wakePauseMax)
    /// Whether the connected peer has restarted.
    var suspicion = RestartSuspicion()

    var nextDeadline: Instant? {
        let ofState: Instant? =
            switch state {
            case .nudging(let until, _), .nudgeHeldBack(let until), .backingOff(let until, _),
                .inviting(_, .awaited(let until)):
                until
            case .idle, .inviting, .overdue: nil
            }
        guard let probed = suspicion.deadline else { return ofState }
        return min(probed, ofState ?? probed)
    }

    /// Nothing is known of it, and nothing goes on.
    var isForgettable: Bool { sighting == nil && channel == nil && state == .idle }

    var isInviting: Bool { if case .inviting = state { true } else { false } }

    /// Whether no answer has come in time: an old beacon may have been played back, or Avahi
    /// remembers a node that is switched off.
    var isUnanswered: Bool { if case .inviting(_, .overdue) = state { true } else { false } }

    var isDeclined: Bool { if case .backingOff(_, .declined) = state { true } else { false } }

    var isDropped: Bool { if case .backingOff(_, .dropped) = state { true } else { false } }

    /// Whether one of us was full for the other.
    var isRefused: Bool { sighting != nil && (isDeclined || isDropped) }

    /// On which it was heard; of one that was not, that of its channel.
    var links: [LinkID] { sighting?.links ?? channel?.link.map { [$0] } ?? [] }

    /// Known, and not just found unwilling or silent.
    var isAvailable: Bool {
        if case .backingOff = state { return false }
        return sighting != nil && !isUnanswered
    }

    /// For choosing: collectors are cheapest, those without a route dearest, and behind them those
    /// that fell silent again and again, who otherwise would hold their places for ever.
    var cost: UInt32 {
        if silences >= Limits.silencesTolerated { return .max }
        return sighting?.role == .collector ? 0 : (sighting?.wayToCollector ?? .max - 2) + 1
    }

    /// Somebody who says that it is the peer has begun: give it its time. Anybody can say so, and
    /// not put us off for ever.
    mutating func inboundSeen(_ now: Instant) {
        if case .nudging(let until, let sentAt) = state {
            let latest = sentAt + Limits.nudgeTimeout * 3
            let prolonged = max(until, min(now + Limits.nudgeTimeout, latest))
            state = .nudging(until: prolonged, sentAt: sentAt)
        }
    }

    mutating func progressed(_ attempt: UInt16) {
        if case .inviting(attempt, _) = state { state = .inviting(attempt: attempt, .came) }
    }

    mutating func declined(_ attempt: UInt16, until: Instant, _ now: Instant) {
        guard case .inviting(attempt, _) = state else { return }
        state = .backingOff(until: until, after: .declined)
        suspicion.dispel(now)
    }

    /// A program calls it: its wish does not wait for the end of a back-off.
    mutating func dialed() {
        guard case .backingOff = state, !isDeclined else { return }
        state = .idle
        failures = 0
    }

    /// Discovery has forgotten it.
    mutating func lost() {
        sighting = nil
        if state == .overdue { state = .idle }
    }

    mutating func deadlineReached(_ now: Instant) {
        switch state {
        case .backingOff(let until, _) where now >= until: state = .idle
        case .nudging(let until, _) where now >= until: state = sighting == nil ? .idle : .overdue
        case .nudgeHeldBack(let until) where now >= until: state = .idle
        case .inviting(let attempt, .awaited(let until)) where now >= until:
            state = .inviting(attempt: attempt, .overdue)
        default: break
        }
        guard suspicion.deadline ?? .distantFuture <= now else { return }
        suspicion.confirm()
        if case .backingOff = state { state = .idle }
    }
}

/// Whether a connected peer has restarted, of which another run was heard.
///
/// Beacons and nudges of an earlier run may be replayed for ever. So each suspicion is followed by
/// a pause, which grows until the peer has in fact restarted; a peer that restarts during the pause
/// is found by its silence.
struct RestartSuspicion: Sendable, Hashable {
    private enum State: Sendable, Hashable {
        case none
        /// The channel was asked; it has until then.
        case probing(until: Instant)
        /// It did not answer: another channel is to begin beside it.
        case confirmed
    }

    private var state = State.none
    private var pause = GrowingPause(
        first: Limits.restartPauseFirst, longest: Limits.restartPauseMax)

    /// When the channel's silence is an answer.
    var deadline: Instant? { if case .probing(let until) = state { until } else { nil } }

    var isConfirmed: Bool { state == .confirmed }

    func mayBegin(_ now: Instant) -> Bool { state == .none && pause.isOver(now) }

    mutating func begin(_ now: Instant) {
        state = .probing(until: now + Limits.restartTimeout)
    }

    mutating func confirm() { state = .confirmed }

    /// The channel answered, or another one began, or could not.
    mutating func dispel(_ now: Instant) {
        guard state != .none else { return }
        state = .none
        pause.begin(now)
    }
}

extension Limits {
    /// Handshakes in a row in which a peer fell silent, before others are preferred.
    static let silencesTolerated = 3
    /// A neighbour that still has our channel answers within this time, or it has restarted.
    static let restartTimeout = Duration.milliseconds(60)
    /// After a suspicion that a peer has restarted; doubles with each.
    static let restartPauseFirst = Duration.seconds(1)
    static let restartPauseMax = Duration.seconds(64)
    /// After a nudge that ended a back-off, until one may end another.
    static let wakePauseFirst = Duration.seconds(1)
    static let wakePauseMax = Duration.seconds(32)
}

/// A seeded generator that can be compared, for searches over states.
struct InvitationJitter: Sendable, Hashable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func duration(below limit: Duration) -> Duration {
        var generator = SeededGenerator(seed: state)
        state = generator.next()
        return generator.duration(in: .zero..<limit)
    }
}

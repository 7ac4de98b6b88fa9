import NearbyCore

/// What goes on between this node and one other.
struct InvitationPair: Sendable, Hashable {
    struct Sighting: Sendable, Hashable {
        var run: RunID
        var role: Role
        var costToCollector: UInt16?
    }

    struct Channel: Sendable, Hashable {
        var token: ChannelToken
        var run: RunID
        /// The client's number.
        var attempt: UInt16
        var weAreClient: Bool

        /// Whether this channel stays in use beside another of the same two runs: by rules that
        /// both sides compute alike, in whatever order the channels were admitted. The lower
        /// PeerID's client goes first; of one client the later attempt.
        func outranks(_ other: Channel, isClientPreferred: Bool) -> Bool {
            guard run == other.run else { return false }
            guard weAreClient == other.weAreClient else { return weAreClient == isClientPreferred }
            return Int16(bitPattern: attempt &- other.attempt) > 0
        }
    }

    enum State: Sendable, Hashable {
        case idle
        case inviting(attempt: UInt16, since: Instant)
        /// The lower one was told; it has until then.
        case nudging(until: Instant, sentAt: Instant)
        /// Discovery's limits held the nudge back; it is tried again then.
        case nudgeHeldBack(until: Instant)
        /// It did not: we invite.
        case overdue
        case resting(until: Instant)
    }

    var sighting: Sighting?
    var channel: Channel?
    var state = State.idle
    var failures = 0
    /// It nudged us.
    var wantsUs = false
    var isDeclined = false
    /// Another run of the connected peer was heard of.
    var suspectedRun: RunID?

    var nextDeadline: Instant? {
        switch state {
        case .nudging(let until, _), .nudgeHeldBack(let until), .resting(let until): until
        default: nil
        }
    }

    var isInviting: Bool { if case .inviting = state { true } else { false } }

    /// Known, and not just found unwilling.
    var isAvailable: Bool {
        if case .resting = state { return false }
        return sighting != nil
    }

    /// For choosing: collectors are cheapest, those without a way dearest.
    var cost: UInt32 {
        sighting?.role == .collector ? 0 : UInt32(sighting?.costToCollector ?? .max) + 1
    }

    /// Somebody who says that it is the peer has begun: give it its time.
    mutating func inboundSeen(_ now: Instant) {
        if case .nudging(let until, let sentAt) = state {
            state = .nudging(until: max(until, now + Limits.nudgePatience), sentAt: sentAt)
        }
    }

    mutating func progressed(_ attempt: UInt16, _ now: Instant) {
        if case .inviting(attempt, _) = state { state = .inviting(attempt: attempt, since: now) }
    }

    mutating func declined(_ attempt: UInt16, until: Instant) {
        guard case .inviting(attempt, _) = state else { return }
        state = .resting(until: until)
        isDeclined = true
    }
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

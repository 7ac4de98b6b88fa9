import NearbyCore

/// Invitations that are open: ours, and those of others.
struct InvitationTable: Sendable {
    /// One of ours.
    struct Own: Sendable {
        let number: UInt32
        let peer: PeerID
        let session: SessionNumber
        let context: [UInt8]
        let deadline: Instant
        var isSent = false
        /// The peer is still a member: said only if the peer no longer has that session.
        var isHeld = false
        /// It waits until then at most for a channel that others cannot read.
        var barredUntil: Instant?

        /// Nil: nobody waits for it.
        var overdueRefusal: GroupRefusal? {
            if isHeld { return nil }
            return barredUntil == nil ? .timedOut : .ended(.preference)
        }

        var dueAt: Instant { min(deadline, barredUntil ?? .distantFuture) }

        var cancelMessage: GroupOutput {
            .sendReliable(GroupMessage.cancel(invitation: number).bytes, to: peer)
        }
    }

    private struct Incoming: Sendable {
        var invite: GroupInvite
        var deadline: Instant
        /// What was said; the invitation is kept so that a copy of it gets the same answer.
        var answer: GroupAnswer?
    }

    /// At most one for each peer and session.
    private var own: [UInt32: Own] = [:]
    private var incoming: [InvitationID: Incoming] = [:]
    private var lastNumber: UInt32

    /// - Parameter number: random, so that answers to an earlier process's do not fit.
    init(after number: UInt32) { lastNumber = number }

    var ownCount: Int { own.count }

    /// Those that wait for an answer.
    var incomingCount: Int { incoming.values.count { $0.answer == nil } }

    var nextDeadline: Instant {
        min(
            own.values.map(\.dueAt).min() ?? .distantFuture,
            incoming.values.map(\.deadline).min() ?? .distantFuture)
    }

    // MARK: Ours

    /// Nil: there is no place, or one is open already.
    mutating func add(
        _ peer: PeerID, _ session: SessionNumber, _ context: [UInt8], until deadline: Instant,
        isHeld: Bool
    ) -> Own? {
        guard own.count < Limits.ownInvitationsMax, find(peer, session) == nil else { return nil }
        lastNumber &+= 1
        let invitation = Own(
            number: lastNumber, peer: peer, session: session, context: context, deadline: deadline,
            isHeld: isHeld)
        own[lastNumber] = invitation
        return invitation
    }

    func find(_ peer: PeerID, _ session: SessionNumber) -> Own? {
        own.values.first { $0.peer == peer && $0.session == session }
    }

    /// Whether an invitation of ours, or one that waits for our answer, is the peer's.
    func names(_ peer: PeerID) -> Bool {
        own.values.contains { $0.peer == peer }
            || incoming.contains { $0.key.peer == peer && $0.value.answer == nil }
    }

    func isFor(_ session: SessionNumber) -> Bool { own.values.contains { $0.session == session } }

    mutating func sent(_ invitation: Own) {
        own[invitation.number]?.isSent = true
        own[invitation.number]?.barredUntil = nil
    }

    /// The peer is a member for good, or it is one no more.
    mutating func dropHeld(_ peer: PeerID, _ session: SessionNumber) {
        if let held = find(peer, session), held.isHeld { own[held.number] = nil }
    }

    /// The one that is to be said now, if one was held.
    mutating func release(_ peer: PeerID, _ session: SessionNumber) -> Own? {
        guard let held = find(peer, session), held.isHeld else { return nil }
        own[held.number]?.isHeld = false
        return own[held.number]
    }

    /// - Returns: how long it waits: as it was told first.
    mutating func bar(_ invitation: Own, until time: Instant) -> Instant {
        let until = invitation.barredUntil ?? time
        own[invitation.number]?.barredUntil = until
        return until
    }

    /// The peer answered the invitation with this number.
    mutating func take(_ number: UInt32, from peer: PeerID) -> Own? {
        own[number]?.peer == peer ? own.removeValue(forKey: number) : nil
    }

    /// The one of this peer into this session.
    mutating func take(_ peer: PeerID, _ session: SessionNumber) -> Own? {
        find(peer, session).flatMap { own.removeValue(forKey: $0.number) }
    }

    mutating func takeAll(of session: SessionNumber) -> [Own] {
        take { $0.session == session }
    }

    mutating func takeOverdue(now: Instant) -> [Own] { take { $0.dueAt <= now } }

    private mutating func take(where isMeant: (Own) -> Bool) -> [Own] {
        let taken = own.values.filter(isMeant).sorted { $0.number < $1.number }
        for invitation in taken { own[invitation.number] = nil }
        return taken
    }

    /// What is to be said to a peer that has come into reach.
    func unsent(to peer: PeerID, now: Instant) -> [Own] {
        own.values.filter { $0.peer == peer && !$0.isSent && !$0.isHeld && $0.deadline > now }
            .sorted { $0.number < $1.number }
    }

    /// What was said on its channel may not have arrived.
    mutating func lost(_ peer: PeerID) {
        for (number, invitation) in own where invitation.peer == peer {
            own[number]?.isSent = false
        }
    }

    // MARK: Others'

    enum Arrival {
        case new(deadline: Instant)
        /// A copy of one that was answered already.
        case answered(GroupAnswer)
        case repeated
        case noPlace
    }

    mutating func arrived(_ id: InvitationID, _ invite: GroupInvite, now: Instant) -> Arrival {
        if let known = incoming[id], known.invite.session == invite.session,
            known.invite.context == invite.context
        {
            return known.answer.map(Arrival.answered) ?? .repeated
        }
        let ofPeer = incoming.count { $0.key.peer == id.peer && $0.value.answer == nil }
        guard incomingCount < Limits.invitationsMax, ofPeer < Limits.invitationsOfAPeerMax else {
            return .noPlace
        }
        if incoming.count >= 2 * Limits.invitationsMax { forgetAnswered() }
        let deadline = now + invite.timeout
        incoming[id] = Incoming(invite: invite, deadline: deadline)
        return .new(deadline: deadline)
    }

    /// The invitation, if it waits for an answer.
    func open(_ id: InvitationID) -> GroupInvite? {
        incoming[id].flatMap { $0.answer == nil ? $0.invite : nil }
    }

    /// It is remembered for a minute, for copies that are under way.
    mutating func answered(_ id: InvitationID, _ answer: GroupAnswer, now: Instant) {
        guard let deadline = incoming[id]?.deadline else { return }
        incoming[id]?.answer = answer
        incoming[id]?.deadline = min(deadline, now + Limits.answerMemory)
    }

    /// The one that is forgotten first anyway.
    private mutating func forgetAnswered() {
        let first = incoming.filter { $0.value.answer != nil }.min {
            ($0.value.deadline, $0.key.peer, $0.key.number)
                < ($1.value.deadline, $1.key.peer, $1.key.number)
        }
        if let first { incoming[first.key] = nil }
    }

    /// Returns whether it waited for an answer.
    mutating func withdrawn(_ id: InvitationID) -> Bool {
        incoming.removeValue(forKey: id).map { $0.answer == nil } ?? false
    }

    /// Those that waited for an answer.
    mutating func takeOverdueIncoming(now: Instant) -> [InvitationID] {
        let overdue = incoming.filter { $0.value.deadline <= now }
        for id in overdue.keys { incoming[id] = nil }
        return overdue.filter { $0.value.answer == nil }.map(\.key)
            .sorted { ($0.peer, $0.number) < ($1.peer, $1.number) }
    }
}

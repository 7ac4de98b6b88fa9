import NearbyCore
import NearbyWire

/// Sessions as groups: whom a member invites and who accepts is connected with all members.
///
/// There is no list that all agree on, and nobody who keeps it. Two sessions are connected when
/// each has said `connect` and `ready`. Then each tells the other who its members are, and the
/// other connects with those whom it does not have. So groups grow together, and what was parted
/// finds together again. The right to connect with a session is to know its name, which only
/// members have: whoever leaves takes a new one.
///
/// A peer is in a session once, with one session of its own. Peers are called through the node,
/// directly or over relays.
public struct GroupMachine: Sendable {
    public typealias Input = GroupInput
    public typealias Output = GroupOutput
    public typealias Event = GroupEvent

    let own: PeerID
    let verifier: any ProofVerifier
    var random: SeededGenerator
    var sessions = SessionTable()
    var invitations: InvitationTable
    /// Those that the node has a channel with.
    var peers = ReachTable()
    /// Of messages that are not whole yet.
    var parts = PartTable()
    /// Not later than the first deadline.
    private var wakeUp: Instant = .distantFuture

    public init(own: PeerID, verifier: any ProofVerifier, seed: UInt64) {
        self.own = own
        self.verifier = verifier
        random = SeededGenerator(seed: seed)
        invitations = InvitationTable(after: UInt32(truncatingIfNeeded: random.next()))
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .open(let number, let id, let terms):
            guard terms.identity?.isSendable ?? true else { return [.drop(.groupTooLong)] }
            return sessions.open(number, id, terms) ? [] : [.drop(.groupTableFull)]
        case .invite(let peer, let number, let context, let timeout):
            return invite(peer, into: number, context, timeout, now)
        case .answer(let id, let number): return answer(id, with: number, now)
        case .connect(let peer, let id, let number):
            return connect(to: peer, id, from: number, introducer: nil, now)
        case .cancel(let peer, let number): return cancel(peer, number)
        case .decide(let peer, let number, let isAccepted):
            return decided(peer, number, isAccepted, now)
        case .expel(let peer, let number): return end(peer, number, .left, nil)
        case .send(let bytes, let peers, let number, let isReliable):
            guard let session = sessions[number] else { return [.drop(.groupNotConnected)] }
            return peers.flatMap { session.send(bytes, to: $0, isReliable) }
        case .hold(let peer, let number, let isHeld):
            return sessions[number]?.hold(peer, isHeld) ?? []
        case .leave(let number, let name): return leave(number, renamed: name)
        case .close(let number): return leave(number, renamed: nil)
        case .reachable(let peer, let isEncrypted): return reachable(peer, isEncrypted, now)
        case .unreachable(let peer): return unreachable(peer, now)
        case .restarted(let peer, let isEncrypted):
            return unreachable(peer, now) + reachable(peer, isEncrypted, now)
        case .encryptionChanged(let peer, let isEncrypted): return rekeyed(peer, isEncrypted, now)
        case .received(let bytes, let peer, let isReliable):
            return received(bytes, from: peer, isReliable, now)
        case .deadlineReached: return deadlineReached(now)
        }
    }

    // MARK: Reading

    public var nextDeadline: Instant? { wakeUp == .distantFuture ? nil : wakeUp }

    /// What is to be known of sessions, as they are now.
    public var status: GroupStatus {
        GroupStatus(sessions: sessions, invitations: invitations)
    }

    // MARK: Reach

    /// Whether the session requires encryption, and the channel with the peer has none.
    func isBarred(_ peer: PeerID, _ number: SessionNumber) -> Bool {
        peers.isReadable(peer) && sessions[number]?.terms.preference == .required
    }

    private mutating func reachable(
        _ peer: PeerID, _ isEncrypted: Bool, _ now: Instant
    ) -> [Output] {
        guard peers.add(peer, isEncrypted: isEncrypted, now) else { return [] }
        var outputs = invitations.unsent(to: peer, now: now).flatMap { say($0, now) }
        for number in sessions.numbers where sessions[peer, number] != nil {
            outputs += approach(peer, number, now)
        }
        return outputs
    }

    /// What nobody but the peer may read is not said any more where others can, and what waited for
    /// that is said.
    private mutating func rekeyed(_ peer: PeerID, _ isEncrypted: Bool, _ now: Instant) -> [Output] {
        guard peers.change(peer, isEncrypted: isEncrypted) else { return [] }
        let barred = sessions.numbers.filter { isBarred(peer, $0) }
        return invitations.unsent(to: peer, now: now).flatMap { say($0, now) }
            + barred.flatMap { end(peer, $0, .preference, .ended(.preference)) }
    }

    /// Says `connect` to a member that can be reached.
    private mutating func approach(
        _ peer: PeerID, _ number: SessionNumber, _ now: Instant
    ) -> [Output] {
        guard !isBarred(peer, number) else {
            return end(peer, number, .preference, .ended(.preference))
        }
        var outputs: [Output] = []
        if case .lost? = sessions[peer, number]?.phase {
            begin(peer, number, now)
            outputs.append(.event(.state(peer, number, .connecting)))
        }
        return outputs + sayConnect(peer, number, isAnswer: false)
    }

    private mutating func unreachable(_ peer: PeerID, _ now: Instant) -> [Output] {
        guard peers.remove(peer) else { return [] }
        invitations.lost(peer)
        var outputs: [Output] = []
        for number in sessions.numbers {
            guard let was = sessions[peer, number],
                let deadline = sessions[peer, number]?.wentOutOfReach(now)
            else { continue }
            wake(at: deadline)
            guard was.isConnected else { continue }
            parts.forget(was.number)
            outputs.append(.event(.state(peer, number, .notConnected)))
            outputs.append(.dial(peer))
        }
        return outputs
    }

    // MARK: Deadlines

    mutating func wake(at deadline: Instant) { wakeUp = min(wakeUp, deadline) }

    private mutating func deadlineReached(_ now: Instant) -> [Output] {
        guard now >= wakeUp else { return [] }
        var outputs: [Output] = []
        for invitation in invitations.takeOverdue(now: now) {
            outputs += cancelled(invitation, invitation.overdueRefusal)
        }
        for id in invitations.takeOverdueIncoming(now: now) {
            outputs.append(.event(.withdrawn(id)))
        }
        for number in sessions.numbers {
            for (peer, member) in sessions[number]?.members.sorted(by: { $0.key < $1.key }) ?? []
            where member.deadline ?? .distantFuture <= now {
                outputs += overdue(peer, member, number, now)
            }
        }
        wakeUp = min(invitations.nextDeadline, sessions.nextDeadline)
        return outputs
    }

    private mutating func overdue(
        _ peer: PeerID, _ member: Member, _ number: SessionNumber, _ now: Instant
    ) -> [Output] {
        guard case .lost(let until) = member.phase else {
            return rest(peer, number, now) ?? end(peer, number, .timedOut, .timedOut)
        }
        guard until > now else {
            remove(peer, from: number)
            return []
        }
        sessions[peer, number]?.retryAt = nil
        return peers.isReachable(peer) ? approach(peer, number, now) : [.dial(peer)]
    }
}

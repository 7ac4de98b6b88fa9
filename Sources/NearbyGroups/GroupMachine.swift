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
    public typealias MemberState = GroupMemberState
    public typealias Refusal = GroupRefusal

    let own: PeerID
    let verifier: any ProofVerifier
    var random: SeededGenerator
    /// At most `Limits.sessionsMax`.
    var sessions: [SessionNumber: LocalSession] = [:]
    /// Ours, by their names.
    var names: [SessionID: SessionNumber] = [:]
    /// What is written before data for us: exactly one for each member of each session.
    var numbers: [UInt16: DataTarget] = [:]
    var invitations: InvitationTable
    /// Those that the node has a channel with.
    private var peers = ReachTable()
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
            guard sessions.count < Limits.sessionsMax, sessions[number] == nil, names[id] == nil
            else { return [.drop(.groupTableFull)] }
            guard terms.identity?.isSendable ?? true else { return [.drop(.groupTooLong)] }
            sessions[number] = LocalSession(number: number, id: id, terms: terms)
            names[id] = number
            return []
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
            return peers.flatMap { send(bytes, to: $0, number, isReliable) }
        case .leave(let number, let name): return leave(number, renamed: name)
        case .close(let number): return leave(number, renamed: nil)
        case .reachable(let peer, let isEncrypted): return reachable(peer, isEncrypted, now)
        case .unreachable(let peer): return unreachable(peer, now)
        case .restarted(let peer, let isEncrypted):
            return unreachable(peer, now) + reachable(peer, isEncrypted, now)
        case .received(let bytes, let peer, let isReliable):
            return received(bytes, from: peer, isReliable, now)
        case .deadlineReached: return deadlineReached(now)
        }
    }

    // MARK: Reading

    public var nextDeadline: Instant? { wakeUp == .distantFuture ? nil : wakeUp }

    /// The name that others connect with; nil: there is no such session.
    public func id(of number: SessionNumber) -> SessionID? { sessions[number]?.id }

    /// In the order of their PeerIDs.
    public func connected(in number: SessionNumber) -> [PeerID] {
        sessions[number]?.connected.map(\.peer) ?? []
    }

    /// What else is to be known of sessions, as they are now.
    public var status: GroupStatus {
        GroupStatus(sessions: sessions, numbers: numbers, invitations: invitations)
    }

    /// Every table with its size and its limit.
    public var tableSizes: [(name: String, count: Int, limit: Int)] {
        let most = sessions.values.map(\.members.count).max() ?? 0
        return [
            ("sessions", sessions.count, Limits.sessionsMax),
            ("members", most, Limits.sessionMembersMax),
            ("invitations", invitations.incomingCount, Limits.invitationsMax),
            ("own invitations", invitations.ownCount, Limits.ownInvitationsMax),
        ]
    }

    // MARK: Reach

    func isReachable(_ peer: PeerID) -> Bool { peers.isReachable(peer) }

    /// Whether the session requires encryption, and the channel with the peer has none.
    func isBarred(_ peer: PeerID, _ number: SessionNumber) -> Bool {
        peers.isReadable(peer) && sessions[number]?.terms.preference == .required
    }

    mutating func mayConnect(_ peer: PeerID, _ now: Instant) -> Bool {
        peers.mayConnect(peer, now)
    }

    private mutating func reachable(
        _ peer: PeerID, _ isEncrypted: Bool, _ now: Instant
    ) -> [Output] {
        guard peers.add(peer, isEncrypted: isEncrypted, now) else { return [] }
        var outputs = invitations.unsent(to: peer, now: now).flatMap { say($0, now) }
        for number in sessions.keys.sorted() where sessions[number]?.members[peer] != nil {
            outputs += approach(peer, number, now)
        }
        return outputs
    }

    /// Says `connect` to a member that can be reached.
    private mutating func approach(
        _ peer: PeerID, _ number: SessionNumber, _ now: Instant
    ) -> [Output] {
        guard !isBarred(peer, number) else {
            return end(peer, number, .preference, .ended(.preference))
        }
        var outputs: [Output] = []
        if case .lost? = sessions[number]?.members[peer]?.phase {
            begin(peer, number, now)
            outputs.append(.event(.state(peer, number, .connecting)))
        }
        return outputs + sayConnect(peer, number, isAnswer: false)
    }

    private mutating func unreachable(_ peer: PeerID, _ now: Instant) -> [Output] {
        guard peers.remove(peer) else { return [] }
        invitations.lost(peer)
        var outputs: [Output] = []
        for number in sessions.keys.sorted() {
            guard let member = sessions[number]?.members[peer] else { continue }
            if case .connecting(let connecting) = member.phase {
                // What was said so far may not have arrived.
                sessions[number]?.members[peer]?.phase = .connecting(
                    .init(deadline: connecting.deadline))
                wake(at: connecting.deadline)
            }
            guard member.isConnected else { continue }
            let until = now + Limits.lostMemberTime
            sessions[number]?.members[peer]?.phase = .lost(until: until)
            parts.forget(member.number)
            wake(at: until)
            outputs.append(.event(.state(peer, number, .notConnected)))
            outputs.append(.call(peer))
        }
        return outputs
    }

    // MARK: Deadlines

    mutating func wake(at deadline: Instant) { wakeUp = min(wakeUp, deadline) }

    private mutating func deadlineReached(_ now: Instant) -> [Output] {
        guard now >= wakeUp else { return [] }
        var outputs: [Output] = []
        for invitation in invitations.takeOverdue(now: now) {
            outputs += cancelled(invitation, .timedOut)
        }
        for id in invitations.takeOverdueIncoming(now: now) {
            outputs.append(.event(.withdrawn(id)))
        }
        for number in sessions.keys.sorted() {
            for (peer, member) in sessions[number]?.members.sorted(by: { $0.key < $1.key }) ?? []
            where member.deadline ?? .distantFuture <= now {
                outputs += overdue(peer, member, number, now)
            }
        }
        wakeUp = invitations.nextDeadline
        for session in sessions.values {
            for member in session.members.values { wake(at: member.deadline ?? .distantFuture) }
        }
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
        sessions[number]?.members[peer]?.retryAt = nil
        return isReachable(peer) ? approach(peer, number, now) : [.call(peer)]
    }
}

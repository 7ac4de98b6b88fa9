import NearbyCore
import NearbyWire

/// How two sessions connect and part.
extension GroupMachine {
    /// Begins to connect with a peer's session.
    mutating func connect(
        to peer: PeerID, _ theirs: SessionID, from number: SessionNumber, introducer: PeerID?,
        _ now: Instant
    ) -> [Output] {
        let (isPlaced, outputs) = place(
            GroupMember(peer: peer, session: theirs), in: number, introducer: introducer, now)
        guard isPlaced else {
            guard introducer == nil else { return outputs }
            let pair = SessionPair(from: sessions[number]?.id ?? theirs, to: theirs)
            let end = GroupMessage.end(pair, .full)
            return outputs + declined(by: peer, number, .noPlace)
                + [.sendReliable(end.bytes, to: peer)]
        }
        guard sessions[peer, number]?.isConnected == false else { return outputs }
        guard !isBarred(peer, number) else {
            return outputs + end(peer, number, .preference, .ended(.preference))
        }
        return outputs
            + (peers.isReachable(peer) ? sayConnect(peer, number, isAnswer: false) : [.dial(peer)])
    }

    /// Gives a peer's session a place among the members, from which it is connected.
    ///
    /// - Returns: whether it has one, and what the program is told.
    mutating func place(
        _ new: GroupMember, in number: SessionNumber, introducer: PeerID?, _ now: Instant
    ) -> (isPlaced: Bool, [Output]) {
        guard let session = sessions[number], new.peer != own else { return (false, []) }
        var outputs: [Output] = []
        if let known = session.members[new.peer] {
            if known.session == new.session {
                guard case .lost = known.phase else { return (true, []) }
                begin(new.peer, number, now)
                return (true, [.event(.state(new.peer, number, .connecting))])
            }
            // The peer's own word is newer than what was; others' word counts where it is lost.
            if case .lost = known.phase {
                remove(new.peer, from: number)
            } else if introducer == nil {
                outputs += end(new.peer, number, .left, nil)
            } else {
                return (false, [])
            }
        }
        guard sessions.add(new, to: number, introducer: introducer, now, using: &random) else {
            return (false, outputs + [.drop(.groupTableFull)])
        }
        begin(new.peer, number, now)
        return (true, outputs + [.event(.state(new.peer, number, .connecting))])
    }

    mutating func begin(_ peer: PeerID, _ number: SessionNumber, _ now: Instant) {
        let deadline = now + Limits.connectTime
        sessions[peer, number]?.phase = .connecting(.init(deadline: deadline))
        sessions[peer, number]?.retryAt = nil
        wake(at: deadline)
    }

    /// Somebody whom a member told of did not answer in time: it is tried again later. Nil: no
    /// more, or it was not told of.
    mutating func rest(_ peer: PeerID, _ number: SessionNumber, _ now: Instant) -> [Output]? {
        guard sessions[peer, number]?.rest(now) == true,
            let retryAt = sessions[peer, number]?.retryAt
        else { return nil }
        wake(at: retryAt)
        return [.event(.state(peer, number, .notConnected))]
    }

    mutating func remove(_ peer: PeerID, from number: SessionNumber) {
        invitations.dropHeld(peer, number)
        guard let member = sessions.remove(peer, from: number) else { return }
        parts.forget(member.number)
    }

    func sayConnect(_ peer: PeerID, _ number: SessionNumber, isAnswer: Bool) -> [Output] {
        let message = sessions[number]?.connectMessage(from: own, to: peer, isAnswer: isAnswer)
        return message.map { [.sendReliable($0.bytes, to: peer)] } ?? []
    }

    /// Tells both sides that it is over, and forgets the member.
    ///
    /// - Parameter refusal: what the program is told besides; nil: it wanted so.
    mutating func end(
        _ peer: PeerID, _ number: SessionNumber, _ reason: GroupEnd, _ refusal: GroupRefusal?
    ) -> [Output] {
        guard let session = sessions[number], let member = session.members[peer] else { return [] }
        remove(peer, from: number)
        var outputs: [Output] = []
        if peers.isReachable(peer) {
            let pair = SessionPair(from: session.id, to: member.session)
            outputs.append(.sendReliable(GroupMessage.end(pair, reason).bytes, to: peer))
        }
        if let refusal { outputs.append(.event(.declined(peer, number, refusal))) }
        if case .lost = member.phase { return outputs }
        return outputs + [.event(.state(peer, number, .notConnected))]
    }

    /// All members are told, and the session is empty; without a new name it is gone.
    mutating func leave(_ number: SessionNumber, renamed name: SessionID?) -> [Output] {
        guard let session = sessions[number] else { return [] }
        if let name, sessions.number(named: name) != nil { return [.drop(.groupUnexpected)] }
        var outputs: [Output] = []
        for invitation in invitations.takeAll(of: number) { outputs += cancelled(invitation, nil) }
        for peer in session.members.keys.sorted() { outputs += end(peer, number, .left, nil) }
        sessions.close(number, renamed: name)
        return outputs
    }

    // MARK: The other side

    mutating func connectReceived(
        _ connect: GroupConnect, from peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard peers.mayConnect(peer, now) else {
            return [.drop(.groupConnectRate)] + refuseBusily(connect, from: peer)
        }
        guard let number = sessions.number(named: connect.pair.to), let session = sessions[number]
        else {
            return [.drop(.groupUnknownSession), connect.refusal(.unknownSession, to: peer)]
        }
        let (isPlaced, placed) = place(
            GroupMember(peer: peer, session: connect.pair.from), in: number, introducer: nil, now)
        guard isPlaced else {
            return placed + [connect.refusal(.full, to: peer)]
        }
        guard EncryptionPreference.agreed(session.terms.preference, connect.preference) != nil,
            !isBarred(peer, number)
        else { return placed + end(peer, number, .preference, .ended(.preference)) }
        let answer = connect.isAnswer ? [] : sayConnect(peer, number, isAnswer: true)
        return placed + answer + judge(connect, from: peer, number)
    }

    /// With a message, so that nobody waits for an answer; a member that asks too often is removed.
    private mutating func refuseBusily(_ connect: GroupConnect, from peer: PeerID) -> [Output] {
        guard let (number, _) = sessions.member(named: connect.pair, of: peer) else {
            return [connect.refusal(.busy, to: peer)]
        }
        return end(peer, number, .busy, .ended(.busy))
    }

    /// What the other side shows for itself.
    private mutating func judge(
        _ connect: GroupConnect, from peer: PeerID, _ number: SessionNumber
    ) -> [Output] {
        guard let session = sessions[number], let member = session.members[peer] else { return [] }
        guard case .connecting(var connecting) = member.phase else {
            // It lost us, and we did not notice.
            sessions[peer, number]?.phase = .connected(theirNumber: connect.number)
            return sessions.sayReady(peer, number)
                + sessions.introduce(session.connected, in: number, to: peer)
        }
        let isKnown = connecting.theirNumber != nil
        connecting.theirNumber = connect.number
        if isKnown {
            // What it shows counts once.
            sessions[peer, number]?.phase = .connecting(connecting)
            return connecting.isAccepted ? sessions.sayReady(peer, number) : []
        }
        guard connect.isProved(from: peer, to: own, by: verifier) else {
            return end(peer, number, .certificate, .ended(.certificate))
        }
        guard session.terms.asksAboutCertificates else {
            return accept(peer, number, connecting)
        }
        connecting.isAsked = true
        sessions[peer, number]?.phase = .connecting(connecting)
        return [.event(.certificates(connect.credentials.certificates, of: peer, number))]
    }

    mutating func decided(
        _ peer: PeerID, _ number: SessionNumber, _ isAccepted: Bool, _ now: Instant
    ) -> [Output] {
        guard let member = sessions[peer, number],
            case .connecting(var connecting) = member.phase, connecting.isAsked
        else { return [] }
        guard isAccepted else { return end(peer, number, .certificate, .ended(.certificate)) }
        connecting.isAsked = false
        connecting.deadline = now + Limits.connectTime
        wake(at: connecting.deadline)
        return accept(peer, number, connecting)
    }

    private mutating func accept(
        _ peer: PeerID, _ number: SessionNumber, _ state: Member.Connecting
    ) -> [Output] {
        var state = state
        state.isAccepted = true
        sessions[peer, number]?.phase = .connecting(state)
        return sessions.sayReady(peer, number) + connectIfReady(peer, number)
    }

    mutating func readyReceived(_ pair: SessionPair, from peer: PeerID) -> [Output] {
        guard let (number, member) = sessions.member(named: pair, of: peer),
            case .connecting(var connecting) = member.phase
        else { return [] }
        connecting.isReady = true
        sessions[peer, number]?.phase = .connecting(connecting)
        return connectIfReady(peer, number)
    }

    private mutating func connectIfReady(_ peer: PeerID, _ number: SessionNumber) -> [Output] {
        let connected = sessions[number]?.connected ?? []
        guard peers.isReachable(peer), sessions[peer, number]?.connectIfAgreed() == true else {
            return []
        }
        invitations.dropHeld(peer, number)
        return [.event(.state(peer, number, .connected))]
            + sessions.introduce(connected, in: number, to: peer)
    }

    mutating func introduced(
        _ members: [GroupMember], _ pair: SessionPair, by peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard let (number, introducer) = sessions.member(named: pair, of: peer),
            introducer.isConnected
        else { return [.drop(.groupUnexpected)] }
        var outputs: [Output] = []
        for member in members where member.peer != own && member.peer != peer {
            if let known = sessions[member.peer, number],
                known.session == member.session || known.isConnected
            {
                continue
            }
            guard sessions[number]?.introducedCount(by: peer) ?? 0 < Limits.introducedMembersMax
            else { return outputs + [.drop(.groupTableFull)] }
            outputs += connect(
                to: member.peer, member.session, from: number, introducer: peer, now)
        }
        return outputs
    }

    mutating func endReceived(
        _ pair: SessionPair, _ reason: GroupEnd, from peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard let (number, member) = sessions.member(named: pair, of: peer) else { return [] }
        if reason == .timedOut, let outputs = rest(peer, number, now) { return outputs }
        let invitation = reason == .unknownSession ? invitations.release(peer, number) : nil
        remove(peer, from: number)
        guard let invitation else { return member.toldOfEnd(reason, peer, number) }
        return [.event(.state(peer, number, .notConnected))] + say(invitation, now)
    }
}

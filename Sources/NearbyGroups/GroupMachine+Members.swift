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
            let end = GroupMessage.end(
                SessionPair(from: id(of: number) ?? theirs, to: theirs), .full)
            return outputs + [
                .event(.declined(peer, number, .noPlace)),
                .sendReliable(end.bytes, to: peer),
            ] + notConnected(peer, number)
        }
        guard sessions[number]?.members[peer]?.isConnected == false else { return outputs }
        guard !isBarred(peer, number) else {
            return outputs + end(peer, number, .preference, .ended(.preference))
        }
        return outputs
            + (isReachable(peer) ? sayConnect(peer, number, isAnswer: false) : [.call(peer)])
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
        guard sessions[number]?.members.count ?? 0 < Limits.sessionMembersMax,
            let dataNumber = freeNumber()
        else { return (false, outputs + [.drop(.groupTableFull)]) }
        numbers[dataNumber] = DataTarget(session: number, peer: new.peer)
        sessions[number]?.members[new.peer] = Member(
            session: new.session, number: dataNumber, introducer: introducer,
            phase: .lost(until: now))
        begin(new.peer, number, now)
        return (true, outputs + [.event(.state(new.peer, number, .connecting))])
    }

    mutating func begin(_ peer: PeerID, _ number: SessionNumber, _ now: Instant) {
        let deadline = now + Limits.connectTime
        sessions[number]?.members[peer]?.phase = .connecting(.init(deadline: deadline))
        sessions[number]?.members[peer]?.retryAt = nil
        wake(at: deadline)
    }

    /// Somebody whom a member told of did not answer in time: it is tried again later. Nil: no
    /// more, or it was not told of.
    mutating func rest(_ peer: PeerID, _ number: SessionNumber, _ now: Instant) -> [Output]? {
        guard sessions[number]?.members[peer]?.rest(now) == true,
            let retryAt = sessions[number]?.members[peer]?.retryAt
        else { return nil }
        wake(at: retryAt)
        return [.event(.state(peer, number, .notConnected))]
    }

    private mutating func freeNumber() -> UInt16? {
        guard numbers.count < Int(UInt16.max) / 2 else { return nil }
        while true {
            let number = UInt16.random(in: 0...UInt16.max, using: &random)
            if numbers[number] == nil { return number }
        }
    }

    mutating func remove(_ peer: PeerID, from number: SessionNumber) {
        guard let member = sessions[number]?.members.removeValue(forKey: peer) else { return }
        numbers[member.number] = nil
        parts.forget(member.number)
    }

    func sayConnect(_ peer: PeerID, _ number: SessionNumber, isAnswer: Bool) -> [Output] {
        guard let session = sessions[number], let member = session.members[peer] else { return [] }
        let pair = SessionPair(from: session.id, to: member.session)
        let credentials = Credentials(of: session.terms.identity, from: own, to: peer, pair)
        let connect = GroupConnect(
            pair: pair, number: member.number, preference: session.terms.preference,
            isAnswer: isAnswer, credentials: credentials)
        return [.sendReliable(GroupMessage.connect(connect).bytes, to: peer)]
    }

    /// Tells both sides that it is over, and forgets the member.
    ///
    /// - Parameter refusal: what the program is told besides; nil: it wanted so.
    mutating func end(
        _ peer: PeerID, _ number: SessionNumber, _ reason: GroupEnd, _ refusal: Refusal?
    ) -> [Output] {
        guard let session = sessions[number], let member = session.members[peer] else { return [] }
        remove(peer, from: number)
        let pair = SessionPair(from: session.id, to: member.session)
        var outputs: [Output] = []
        if isReachable(peer) {
            outputs.append(.sendReliable(GroupMessage.end(pair, reason).bytes, to: peer))
        }
        if let refusal { outputs.append(.event(.declined(peer, number, refusal))) }
        if case .lost = member.phase { return outputs }
        return outputs + [.event(.state(peer, number, .notConnected))]
    }

    /// All members are told, and the session is empty; without a new name it is gone.
    mutating func leave(_ number: SessionNumber, renamed name: SessionID?) -> [Output] {
        guard let session = sessions[number] else { return [] }
        if let name, names[name] != nil { return [.drop(.groupUnexpected)] }
        var outputs: [Output] = []
        for invitation in invitations.takeAll(of: number) { outputs += cancelled(invitation, nil) }
        for peer in session.members.keys.sorted() { outputs += end(peer, number, .left, nil) }
        names[session.id] = nil
        sessions[number] = nil
        guard let name else { return outputs }
        sessions[number] = LocalSession(number: number, id: name, terms: session.terms)
        names[name] = number
        return outputs
    }

    // MARK: The other side

    mutating func connectReceived(
        _ connect: GroupConnect, from peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard mayConnect(peer, now) else { return [.drop(.groupConnectRate)] }
        guard let number = names[connect.pair.to], let session = sessions[number] else {
            return [.drop(.groupUnknownSession), sayEnd(connect.pair, .unknownSession, to: peer)]
        }
        let (isPlaced, placed) = place(
            GroupMember(peer: peer, session: connect.pair.from), in: number, introducer: nil, now)
        guard isPlaced else { return placed + [sayEnd(connect.pair, .full, to: peer)] }
        guard EncryptionPreference.agreed(session.terms.preference, connect.preference) != nil,
            !isBarred(peer, number)
        else { return placed + end(peer, number, .preference, .ended(.preference)) }
        let answer = connect.isAnswer ? [] : sayConnect(peer, number, isAnswer: true)
        return placed + answer + judge(connect, from: peer, number)
    }

    /// What the other side shows for itself.
    private mutating func judge(
        _ connect: GroupConnect, from peer: PeerID, _ number: SessionNumber
    ) -> [Output] {
        guard let session = sessions[number], let member = session.members[peer] else { return [] }
        guard case .connecting(var connecting) = member.phase else {
            // It lost us, and we did not notice.
            sessions[number]?.members[peer]?.phase = .connected(theirNumber: connect.number)
            return [sayReady(peer, number)].compactMap { $0 }
                + introduce(
                    session.connected, SessionPair(from: session.id, to: member.session), peer)
        }
        let isKnown = connecting.theirNumber != nil
        connecting.theirNumber = connect.number
        if isKnown {
            // What it shows counts once.
            sessions[number]?.members[peer]?.phase = .connecting(connecting)
            return connecting.isAccepted ? [sayReady(peer, number)].compactMap { $0 } : []
        }
        let credentials = connect.credentials
        if let certificate = credentials.certificates.first {
            let signed = Credentials.signedBytes(from: peer, to: own, connect.pair)
            guard verifier.isValid(credentials.proof, of: signed, by: certificate) else {
                return end(peer, number, .certificate, .ended(.certificate))
            }
        }
        guard session.terms.asksAboutCertificates else {
            return accept(peer, number, connecting)
        }
        connecting.isAsked = true
        sessions[number]?.members[peer]?.phase = .connecting(connecting)
        return [.event(.certificates(credentials.certificates, of: peer, number))]
    }

    mutating func decided(
        _ peer: PeerID, _ number: SessionNumber, _ isAccepted: Bool, _ now: Instant
    ) -> [Output] {
        guard let member = sessions[number]?.members[peer],
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
        sessions[number]?.members[peer]?.phase = .connecting(state)
        return [sayReady(peer, number)].compactMap { $0 } + connectIfReady(peer, number)
    }

    mutating func readyReceived(_ pair: SessionPair, from peer: PeerID) -> [Output] {
        guard let number = names[pair.to], let member = sessions[number]?.members[peer],
            member.session == pair.from, case .connecting(var connecting) = member.phase
        else { return [] }
        connecting.isReady = true
        sessions[number]?.members[peer]?.phase = .connecting(connecting)
        return connectIfReady(peer, number)
    }

    private mutating func connectIfReady(_ peer: PeerID, _ number: SessionNumber) -> [Output] {
        guard let session = sessions[number], let member = session.members[peer],
            case .connecting(let connecting) = member.phase, isReachable(peer),
            connecting.isAccepted, connecting.isReady, let theirNumber = connecting.theirNumber
        else { return [] }
        sessions[number]?.members[peer]?.phase = .connected(theirNumber: theirNumber)
        let pair = SessionPair(from: session.id, to: member.session)
        return [.event(.state(peer, number, .connected))] + introduce(session.connected, pair, peer)
    }

    /// Tells a new member of the others.
    private func introduce(
        _ others: [GroupMember], _ pair: SessionPair, _ peer: PeerID
    ) -> [Output] {
        stride(from: 0, to: others.count, by: Limits.introductionsMax).map { first in
            let part = Array(others[first..<min(first + Limits.introductionsMax, others.count)])
            return .sendReliable(GroupMessage.members(pair, part).bytes, to: peer)
        }
    }

    mutating func introduced(
        _ members: [GroupMember], _ pair: SessionPair, by peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard let number = names[pair.to], let introducer = sessions[number]?.members[peer],
            introducer.session == pair.from, introducer.isConnected
        else { return [.drop(.groupUnexpected)] }
        var outputs: [Output] = []
        for member in members where member.peer != own && member.peer != peer {
            if let known = sessions[number]?.members[member.peer],
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
        guard let number = names[pair.to], let member = sessions[number]?.members[peer],
            member.session == pair.from
        else { return [] }
        if reason == .timedOut, let outputs = rest(peer, number, now) { return outputs }
        remove(peer, from: number)
        if case .lost = member.phase { return [] }
        let isPlain = member.isConnected || reason == .left
        return (isPlain ? [] : [.event(.declined(peer, number, .ended(reason)))])
            + [.event(.state(peer, number, .notConnected))]
    }

    private func sayReady(_ peer: PeerID, _ number: SessionNumber) -> Output? {
        guard let session = sessions[number], let member = session.members[peer] else { return nil }
        let pair = SessionPair(from: session.id, to: member.session)
        return .sendReliable(GroupMessage.ready(pair).bytes, to: peer)
    }

    /// - Parameter pair: as the other side wrote it.
    private func sayEnd(_ pair: SessionPair, _ reason: GroupEnd, to peer: PeerID) -> Output {
        let back = SessionPair(from: pair.to, to: pair.from)
        return .sendReliable(GroupMessage.end(back, reason).bytes, to: peer)
    }
}

import NearbyCore
import NearbyWire

/// Inviting and being invited.
extension GroupMachine {
    mutating func invite(
        _ peer: PeerID, into number: SessionNumber, _ context: [UInt8], _ timeout: Duration,
        _ now: Instant
    ) -> [Output] {
        guard let session = sessions[number], peer != own else { return [] }
        // The one that is open stands: who invites whoever is not connected would never end.
        guard invitations.find(peer, number) == nil else { return [] }
        // Whoever is there, or about to be, is not asked, unless it has begun anew.
        let isHeld = session.members[peer].map { !$0.isLost } ?? false
        if !isHeld { remove(peer, from: number) }
        let wait = timeout > .zero ? min(timeout, Limits.invitationTimeMax) : Limits.invitationTime
        guard context.count <= Limits.contextBytesMax,
            let invitation = invitations.add(
                peer, number, context, until: now + wait, isHeld: isHeld)
        else { return isHeld ? [] : declined(by: peer, number, .noPlace) }
        wake(at: invitation.deadline)
        if isHeld { return [] }
        return peers.isReachable(peer) ? say(invitation, now) : [.dial(peer)]
    }

    /// The invitation itself, with the time that is left.
    mutating func say(_ invitation: InvitationTable.Own, _ now: Instant) -> [Output] {
        guard let session = sessions[invitation.session] else { return [] }
        guard !isBarred(invitation.peer, invitation.session) else {
            wake(at: invitations.bar(invitation, until: now + Limits.encryptionTime))
            return []
        }
        invitations.sent(invitation)
        let invite = GroupInvite(
            number: invitation.number, session: session.id, preference: session.terms.preference,
            timeout: max(invitation.deadline - now, .milliseconds(1)), context: invitation.context)
        return [.sendReliable(GroupMessage.invite(invite).bytes, to: invitation.peer)]
    }

    /// An invitation of ours, or a connection that is being made, is not wanted any more.
    mutating func cancel(_ peer: PeerID, _ number: SessionNumber) -> [Output] {
        if let taken = invitations.take(peer, number), !taken.isHeld {
            return cancelled(taken, nil)
        }
        guard let member = sessions[peer, number], !member.isConnected else { return [] }
        return end(peer, number, .left, nil)
    }

    /// It was taken out of the table.
    ///
    /// - Parameter refusal: what the program is told; nil: it wanted so.
    func cancelled(_ invitation: InvitationTable.Own, _ refusal: GroupRefusal?) -> [Output] {
        var outputs = invitation.isSent ? [invitation.cancelMessage] : []
        if let refusal {
            outputs.append(.event(.declined(invitation.peer, invitation.session, refusal)))
        }
        return outputs + notConnected(invitation.peer, invitation.session)
    }

    /// What came to nothing, unless the two found together otherwise.
    func notConnected(_ peer: PeerID, _ number: SessionNumber) -> [Output] {
        guard sessions[peer, number] == nil else { return [] }
        return [.event(.state(peer, number, .notConnected))]
    }

    // MARK: Being invited

    mutating func invited(_ invite: GroupInvite, by peer: PeerID, _ now: Instant) -> [Output] {
        let id = InvitationID(peer: peer, number: invite.number)
        switch invitations.arrived(id, invite, now: now) {
        case .new(let deadline):
            wake(at: deadline)
            return [.event(.invited(id, context: invite.context))]
        case .answered(let answer): return [say(answer, to: id)]
        case .repeated: return []
        case .noPlace: return [.drop(.groupTableFull), say(.refused(.full), to: id)]
        }
    }

    mutating func answer(
        _ id: InvitationID, with number: SessionNumber?, _ now: Instant
    ) -> [Output] {
        // It may have been withdrawn in the meantime.
        guard let invite = invitations.open(id) else { return [] }
        guard let number, let session = sessions[number] else {
            invitations.answered(id, .declined, now: now)
            return [say(.declined, to: id)]
        }
        let preference = session.terms.preference
        guard EncryptionPreference.agreed(preference, invite.preference) != nil,
            !isBarred(id.peer, number)
        else {
            invitations.answered(id, .refused(.preference), now: now)
            return [say(.refused(.preference), to: id)]
                + declined(by: id.peer, number, .ended(.preference))
        }
        // The inviter begins once it knows our session.
        let (isPlaced, outputs) = place(
            GroupMember(peer: id.peer, session: invite.session), in: number, introducer: nil, now)
        let answer: GroupAnswer = isPlaced ? .accepted(session.id) : .refused(.full)
        invitations.answered(id, answer, now: now)
        let told: [Output] = isPlaced ? [] : [.event(.declined(id.peer, number, .noPlace))]
        return outputs + told + [say(answer, to: id)]
    }

    private func say(_ answer: GroupAnswer, to id: InvitationID) -> Output {
        .sendReliable(GroupMessage.answer(invitation: id.number, answer).bytes, to: id.peer)
    }

    mutating func answered(
        _ answer: GroupAnswer, _ number: UInt32, by peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard let invitation = invitations.take(number, from: peer) else {
            return [.drop(.groupUnexpected)]
        }
        let session = invitation.session
        switch answer {
        case .accepted(let theirs):
            return connect(to: peer, theirs, from: session, introducer: nil, now)
        case .declined: return declined(by: peer, session, .declined)
        case .refused(let reason): return declined(by: peer, session, .ended(reason))
        }
    }

    func declined(
        by peer: PeerID, _ number: SessionNumber, _ refusal: GroupRefusal
    ) -> [Output] {
        [.event(.declined(peer, number, refusal))] + notConnected(peer, number)
    }

    mutating func withdrawn(_ number: UInt32, by peer: PeerID) -> [Output] {
        let id = InvitationID(peer: peer, number: number)
        return invitations.withdrawn(id) ? [.event(.withdrawn(id))] : []
    }
}

import NearbyCore

/// Sessions, members and invitations at one moment.
public struct GroupStatus: Sendable {
    let sessions: SessionTable
    let invitations: InvitationTable

    /// What data for this member of the session carry; nil: it is not connected.
    public func theirNumber(of peer: PeerID, in number: SessionNumber) -> UInt16? {
        guard case .connected(let theirs)? = sessions[peer, number]?.phase else {
            return nil
        }
        return theirs
    }

    /// Which session data from this peer are for, connected or about to be; nil: none.
    public func session(for number: UInt16, from peer: PeerID) -> SessionNumber? {
        guard let target = sessions.target(of: number), target.peer == peer else { return nil }
        return target.session
    }

    /// Whether an invitation of the session waits for the peer.
    public func isInviting(_ peer: PeerID, into number: SessionNumber) -> Bool {
        invitations.find(peer, number) != nil
    }

    /// Whether the peer has a place in the session: connected, connecting, or lost for now.
    public func isMember(_ peer: PeerID, of number: SessionNumber) -> Bool {
        sessions[peer, number] != nil
    }

    /// Whether a channel with the peer is of use to a session or an invitation.
    public func isInvolved(_ peer: PeerID) -> Bool {
        invitations.names(peer) || sessions.all.values.contains { $0.members[peer] != nil }
    }

    /// Whether the session has members, or waits for some.
    public func isActive(_ number: SessionNumber) -> Bool {
        sessions[number]?.members.isEmpty == false || invitations.isFor(number)
    }

    /// Whether an invitation waits for our answer.
    public var isAsked: Bool { invitations.incomingCount > 0 }

    /// The name that others connect with; nil: there is no such session.
    public func id(of number: SessionNumber) -> SessionID? { sessions[number]?.id }

    /// In the order of their PeerIDs.
    public func connected(in number: SessionNumber) -> [PeerID] {
        sessions[number]?.connected.map(\.peer) ?? []
    }

    /// Every table with its size and its limit.
    public var tableSizes: [(name: String, count: Int, limit: Int)] {
        let most = sessions.all.values.map(\.members.count).max() ?? 0
        return [
            ("sessions", sessions.count, Limits.sessionsMax),
            ("members", most, Limits.sessionMembersMax),
            ("invitations", invitations.incomingCount, Limits.invitationsMax),
            ("own invitations", invitations.ownCount, Limits.ownInvitationsMax),
        ]
    }
}

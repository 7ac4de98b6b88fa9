import NearbyCore

public enum GroupInput: Sendable {
    /// `id` is random, and of no earlier session.
    case open(SessionNumber, SessionID, SessionTerms)
    /// Waits for `timeout`; 30 s where it is not positive.
    case invite(PeerID, into: SessionNumber, context: [UInt8], timeout: Duration)
    /// The program's answer to an invitation; nil: declined.
    case answer(InvitationID, with: SessionNumber?)
    /// With what the peer handed over by other means.
    case connect(PeerID, SessionID, from: SessionNumber)
    /// An invitation, or a connection that is being made, is given up.
    case cancel(PeerID, SessionNumber)
    /// The program's word about certificates that it was asked about.
    case decide(PeerID, SessionNumber, isAccepted: Bool)
    /// A member is parted with, connected or not.
    case expel(PeerID, SessionNumber)
    case send([UInt8], to: [PeerID], SessionNumber, isReliable: Bool)
    /// Whether a member is to keep its reliable messages back.
    case hold(PeerID, SessionNumber, Bool)
    /// The session goes on, empty and under a new name.
    case leave(SessionNumber, renamed: SessionID)
    case close(SessionNumber)
    /// The node has a channel with the peer, or none any more. Over one that can be read by others
    /// no session connects that requires encryption.
    case reachable(PeerID, isEncrypted: Bool = true)
    case unreachable(PeerID)
    /// Another run of the peer has the channel.
    case restarted(PeerID, isEncrypted: Bool = true)
    /// The same run has another channel.
    case encryptionChanged(PeerID, isEncrypted: Bool)
    case received([UInt8], from: PeerID, isReliable: Bool)
    case deadlineReached
}

public enum GroupOutput: Equatable, Sendable {
    case sendReliable([UInt8], to: PeerID)
    case sendUnreliable([UInt8], to: PeerID)
    /// A channel with this peer is wanted.
    case dial(PeerID)
    case event(GroupEvent)
    case drop(DropReason)
}

/// For the program.
public enum GroupEvent: Equatable, Sendable {
    case state(PeerID, SessionNumber, GroupMemberState)
    case invited(InvitationID, context: [UInt8])
    /// Its time is over, or the inviter thought better of it.
    case withdrawn(InvitationID)
    case declined(PeerID, SessionNumber, GroupRefusal)
    /// Its certificates are to be judged: `decide` wants to know.
    case certificates([[UInt8]], of: PeerID, SessionNumber)
    case message([UInt8], from: PeerID, SessionNumber, isReliable: Bool)
    /// A member's program is slow: no more reliable messages for it, or again.
    case held(PeerID, SessionNumber, Bool)
}

public enum GroupMemberState: Equatable, Sendable { case notConnected, connecting, connected }

/// Why an invitation, or a connection, came to nothing.
public enum GroupRefusal: Equatable, Sendable {
    case declined
    case timedOut
    case ended(GroupEnd)
    /// One of our tables has no place.
    case noPlace
}

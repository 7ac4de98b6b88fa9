import NearbyCore

/// Names a session of one peer to others: 64 random bits. Whoever knows them was told by a member,
/// and may join.
public struct SessionID: Hashable, Comparable, Sendable {
    public let value: UInt64

    public init(value: UInt64) { self.value = value }

    public static func < (left: SessionID, right: SessionID) -> Bool { left.value < right.value }
}

/// Names a session within its own process.
public struct SessionNumber: Hashable, Comparable, Sendable {
    public let value: UInt32

    public init(value: UInt32) { self.value = value }

    public static func < (left: SessionNumber, right: SessionNumber) -> Bool {
        left.value < right.value
    }
}

/// Names an invitation: who sent it, and its number with the sender.
public struct InvitationID: Hashable, Sendable {
    public let peer: PeerID
    public let number: UInt32

    public init(peer: PeerID, number: UInt32) {
        self.peer = peer
        self.number = number
    }
}

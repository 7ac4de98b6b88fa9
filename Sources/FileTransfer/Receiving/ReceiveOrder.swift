import Nearby

/// Which files are received, and where they go.
public struct ReceiveOrder: Sendable {
    public var folder: String
    /// Names or PeerIDs of senders; empty: all.
    public var senders: [String]
    public var overwrites: Bool
    /// Ends with the first file that is stored.
    public var once: Bool
    public var service: Service

    public init(
        folder: String, senders: [String], overwrites: Bool, once: Bool, service: Service
    ) {
        self.folder = folder
        self.senders = senders
        self.overwrites = overwrites
        self.once = once
        self.service = service
    }

    func admits(_ peer: Peer) -> Bool {
        senders.isEmpty
            || senders.contains { $0 == peer.displayName || PeerID(text: $0) == peer.id }
    }
}

/// What happens at a receiver.
public enum ReceiveNews: Equatable, Sendable {
    /// So many bytes of it were there already.
    case began(name: String, from: Peer, byteCount: Int64, resumedAt: Int64)
    case stored(path: String, from: Peer, byteCount: Int64)
    /// The sender is gone; what came is kept for when it comes back.
    case brokenOff(name: String, from: Peer, completed: Int64, of: Int64)
    case failed(name: String, from: Peer, String)
    /// Somebody who may not send wanted to.
    case declined(Peer)
    case trouble(String)
}

/// A file that is on its way here.
public struct ActiveFile: Equatable, Sendable {
    public let name: String
    public let sender: String
    public let completed: Int64
    public let total: Int64

    public init(name: String, sender: String, completed: Int64, total: Int64) {
        self.name = name
        self.sender = sender
        self.completed = completed
        self.total = total
    }
}

import Nearby

/// What is to be sent, and to whom.
public struct SendOrder: Sendable {
    /// A path.
    public var file: String
    /// What the receiver sees.
    public var name: String
    /// A name or a PeerID.
    public var target: String
    public var service: Service
    /// How long the receiver may take: to be found, to answer, to come back, to go on.
    public var patience: Duration

    public init(
        file: String, name: String, target: String, service: Service, patience: Duration
    ) {
        self.file = file
        self.name = name
        self.target = target
        self.service = service
        self.patience = patience
    }
}

/// What happens while a file is sent.
public enum SendNews: Equatable, Sendable {
    /// Nobody of that name is there yet.
    case looking
    case asking(Peer)
    /// The receiver has so many bytes already.
    case resumed(Int64)
    /// Bytes that the receiver has.
    case progress(Int64, of: Int64)
    /// The receiver is gone; it is looked for.
    case brokenOff(String)
    /// Another receiver of the same name has come; the file goes on to the first one.
    case namesake(Peer, of: Peer)
}

/// What became of it.
public struct SentFile: Equatable, Sendable {
    public let receiver: Peer
    /// The receiver's name for the file.
    public let name: String
    public let byteCount: Int64
    /// Those that were on their way this time.
    public let sentByteCount: Int64
}

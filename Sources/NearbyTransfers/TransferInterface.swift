import NearbyCore

public enum TransferInput: Sendable {
    /// Opens the stream that `nextStream` named.
    case openStream(name: String, group: UInt16)
    /// What does not fit is not taken, and `wrote` says so.
    case write(StreamID, [UInt8])
    /// Half close: the peer's end comes behind all that was written.
    case finish(StreamID)
    /// Our own stream: what is on its way is thrown away.
    case reset(StreamID, TransferEnd)
    /// The peer's stream: no more of it is wanted.
    case stop(StreamID, TransferEnd)
    /// So many bytes of the peer's stream were used; the peer may send as many more.
    case consumed(StreamID, Int)

    /// Offers the resource that `nextResource` named.
    case offer(ResourceOffer)
    /// To another run of the peer, after `interrupted`, with its number for the session.
    case offerAgain(ResourceID, group: UInt16)
    /// The peer's resource is wanted from this byte on; what lies before is there already.
    case accept(ResourceID, from: Int64)
    /// Ends one of either side; a resource that was offered is refused so.
    case cancel(ResourceID, TransferEnd)
    /// Answers the oldest `read` that was not answered; the one that reaches the end comes with the
    /// hash of the whole.
    case data(ResourceID, [UInt8], sha256: [UInt8]?)
    case readFailed(ResourceID)
    /// Answers the oldest `write`.
    case written(ResourceID)
    case writeFailed(ResourceID)
    /// Answers `complete`.
    case verified(ResourceID, Bool)

    /// A message of the peer's, whole.
    case received([UInt8])
    /// The node has a channel with the same run of the peer, or none.
    case reachable
    case unreachable
    /// Messages take another path from now on.
    case pathChanged
    /// A message came, goes or is passed on: for `Limits.messageMemory` bursts are small, so that
    /// the next one does not wait for a long one.
    case messagePassed
    /// Another run of the peer has the channel; nothing of the earlier one arrives any more.
    case restarted
    /// Nobody has anything to do with the peer for now: everything ends, on both sides. Packets,
    /// streams and resources go on being numbered from where they are, because the peer's machine
    /// goes on, too.
    case endAll
    /// The peer is given up: everything ends, and the machine has done its work.
    case abandoned
    case deadlineReached
}

public enum TransferOutput: Equatable, Sendable {
    /// An unreliable message of at most `Limits.messageBytesMax` bytes.
    case send([UInt8], Priority)

    case opened(StreamID, name: String, group: UInt16)
    /// The next bytes of the peer's stream.
    case bytes(StreamID, [UInt8])
    /// The peer's stream: nothing follows. Our own: the peer has all of it.
    case ended(StreamID)
    /// Either side's stream is over before its end, and not because our program said so.
    case wasReset(StreamID, TransferEnd)
    /// Of what was to be written only so much had room.
    case wrote(StreamID, Int)
    /// After a write that did not fit: there is room again.
    case room(StreamID)

    case offered(ResourceID, ResourceOffer)
    /// The peer wants it from this byte on.
    case accepted(ResourceID, from: Int64)
    case read(ResourceID, offset: Int64, count: Int)
    case write(ResourceID, offset: Int64, [UInt8])
    /// All was written: does its hash agree?
    case complete(ResourceID, sha256: [UInt8])
    /// The peer has begun anew: `offerAgain`, when the session has its new number.
    case interrupted(ResourceID)
    /// Once for each resource, unless our program cancelled it. No answer to a `read` or `write` is
    /// wanted any more.
    case finished(ResourceID, TransferOutcome)

    case drop(DropReason)
}

/// Names a stream with one peer; never used again by the same machine.
public struct StreamID: Hashable, Comparable, Sendable {
    /// We opened it, and write.
    public let isOwn: Bool
    public let number: UInt64

    public init(isOwn: Bool, number: UInt64) {
        self.isOwn = isOwn
        self.number = number
    }

    public static func < (left: StreamID, right: StreamID) -> Bool {
        (left.isOwn ? 1 : 0, left.number) < (right.isOwn ? 1 : 0, right.number)
    }
}

/// Names a resource with one peer; never used again by the same machine.
public struct ResourceID: Hashable, Comparable, Sendable {
    /// We offered it.
    public let isOwn: Bool
    public let number: UInt64

    public init(isOwn: Bool, number: UInt64) {
        self.isOwn = isOwn
        self.number = number
    }

    public static func < (left: ResourceID, right: ResourceID) -> Bool {
        (left.isOwn ? 1 : 0, left.number) < (right.isOwn ? 1 : 0, right.number)
    }
}

/// What a sender says of a resource before its first byte.
public struct ResourceOffer: Hashable, Sendable {
    /// For the receiver's program: at most 255 bytes of UTF-8. It may hold anything, `../` too.
    public var name: String
    /// The receiver's number for the session.
    public var group: UInt16
    /// 0–2⁶²−1.
    public var byteCount: Int64
    /// 16 bytes that are the same whenever the same content is offered.
    public var key: [UInt8]

    public init(name: String, group: UInt16, byteCount: Int64, key: [UInt8]) {
        self.name = name
        self.group = group
        self.byteCount = byteCount
        self.key = key
    }

    var isLegal: Bool {
        name.utf8.count <= Limits.transferNameBytesMax && byteCount >= 0
            && UInt64(byteCount) < Limits.transferOffsetEnd
            && key.count == Limits.resourceKeyByteCount
    }
}

public enum TransferOutcome: Equatable, Sendable {
    /// The receiver has all of it, and the hash agreed.
    case success
    case failure(TransferEnd)
}

/// Why a stream or a resource ended before its time.
public enum TransferEnd: UInt8, Hashable, Sendable, CaseIterable {
    /// A program wanted so.
    case cancelled = 0
    /// A program did not want it at all.
    case refused = 1
    /// A table has no place.
    case full = 2
    /// The session that it was for is not there, or over.
    case unknownGroup = 3
    /// A file could not be read, or became shorter.
    case readFailed = 4
    /// A file could not be written.
    case writeFailed = 5
    /// It was more, or less, than was offered.
    case sizeMismatch = 6
    /// All arrived, and its hash is another.
    case digestMismatch = 7
    /// The other side did not keep to the rules.
    case violation = 8
    /// The other side has begun anew and knows nothing of it.
    case restarted = 9
    /// The peer was given up.
    case abandoned = 10
}

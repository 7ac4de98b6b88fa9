import NearbyCore
import NearbyWire

extension Limits {
    /// Streams open at once with one peer: ours, and as many of theirs.
    public static let streamsMax = 256
    /// Resources on their way at once with one peer: ours, and as many of theirs.
    public static let resourcesMax = 64
    /// Name of a stream or a resource, bytes of UTF-8.
    public static let transferNameBytesMax = 255
    static let resourceKeyByteCount = 16
    static let sha256ByteCount = 32
    /// Offsets and numbers stay below: sums of two of them fit.
    static let transferOffsetEnd = sessionNumberEnd

    /// What a program may write ahead of what the peer has, bytes.
    static let streamSendBytesMax = 512 << 10
    /// What a peer may send ahead of what our program used, bytes of one stream: at first, and
    /// where it is used up within two round trips.
    static let streamWindowBytes = 256 << 10
    static let streamWindowBytesMax = 1 << 20
    /// The same of all streams together.
    static let streamsWindowBytes = 8 << 20
    /// What of a resource is between reading and writing, on either side, bytes.
    static let resourceWindowBytes = 512 << 10
    /// The same of all resources together.
    static let resourcesWindowBytes = 4 << 20
    /// The most that one `read` asks for, and the least that is written at once, bytes.
    static let resourcePieceBytes = 64 << 10
    /// Pieces behind a gap that are kept, of one stream or resource.
    static let transferPiecesMax = 1_024

    /// Frames that wait to be sent, beside data; beyond that the peer may begin nothing new.
    static let transferFramesMax = 2_048
    /// Packets of streams that may pass packets of resources over, one after the other.
    static let bulkSkipsMax = 15
    /// Packets whose fate is awaited or remembered, of one priority.
    static let sentPacketsMax = 4_096
    /// How long bursts stay small after a message.
    public static let messageMemory = Duration.milliseconds(100)
    /// Ranges of packets that are told apart, of one priority, and those in one acknowledgement.
    static let packetRangesMax = 256
    /// Packets of one acknowledgement where they come fast, and the time between two of these.
    static let acknowledgedPacketsMax = 10
    static let acknowledgementGap = Duration.microseconds(200)
    /// How far behind a later packet one may come before it counts as lost: RFC 9002 §6.1.1, and
    /// what it may grow to on a path that reorders.
    static let reorderedPacketsMin: UInt64 = 3
    static let reorderedPacketsMax: UInt64 = 1_024
    /// Acknowledgements from which the delay of a round is told.
    static let delaySamplesMin = 8
    /// Packets of ours in a queue that are not worth a brake.
    static let queuedPacketsMin = 4
}

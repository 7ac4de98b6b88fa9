import NearbyCore

/// The first byte of every datagram, and of what a mesh packet holds, tells what it is.
public enum DatagramKind: Equatable, Sendable {
    /// A bare DTLS record (RFC 6347 §4.1): content types 20–63. `openssl s_client` speaks so.
    case record
    /// `HandshakeEnvelope`.
    case handshake
    /// `UnknownChannelHint`.
    case unknownChannel
    /// `EchoRequest` and `EchoAnswer`.
    case echo
    /// Beacon, answer, nudge, information request and reply.
    case discovery
    /// `SealedHeader`.
    case sealed
    case unknown(UInt8)

    public init(firstByte: UInt8) {
        switch firstByte {
        case 20...63: self = .record
        case HandshakeEnvelope.type: self = .handshake
        case UnknownChannelHint.type: self = .unknownChannel
        case EchoRequest.type, EchoAnswer.type: self = .echo
        case 0x60...0x6f: self = .discovery
        case 0x80...0xbf: self = .sealed
        default: self = .unknown(firstByte)
        }
    }
}

/// The first byte inside a sealed frame. Bit 7 marks end-to-end frames; the others belong to one
/// hop and count only on a link between the two.
public enum FrameKind: UInt8, CaseIterable, Sendable {
    // One hop.
    case liveness = 0x01
    case routing = 0x02
    case packet = 0x03
    case bundle = 0x04
    case empty = 0x05
    // The channel itself, on any path.
    case admit = 0x10
    case invite = 0x11
    case decision = 0x12
    case close = 0x13
    case pathChallenge = 0x14
    case pathResponse = 0x15
    // End to end.
    case message = 0xa0
    case segment = 0xa1
    case acknowledgement = 0xa2

    public enum Scope: Sendable { case hop, channel, endToEnd }

    public var scope: Scope {
        switch rawValue {
        case 0x00...0x0f: .hop
        case 0x80...: .endToEnd
        default: .channel
        }
    }
}

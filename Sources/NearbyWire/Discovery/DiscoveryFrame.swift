import NearbyCore

/// One datagram of discovery: outside every channel, so nothing in it is more than a hint.
///
///      0     1     2     3     4           12            28          36
///     +-----+-----+-----+-----+-----------+-------------+-----------+------+----------+
///     |kind |marks| low |high |network tag| sender's    | sender's  | body | proof    |
///     |     |     |     |     | (8)       | PeerID (16) | run (8)   |      | (0 or 8) |
///     +-----+-----+-----+-----+-----------+-------------+-----------+------+----------+
///
///     frame   = head body [proof]
///     kind    = %x60 beacon / %x61 answer / %x62 nudge / %x63 info request / %x64 info reply
///     marks   = bit 7: a proof follows the body; the others are zero and ignored
///     low, high = the wire versions that the sender speaks
///     nudge   = attempt (2)
///     request = digest (8) and zeros, 402 bytes in all, so that no reply is longer than its request
///     reply   = count (2) and so many bytes of DiscoveryInfo, 0–400
///     proof   = the first 8 bytes of an HMAC-SHA-256 over all bytes before it
///
/// Integers are big-endian. A beacon is at most 200 bytes; an answer has the beacon's form.
public struct DiscoveryFrame: Equatable, Sendable {
    public enum Body: Equatable, Sendable {
        /// To everybody on a link, or to a static peer.
        case beacon(Beacon)
        /// To the sender of a beacon.
        case answer(Beacon)
        /// "I want you": from the peer that must not invite, to the one that must.
        case nudge(attempt: UInt16)
        /// Asks for the info behind a digest.
        case infoRequest(digest: UInt64)
        case infoReply(DiscoveryInfo)
    }

    /// What the sender speaks; lowest to highest.
    public var versions: ClosedRange<UInt8>
    public var network: NetworkTag
    public var peer: PeerID
    public var run: RunID
    public var body: Body
    /// 8 bytes, big-endian; nil without a network secret.
    public var proof: UInt64?

    public init(
        versions: ClosedRange<UInt8>, network: NetworkTag, peer: PeerID, run: RunID, body: Body,
        proof: UInt64? = nil
    ) {
        self.versions = versions
        self.network = network
        self.peer = peer
        self.run = run
        self.body = body
        self.proof = proof
    }

    /// Takes a whole datagram. Throws `.unknownType` for another first byte; never traps.
    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        var head = ByteReader(bytes)
        let kind = try head.readUInt8()
        guard Self.kinds.contains(kind) else { throw .unknownType(kind) }
        let marks = try head.readUInt8()
        let lowest = try head.readUInt8()
        let highest = try head.readUInt8()
        guard lowest <= highest else {
            throw .unsupportedVersion(lowest: lowest, highest: highest)
        }
        versions = lowest...highest
        network = NetworkTag(value: try head.readUInt64())
        peer = try head.readPeerID()
        run = RunID(value: try head.readUInt64())
        var bodyReader = head
        proof = nil
        if marks & Self.proofMark != 0 {
            let bodyCount = head.remainingCount - Self.proofByteCount
            guard bodyCount >= 0 else {
                throw .truncated(needed: Self.proofByteCount, available: head.remainingCount)
            }
            bodyReader = ByteReader(try head.readBytes(bodyCount))
            proof = try head.readUInt64()
        }
        body = try Self.readBody(kind: kind, from: &bodyReader)
        try bodyReader.requireEnd()
    }

    /// The datagram, with the proof if there is one.
    public var bytes: [UInt8] {
        guard let proof else { return unproved(marks: 0).bytes }
        var writer = unproved(marks: Self.proofMark)
        writer.write(proof)
        return writer.bytes
    }

    /// What the sender's proof covers: all bytes before it. To send, set `proof` to the first 8
    /// bytes of the HMAC over this, then take `bytes`.
    public var signedBytes: [UInt8] { unproved(marks: Self.proofMark).bytes }

    /// What the proof of a received datagram covers: the bytes as they came, so that marks and
    /// padding unknown to this version are covered too. Nil if the datagram carries no proof.
    public static func signedPart(of datagram: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard datagram.count >= headByteCount + proofByteCount,
            datagram[datagram.startIndex + 1] & proofMark != 0
        else { return nil }
        return datagram.dropLast(proofByteCount)
    }

    /// The length of the datagram.
    public var byteCount: Int {
        let bodyByteCount =
            switch body {
            case .beacon(let beacon), .answer(let beacon): beacon.byteCount
            case .nudge: 2
            case .infoRequest: Self.infoBodyByteCount
            case .infoReply(let info): 2 + info.bytes.count
            }
        return Self.headByteCount + bodyByteCount + (proof == nil ? 0 : Self.proofByteCount)
    }

    /// First bytes of a discovery datagram.
    public static let kinds: ClosedRange<UInt8> = 0x60...0x64
    static let headByteCount = 36
    public static let proofByteCount = 8
    /// A beacon or an answer as a whole, proof included.
    public static let beaconBytesMax =
        headByteCount + 16 + Beacon.extensionBytesMax + proofByteCount

    private static let proofMark: UInt8 = 0x80
    /// The body of the largest reply, and of every request.
    private static let infoBodyByteCount = 2 + DiscoveryInfo.bytesMax

    private var kind: UInt8 {
        switch body {
        case .beacon: 0x60
        case .answer: 0x61
        case .nudge: 0x62
        case .infoRequest: 0x63
        case .infoReply: 0x64
        }
    }

    private static func readBody(kind: UInt8, from reader: inout ByteReader) throws(WireError)
        -> Body
    {
        switch kind {
        case 0x60: return .beacon(try Beacon(from: &reader))
        case 0x61: return .answer(try Beacon(from: &reader))
        case 0x62: return .nudge(attempt: try reader.readUInt16())
        case 0x63:
            let digest = try reader.readUInt64()
            _ = try reader.readBytes(infoBodyByteCount - 8)
            return .infoRequest(digest: digest)
        case 0x64:
            let count = Int(try reader.readUInt16())
            return .infoReply(try DiscoveryInfo(parsing: try reader.readBytes(count)))
        default: throw .unknownType(kind)
        }
    }

    private func unproved(marks: UInt8) -> ByteWriter {
        var writer = ByteWriter(reserving: byteCount)
        writer.write(kind)
        writer.write(marks)
        writer.write(versions.lowerBound)
        writer.write(versions.upperBound)
        writer.write(network.value)
        writer.write(peer)
        writer.write(run.value)
        switch body {
        case .beacon(let beacon), .answer(let beacon): beacon.emit(into: &writer)
        case .nudge(let attempt): writer.write(attempt)
        case .infoRequest(let digest):
            writer.write(digest)
            writer.write(contentsOf: repeatElement(0, count: Self.infoBodyByteCount - 8))
        case .infoReply(let info):
            writer.write(UInt16(truncatingIfNeeded: info.bytes.count))
            writer.write(contentsOf: info.bytes)
        }
        return writer
    }
}

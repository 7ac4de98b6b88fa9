import NearbyCore
import NearbyWire

/// Asks to connect two sessions, or answers that with the other side's half.
public struct GroupConnect: Hashable, Sendable {
    public var pair: SessionPair
    /// What the receiver writes before data for this session of the sender's.
    public var number: UInt16
    public var preference: EncryptionPreference
    /// It answers a `connect`: no other answer is wanted.
    public var isAnswer: Bool
    public var credentials: Credentials

    public init(
        pair: SessionPair, number: UInt16, preference: EncryptionPreference, isAnswer: Bool,
        credentials: Credentials
    ) {
        self.pair = pair
        self.number = number
        self.preference = preference
        self.isAnswer = isAnswer
        self.credentials = credentials
    }

    init(from reader: inout ByteReader) throws(WireError) {
        pair = try SessionPair(from: &reader)
        number = try reader.readUInt16()
        preference = try EncryptionPreference(from: &reader)
        isAnswer = try reader.readUInt8() & 1 == 1
        credentials = try Credentials(from: &reader)
    }

    func emit(into writer: inout ByteWriter) {
        pair.emit(into: &writer)
        writer.write(number)
        writer.write(preference.rawValue)
        writer.write(UInt8(isAnswer ? 1 : 0))
        credentials.emit(into: &writer)
    }
}

/// Certificates that vouch for a member, and its proof that they are its own.
public struct Credentials: Hashable, Sendable {
    /// DER, the member's own first; empty: it has none. At most 8, of 16 KiB together.
    public var certificates: [[UInt8]]
    /// The first certificate's signature under `signedBytes`; empty without certificates.
    public var proof: [UInt8]

    public static let none = Credentials(certificates: [], proof: [])

    public init(certificates: [[UInt8]], proof: [UInt8]) {
        self.certificates = certificates
        self.proof = proof
    }

    /// What a proof is made of: it serves for these two peers and sessions, in this direction.
    public static func signedBytes(from own: PeerID, to peer: PeerID, _ pair: SessionPair)
        -> [UInt8]
    {
        var writer = ByteWriter(reserving: 72)
        writer.write(contentsOf: "rivulet session member".utf8)
        writer.write(own)
        writer.write(peer)
        pair.emit(into: &writer)
        return writer.bytes
    }

    /// What an identity shows to a peer; nothing where its proof is none that others read.
    init(
        of identity: (any SessionIdentity)?, from own: PeerID, to peer: PeerID, _ pair: SessionPair
    ) {
        let proof = identity?.sign(Self.signedBytes(from: own, to: peer, pair)) ?? []
        let isShown = (1...Limits.proofBytesMax).contains(proof.count)
        certificates = isShown ? identity?.certificates ?? [] : []
        self.proof = isShown ? proof : []
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let count = Int(try reader.readUInt8())
        guard count <= Limits.certificatesMax else {
            throw .tooLong(limit: Limits.certificatesMax, actual: count)
        }
        certificates = []
        var left = Limits.certificateBytesMax
        for _ in 0..<count {
            let certificate = try reader.readCountedBytes(limit: left)
            left -= certificate.count
            certificates.append(Array(certificate))
        }
        proof = Array(try reader.readCountedBytes(limit: Limits.proofBytesMax))
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(UInt8(clamping: certificates.count))
        for certificate in certificates { writer.writeCounted(certificate) }
        writer.writeCounted(proof)
    }
}

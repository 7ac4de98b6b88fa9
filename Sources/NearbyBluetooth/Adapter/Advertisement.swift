import NearbyCore
import NearbyWire

/// What a node advertises over Bluetooth LE: that it is there, and how to connect to it. It proves
/// nothing; the beacon that follows over the channel does.
///
/// One AD structure (Core Specification Supplement A §1.11), which fills all 31 bytes of legacy
/// advertising. Integers of the structure itself are little-endian as Bluetooth has it, ours
/// big-endian as in all of our frames.
///
///     offset  bytes  field
///     0       1      length: 30
///     1       1      type: 0x21, service data with a UUID of 128 bits
///     2       16     UUID, least significant byte first
///     18      1      version: 0
///     19      4      network tag, its upper half
///     23      1      PSM of the L2CAP channel, 0x80–0xFF
///     24      6      PeerID, its first bytes
///     30      1      flags of versions to come: 0, ignored
struct Advertisement: Equatable, Sendable {
    var networkTag: UInt32
    /// 0x80–0xFF: LE's dynamic range.
    var psm: UInt8
    /// The PeerID's first 48 bits.
    var peerPrefix: UInt64

    /// Nil if the PSM is not dynamic.
    init?(networkTag: UInt32, psm: UInt8, peerPrefix: UInt64) {
        guard psm >= 0x80 else { return nil }
        self.networkTag = networkTag
        self.psm = psm
        self.peerPrefix = peerPrefix & 0xffff_ffff_ffff
    }

    /// Reads advertising data of anybody. Nil if it is not of our kind.
    ///
    /// Throws if it is broken: a structure longer than what is left, ours too short, a version or
    /// a PSM that cannot be.
    init?(parsing data: [UInt8]) throws(WireError) {
        var reader = ByteReader(data)
        while reader.remainingCount > 0 {
            let length = Int(try reader.readUInt8())
            // Zero ends the significant part (Core Specification vol. 3 part C §11).
            guard length > 0 else { return nil }
            var structure = ByteReader(try reader.readBytes(length))
            guard try structure.readUInt8() == Self.serviceData,
                structure.remainingCount >= Self.uuid.count,
                try structure.readBytes(Self.uuid.count).elementsEqual(Self.uuid)
            else { continue }
            self = try Self(body: &structure)
            return
        }
        return nil
    }

    /// What `init(parsing:)` reads; 31 bytes.
    var bytes: [UInt8] {
        var writer = ByteWriter(reserving: Self.byteCount)
        writer.write(UInt8(Self.byteCount - 1))
        writer.write(Self.serviceData)
        writer.write(contentsOf: Self.uuid)
        writer.write(Self.version)
        writer.write(networkTag)
        writer.write(psm)
        writer.write(peerPrefix, byteCount: 6)
        writer.write(UInt8(0))
        return writer.bytes
    }

    private init(body: inout ByteReader) throws(WireError) {
        let version = try body.readUInt8()
        guard version == Self.version else {
            throw .unsupportedVersion(lowest: version, highest: version)
        }
        networkTag = try body.readUInt32()
        psm = try body.readUInt8()
        peerPrefix = try body.readInteger(byteCount: 6)
        _ = try body.readUInt8()
        guard psm >= 0x80 else { throw .invalid(field: "psm") }
    }

    /// The UUID 7269766c-6574-4e62-8d1f-21c0a5e3b94d, least significant byte first.
    static let uuid: [UInt8] = [
        0x4d, 0xb9, 0xe3, 0xa5, 0xc0, 0x21, 0x1f, 0x8d, 0x62, 0x4e, 0x74, 0x65, 0x6c, 0x76, 0x69,
        0x72,
    ]
    /// AD type of service data with a UUID of 128 bits.
    static let serviceData: UInt8 = 0x21
    static let byteCount = 31
    private static let version: UInt8 = 0
}

extension Advertisement {
    /// The first 48 bits of a PeerID.
    static func prefix(of peer: PeerID) -> UInt64 { peer.high >> 16 }

    /// The upper half of a network's tag.
    static func tag(of network: NetworkTag) -> UInt32 {
        UInt32(truncatingIfNeeded: network.value >> 32)
    }
}

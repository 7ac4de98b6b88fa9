import NearbyCore
import NearbyWire

/// What a service's TXT record says of a node (RFC 6763 §6): at most 1,300 bytes of
///
///     record = *( length pair )        length: 1 byte, 1–255
///     pair   = key [ "=" value ]       key: printable ASCII without "=", case does not matter
///
/// | key       | value                                                    |
/// |-----------|----------------------------------------------------------|
/// | `txtvers` | `1`: the version of this table; first                    |
/// | `peer`    | the PeerID, 26 digits of base32, grouped as it is shown  |
/// | `port`    | the data port, equal to that of the SRV record           |
/// | `role`    | `agent`, `relay`, `collector` or `viewer`                |
/// | others    | the discovery info; a pair with one of the keys above is left out |
///
/// Nothing here is proved: whoever answers at the address has to. The first of equal keys counts
/// (RFC 6763 §6.4), unknown roles are those of versions to come, and a pair that is no discovery
/// info is skipped.
public struct ServiceRecord: Equatable, Sendable {
    public var peer: PeerID
    /// Nil: of a version to come.
    public var role: Role?
    /// 1–65,535.
    public var port: UInt16
    public var info: DiscoveryInfo

    public init(peer: PeerID, role: Role?, port: UInt16, info: DiscoveryInfo) {
        self.peer = peer
        self.role = role
        self.port = port
        self.info = info
    }

    /// Reads the whole record. Throws `.invalid` with the key that is missing or not what it must
    /// be, `.tooLong`, or `.truncated`.
    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        guard bytes.count <= Self.bytesMax else {
            throw .tooLong(limit: Self.bytesMax, actual: bytes.count)
        }
        var reader = ByteReader(bytes)
        var values: [String: String] = [:]
        var others: [(key: String, value: String)] = []
        while reader.remainingCount > 0 {
            let pair = try reader.readBytes(Int(try reader.readUInt8()))
            guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let key = Self.lowercased(pair[..<sign])
            let value = String(decoding: pair[(sign + 1)...], as: UTF8.self)
            guard values[key] == nil else { continue }
            values[key] = value
            if !Self.reserved.contains(key) { others.append((key, value)) }
        }
        guard values["txtvers"] == "1" else { throw .invalid(field: "txtvers") }
        guard let peer = values["peer"].flatMap(PeerID.init(text:)) else {
            throw .invalid(field: "peer")
        }
        guard let port = values["port"].flatMap({ UInt16($0) }), port > 0 else {
            throw .invalid(field: "port")
        }
        self.init(
            peer: peer, role: Role.allCases.first { $0.text == values["role"] }, port: port,
            info: Self.info(of: others))
    }

    /// The record in the form of RFC 6763 §6.1.
    public var bytes: [UInt8] {
        var pairs = [("txtvers", "1"), ("peer", peer.description), ("port", "\(port)")]
        if let role { pairs.append(("role", role.text)) }
        for (key, value) in info.pairs where !Self.reserved.contains(Self.lowercased(key.utf8[...]))
        {
            pairs.append((key, value))
        }
        var writer = ByteWriter()
        for (key, value) in pairs {
            writer.write(UInt8(clamping: key.utf8.count + 1 + value.utf8.count))
            writer.write(contentsOf: key.utf8)
            writer.write(UInt8(ascii: "="))
            writer.write(contentsOf: value.utf8)
        }
        return writer.bytes
    }

    /// RFC 6763 §6.2: what fits an Ethernet packet.
    public static let bytesMax = 1_300

    private static let reserved = ["txtvers", "peer", "port", "role"]

    /// What of it is discovery info; none at all where it is too much.
    private static func info(of pairs: [(key: String, value: String)]) -> DiscoveryInfo {
        let legal = pairs.filter { (try? DiscoveryInfo([$0])) != nil }
        return (try? DiscoveryInfo(legal)) ?? .empty
    }

    private static func lowercased(_ key: some Sequence<UInt8>) -> String {
        String(
            decoding: key.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension Role {
    /// As in the TXT record and in the configuration.
    var text: String { "\(self)" }
}

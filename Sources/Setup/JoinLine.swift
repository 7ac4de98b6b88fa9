import Configuration
import NearbyCore
import Spool

extension Limits {
    /// Collectors that a line names: as many as `collectors` of a configuration.
    static let joinCollectorsMax = 32
    static let joinAddressesMax = 8
    /// Bytes of a line's text, white space included.
    static let joinTextMax = 4_096
}

/// What the next board needs to join a network, as one line that people carry over: by hand, on a
/// card, or as a QR code. Whoever has it is let in.
///
///     rivulet1: and base32 (RFC 4648 §6) of { type (1) | length (1) | value } … | CRC-32C (4)
///
///     1    the network's name, 1–15 bytes; once
///     2    a secret, 16 bytes; 1–8 of them, the first is used, all are accepted
///     3    PeerID of a node that counts as a collector, 16 bytes; at most 32
///     4    where a node listens: IPv4 address (4) | port (2)
///     6    the same: IPv6 address (16) | port (2); at most 8 of both
///
/// Case, hyphens, white space, quotation marks and what is not ASCII do not matter: the checksum is
/// over the rest. Types from 128 on are passed over by those that do
/// not know them; below, they are not: what they say must not be missed.
public struct JoinLine: Hashable, Sendable {
    public var network: String
    /// 16 bytes each; at least one.
    public var secrets: [[UInt8]]
    public var collectors: [PeerID]
    /// IPv4 and IPv6 only.
    public var addresses: [TransportAddress]

    /// Why a text is no such line; never repeats the text.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case notALine
        case damaged
        case newer

        public var description: String {
            switch self {
            case .notALine:
                "this is not the line that joins a board: it begins with \(JoinLine.prefix); "
                    + "`rivulet init --show` prints it on a node of the network"
            case .damaged:
                "a character of the line is wrong or missing (the checksum does not fit); "
                    + "copy all of it again"
            case .newer:
                "the line is from a newer version of Rivulet; install that version here too"
            }
        }
    }

    public init(
        network: String, secrets: [[UInt8]], collectors: [PeerID] = [],
        addresses: [TransportAddress] = []
    ) {
        self.network = network
        self.secrets = Array(secrets.prefix(Secret.countMax))
        self.collectors = Array(collectors.prefix(Limits.joinCollectorsMax))
        self.addresses = Array(
            addresses.filter { Self.field($0) != nil }.prefix(Limits.joinAddressesMax))
    }

    static let prefix = PlainText.joinPrefix

    // MARK: Text

    public init(text: String) throws(Fault) {
        guard text.utf8.count <= Limits.joinTextMax else { throw .notALine }
        let bare = String(text.unicodeScalars.filter(Self.counts).map(Character.init))
        guard bare.prefix(Self.prefix.count).lowercased() == Self.prefix else {
            throw Self.isOfAnotherVersion(bare) ? .newer : .notALine
        }
        guard let bytes = Base32.bytes(bare.dropFirst(Self.prefix.count)) else { throw .damaged }
        try self.init(parsing: bytes)
    }

    /// Not what comes along when a line is copied: quotation marks, byte order marks, spaces.
    private static func counts(_ scalar: Unicode.Scalar) -> Bool {
        (0x21...0x7e).contains(scalar.value) && !"\"'`".unicodeScalars.contains(scalar)
    }

    /// `rivulet2:` and so on.
    private static func isOfAnotherVersion(_ text: String) -> Bool {
        let rest = text.lowercased().utf8.dropFirst("rivulet".utf8.count)
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        return text.lowercased().hasPrefix("rivulet") && !digits.isEmpty
            && rest.dropFirst(digits.count).first == UInt8(ascii: ":")
    }

    public var text: String { Self.prefix + Base32.text(bytes) }

    // MARK: Bytes

    public init(parsing bytes: [UInt8]) throws(Fault) {
        guard bytes.count >= 4 else { throw .damaged }
        let content = bytes.dropLast(4)
        let sum = bytes.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard sum == Checksum.crc32c(content) else { throw .damaged }
        self.init(network: "", secrets: [])
        var reader = ByteReader(content)
        while reader.remainingCount > 0 {
            let field: (type: UInt8, value: ArraySlice<UInt8>)
            do {
                let type = try reader.readUInt8()
                field = (type, try reader.readBytes(Int(try reader.readUInt8())))
            } catch {
                throw .damaged
            }
            try apply(field.type, Array(field.value))
        }
        guard !network.isEmpty, !secrets.isEmpty else { throw .damaged }
    }

    private mutating func apply(_ type: UInt8, _ value: [UInt8]) throws(Fault) {
        switch type {
        case 1:
            let name = String(decoding: value, as: UTF8.self)
            guard network.isEmpty, NetworkName.isValid(name) else { throw .damaged }
            network = name
        case 2:
            guard value.count == Secret.byteCount, secrets.count < Secret.countMax else {
                throw .damaged
            }
            secrets.append(value)
        case 3:
            guard let peer = PeerID(bytes: value), collectors.count < Limits.joinCollectorsMax
            else { throw .damaged }
            collectors.append(peer)
        case 4, 6:
            guard addresses.count < Limits.joinAddressesMax,
                let address = try? Self.address(type, value)
            else { throw .damaged }
            addresses.append(address)
        case 128...: break
        default: throw .newer
        }
    }

    public var bytes: [UInt8] {
        var fields: [(type: UInt8, value: [UInt8])] = [(1, Array(network.utf8))]
        fields += secrets.map { (2, $0) }
        fields += collectors.map { (3, $0.bytes) }
        fields += addresses.compactMap(Self.field)
        var writer = ByteWriter()
        for field in fields {
            writer.write(field.type)
            writer.write(UInt8(clamping: field.value.count))
            writer.write(contentsOf: field.value)
        }
        writer.write(Checksum.crc32c(writer.bytes))
        return writer.bytes
    }

    private static func field(_ address: TransportAddress) -> (type: UInt8, value: [UInt8])? {
        switch address {
        // The stable form of an address begins with this very type.
        case .ipv4, .ipv6: address.bytes.first.map { ($0, Array(address.bytes.dropFirst())) }
        case .bluetooth, .simulated: nil
        }
    }

    private static func address(
        _ type: UInt8, _ value: [UInt8]
    ) throws(WireError) -> TransportAddress {
        var reader = ByteReader(value)
        let address: TransportAddress =
            type == 4
            ? .ipv4(address: try reader.readUInt32(), port: try reader.readUInt16())
            : .ipv6(
                high: try reader.readUInt64(), low: try reader.readUInt64(),
                port: try reader.readUInt16())
        try reader.requireEnd()
        return address
    }
}

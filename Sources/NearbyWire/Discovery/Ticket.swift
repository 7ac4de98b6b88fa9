import NearbyCore

/// What lets one node find another without any discovery: a text to hand over, in print or by
/// hand. It opens no door: who uses it is admitted, or not, as ever.
///
///     version 1 (1) | network tag (8) | PeerID (16) | valid until, Unix seconds (varint)
///     | count (1) | { address (6 or 18) | … } | proof (8)
///     address = 4 (1) | IPv4 (4) | port (2), or 6 (1) | IPv6 (16) | port (2)
///
/// `proof` is the beginning of an HMAC over what precedes it, with a key of the network: a ticket
/// of another network, and one with a digit mistyped, is known by it. As text: `rivulet-` and
/// base32 in groups of eight.
public struct Ticket: Hashable, Sendable {
    public var network: NetworkTag
    public var peer: PeerID
    /// Seconds since 1970.
    public var validUntil: UInt64
    /// 1–8; IPv4 and IPv6 only.
    public var addresses: [TransportAddress]
    public var proof: UInt64

    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case notATicket
        case incomplete
        case version(UInt8)

        public var description: String {
            switch self {
            case .notATicket: "this is not a ticket: tickets begin with \(Ticket.prefix)"
            case .incomplete: "the ticket is damaged or not complete: copy all of it"
            case .version(let version):
                "the ticket has version \(version), which this program does not know, or a "
                    + "character is mistyped: copy it again; otherwise update Rivulet"
            }
        }
    }

    public init(
        network: NetworkTag, peer: PeerID, validUntil: UInt64, addresses: [TransportAddress],
        proof: UInt64 = 0
    ) {
        self.network = network
        self.peer = peer
        self.validUntil = validUntil
        self.addresses = Array(
            addresses.filter(Self.isInternet).prefix(Limits.ticketAddressesMax))
        self.proof = proof
    }

    // MARK: Text

    public init(text: String) throws(Fault) {
        let trimmed = text.drop { $0.isWhitespace }
        guard trimmed.prefix(Self.prefix.count).lowercased() == Self.prefix else {
            throw .notATicket
        }
        guard trimmed.utf8.count <= Limits.ticketTextMax,
            let bytes = Base32.bytes(trimmed.dropFirst(Self.prefix.count))
        else { throw .incomplete }
        if let version = bytes.first, version != Self.version { throw .version(version) }
        do { try self.init(parsing: bytes[...]) } catch { throw .incomplete }
    }

    public var text: String {
        let digits = Array(Base32.text(bytes))
        let groups = stride(from: 0, to: digits.count, by: 8).map {
            String(digits[$0..<min($0 + 8, digits.count)])
        }
        return Self.prefix + groups.joined(separator: "-")
    }

    // MARK: Bytes

    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        let version = try reader.readUInt8()
        guard version == Self.version else {
            throw .unsupportedVersion(lowest: version, highest: version)
        }
        network = NetworkTag(value: try reader.readUInt64())
        peer = PeerID(high: try reader.readUInt64(), low: try reader.readUInt64())
        validUntil = try reader.readVarint()
        let count = try reader.readUInt8()
        guard 1...Limits.ticketAddressesMax ~= Int(count) else {
            throw .invalid(field: "address count")
        }
        addresses = []
        for _ in 0..<count { addresses.append(try Self.readAddress(&reader)) }
        proof = try reader.readUInt64()
        try reader.requireEnd()
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(contentsOf: provedBytes)
        writer.write(proof)
        return writer.bytes
    }

    /// What the proof is over.
    public var provedBytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(network.value)
        writer.write(peer.high)
        writer.write(peer.low)
        writer.writeVarint(validUntil)
        writer.write(UInt8(clamping: addresses.count))
        for address in addresses { writer.write(contentsOf: address.bytes) }
        return writer.bytes
    }

    private static func readAddress(_ reader: inout ByteReader) throws(WireError)
        -> TransportAddress
    {
        switch try reader.readUInt8() {
        case 4: .ipv4(address: try reader.readUInt32(), port: try reader.readUInt16())
        case 6:
            .ipv6(
                high: try reader.readUInt64(), low: try reader.readUInt64(),
                port: try reader.readUInt16())
        default: throw .invalid(field: "address family")
        }
    }

    private static func isInternet(_ address: TransportAddress) -> Bool {
        switch address {
        case .ipv4, .ipv6: true
        case .bluetooth, .simulated: false
        }
    }

    public static let prefix = "rivulet-"
    private static let version: UInt8 = 1
}

extension Limits {
    static let ticketAddressesMax = 8
    /// Characters, white space included.
    static let ticketTextMax = 1_024
}

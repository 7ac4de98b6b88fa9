import NearbyCore

/// What a node says of itself to everybody on a link: the body of a beacon and of an answer.
///
///      0       1       2       3       4       5       6       7
///     +-------+-------+-------+-------+-------+-------+-------+
///     | data port     | role  | flags         | cost          |
///     +-------+-------+-------+-------+-------+-------+-------+-------+
///     | digest of the discovery info (8)                              |
///     +-------+-------------------------------------------------------+
///     | count | extensions: count bytes, 0–140                        |
///     +-------+-------------------------------------------------------+
///
///     beacon = port role flags cost digest count *OCTET
///
/// Sixteen bytes without extensions, and 60 as a whole frame with proof; 200 at most. Extensions
/// are a type (1), a length (1) and a value each; unknown ones are kept and ignored. `BeaconName`
/// is the only one, and only nodes of applications send it.
public struct Beacon: Equatable, Sendable {
    /// The UDP port that takes unicast and data; 0 where the link has no ports.
    public var dataPort: UInt16
    /// Claimed here, confirmed inside the channel.
    public var role: Role
    public var flags: BeaconFlags
    /// Metric of the route to the nearest collector; 0 for a collector itself, nil without a route.
    public var costToCollector: UInt16?
    /// `DiscoveryInfo.digest`; 0 for no info.
    public var infoDigest: UInt64
    /// At most `extensionBytesMax` bytes.
    public private(set) var extensions: [UInt8]

    public init(
        dataPort: UInt16, role: Role, flags: BeaconFlags, costToCollector: UInt16?,
        infoDigest: UInt64, name: BeaconName? = nil
    ) {
        self.dataPort = dataPort
        self.role = role
        self.flags = flags
        self.costToCollector = costToCollector == Self.noCost ? nil : costToCollector
        self.infoDigest = infoDigest
        extensions = name?.bytes ?? []
    }

    /// Reads one body; what follows it is the caller's.
    init(from reader: inout ByteReader) throws(WireError) {
        dataPort = try reader.readUInt16()
        guard let role = Role(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "role")
        }
        self.role = role
        flags = BeaconFlags(rawValue: try reader.readUInt16())
        let cost = try reader.readUInt16()
        costToCollector = cost == Self.noCost ? nil : cost
        infoDigest = try reader.readUInt64()
        let count = Int(try reader.readUInt8())
        guard count <= Self.extensionBytesMax else {
            throw .tooLong(limit: Self.extensionBytesMax, actual: count)
        }
        extensions = Array(try reader.readBytes(count))
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(dataPort)
        writer.write(role.rawValue)
        writer.write(flags.rawValue)
        writer.write(costToCollector ?? Self.noCost)
        writer.write(infoDigest)
        writer.write(UInt8(truncatingIfNeeded: extensions.count))
        writer.write(contentsOf: extensions)
    }

    var byteCount: Int { 16 + extensions.count }

    private static let noCost: UInt16 = 0xffff
    static let extensionBytesMax = 140
}

/// Hints in a beacon. None is believed beyond discovery: what matters is confirmed inside the
/// channel.
///
/// The encryption preference is two bits: none offers plain only, required encryption only,
/// optional both. Bits that this version does not know are kept and ignored.
public struct BeaconFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Looks for more neighbours.
    public static let wantsNeighbours = BeaconFlags(rawValue: 1 << 0)
    /// Accepts no more neighbours, but may make room for a peer that has no route.
    public static let full = BeaconFlags(rawValue: 1 << 1)
    /// Has a route to a collector, or is one.
    public static let hasRoute = BeaconFlags(rawValue: 1 << 2)
    public static let offersPlain = BeaconFlags(rawValue: 1 << 3)
    public static let offersEncryption = BeaconFlags(rawValue: 1 << 4)
    /// The last beacon of a run.
    public static let leaving = BeaconFlags(rawValue: 1 << 5)
    /// Not to be shown to people: it looks for others, or keeps sessions that it has.
    public static let hidden = BeaconFlags(rawValue: 1 << 6)
}

import NearbyCore

/// A datagram outside of all channels: who is here, and who wants whom.
///
///     type (1) | lowest version (1) | highest version (1) | network tag (8) | PeerID (16) | run id (8)
///     | data port (2) | body … | [proof (8)]
///
///     0x60 beacon, 0x61 answer: role (1) | flags (1) | cost to the collector (2) | info digest (8)
///     0x62 nudge:               attempt number (2)
///     0x63 info request:        zeros to the size of the largest reply
///     0x64 info reply:          info (counted)
///
/// The proof is the first 8 bytes of HMAC-SHA-256 with the beacon key over all before it; it is there where
/// the network has a secret. A reader without a secret takes a frame with or without.
public struct DiscoveryFrame: Hashable, Sendable {
    public enum Body: Hashable, Sendable {
        case beacon(Presence)
        /// To one address; never answered.
        case answer(Presence)
        /// "I want you; invite me."
        case nudge(attempt: UInt16)
        case infoRequest
        case infoReply(DiscoveryInfo)
    }

    /// What a beacon tells of its sender.
    public struct Presence: Hashable, Sendable {
        public var role: Role
        public var flags: Flags
        /// 0 for a collector itself, 0xffff where it knows no way.
        public var costToCollector: UInt16
        public var infoDigest: UInt64

        public init(role: Role, flags: Flags, costToCollector: UInt16, infoDigest: UInt64) {
            self.role = role
            self.flags = flags
            self.costToCollector = costToCollector
            self.infoDigest = infoDigest
        }
    }

    public struct Flags: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Has fewer neighbours than it wants.
        public static let wantsNeighbours = Flags(rawValue: 1)
        /// Accepts nobody now.
        public static let isFull = Flags(rawValue: 2)
    }

    public var versions: ClosedRange<UInt8>
    public var network: NetworkTag
    public var peer: PeerID
    public var run: RunID
    /// Where its data sockets listen.
    public var dataPort: UInt16
    public var body: Body

    public static let proofByteCount = 8
    /// A request is no smaller than the largest reply, so that nobody's address is worth forging.
    public static let infoRequestPadding = 470

    public init(
        versions: ClosedRange<UInt8> = WireVersion.spoken, network: NetworkTag, peer: PeerID,
        run: RunID, dataPort: UInt16, body: Body
    ) {
        self.versions = versions
        self.network = network
        self.peer = peer
        self.run = run
        self.dataPort = dataPort
        self.body = body
    }

    /// Reads all but the proof. `signedByteCount` is how much a proof covers; what follows is the proof, or
    /// nothing.
    public init(parsing bytes: ArraySlice<UInt8>, signedByteCount: inout Int) throws(WireError) {
        var reader = ByteReader(bytes)
        let type = try reader.readUInt8()
        let lowest = try reader.readUInt8()
        let highest = try reader.readUInt8()
        guard lowest > 0, lowest <= highest else { throw .invalid(field: "version range") }
        versions = lowest...highest
        network = NetworkTag(value: try reader.readUInt64())
        peer = try reader.readPeerID()
        run = RunID(value: try reader.readUInt64())
        dataPort = try reader.readUInt16()
        switch type {
        case 0x60: body = .beacon(try Presence(&reader))
        case 0x61: body = .answer(try Presence(&reader))
        case 0x62: body = .nudge(attempt: try reader.readUInt16())
        case 0x63:
            _ = try reader.readBytes(Self.infoRequestPadding)
            body = .infoRequest
        case 0x64:
            let raw = try reader.readCountedBytes(limit: Self.infoRequestPadding)
            body = .infoReply(try DiscoveryInfo(parsing: raw))
        default: throw .unknownType(type)
        }
        signedByteCount = reader.consumedCount
        guard reader.remainingCount == 0 || reader.remainingCount == Self.proofByteCount else {
            throw .trailing(count: reader.remainingCount)
        }
    }

    /// The bytes that a proof covers; the sender appends it.
    public var signedBytes: [UInt8] {
        var writer = ByteWriter(reserving: 64)
        writer.write(type)
        writer.write(versions.lowerBound)
        writer.write(versions.upperBound)
        writer.write(network.value)
        writer.write(peer)
        writer.write(run.value)
        writer.write(dataPort)
        switch body {
        case .beacon(let presence), .answer(let presence):
            writer.write(presence.role.rawValue)
            writer.write(presence.flags.rawValue)
            writer.write(presence.costToCollector)
            writer.write(presence.infoDigest)
        case .nudge(let attempt): writer.write(attempt)
        case .infoRequest:
            writer.write(contentsOf: [UInt8](repeating: 0, count: Self.infoRequestPadding))
        case .infoReply(let info): writer.writeCounted(info.bytes)
        }
        return writer.bytes
    }

    private var type: UInt8 {
        switch body {
        case .beacon: 0x60
        case .answer: 0x61
        case .nudge: 0x62
        case .infoRequest: 0x63
        case .infoReply: 0x64
        }
    }
}

extension DiscoveryFrame.Presence {
    fileprivate init(_ reader: inout ByteReader) throws(WireError) {
        guard let role = Role(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "role")
        }
        self.role = role
        flags = DiscoveryFrame.Flags(rawValue: try reader.readUInt8())
        costToCollector = try reader.readUInt16()
        infoDigest = try reader.readUInt64()
    }
}

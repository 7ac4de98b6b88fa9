import NearbyCore

/// What a node tells one neighbour about ways through the mesh: changes only, numbered and
/// acknowledged.
///
///     kind 0x02 (1) | number (varint, 0: needs no acknowledgement) | acknowledged number (varint, 0: none)
///     | { tag (1) | length (varint) | item }…
///
/// The first number to a neighbour is random, each next one greater by 1 (0 is left out): any other
/// number is that of a neighbour which lost the receiver for a while and knows nothing any more.
/// Items of unknown tags are skipped by length and counted.
public struct RoutingMessage: Hashable, Sendable {
    public enum Item: Hashable, Sendable {
        /// tag 1: destination (16) | seqno (4) | metric (2, 0xffff: no way) | flags (1, bit 0:
        /// collector, bit 1: viewer; others are ignored)
        case update(RouteUpdate)
        /// tag 2: destination (16) | seqno (4) | hop limit (1): a way at least so new is wanted
        /// (RFC 8966 §3.8.1.2). Destination 0: everything is to be told again (§3.8.1.1).
        case request(destination: PeerID, seqno: UInt32, hopLimit: UInt8)
        /// tag 3: seqno (4): the highest that the sender knows for the receiver, who goes on above.
        case known(seqno: UInt32)
    }

    public struct RouteUpdate: Hashable, Sendable {
        public var destination: PeerID
        public var seqno: UInt32
        public var metric: UInt16
        public var kind: DestinationKind

        public init(destination: PeerID, seqno: UInt32, metric: UInt16, kind: DestinationKind) {
            self.destination = destination
            self.seqno = seqno
            self.metric = metric
            self.kind = kind
        }
    }

    public var number: UInt32
    public var acknowledged: UInt32
    public var items: [Item]
    /// Items of tags that this version does not know.
    public var unknownCount = 0

    public static let metricInfinite: UInt16 = .max

    public init(number: UInt32, acknowledged: UInt32, items: [Item]) {
        self.number = number
        self.acknowledged = acknowledged
        self.items = items
    }

    /// Reads the body behind the kind.
    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        number = try Self.readNumber(&reader)
        acknowledged = try Self.readNumber(&reader)
        items = []
        while reader.remainingCount > 0 {
            let tag = try reader.readUInt8()
            var item = ByteReader(try reader.readCountedBytes(limit: Limits.datagramBytesMax))
            switch tag {
            case 1: items.append(.update(try RouteUpdate(&item)))
            case 2:
                items.append(
                    .request(
                        destination: try item.readPeerID(), seqno: try item.readUInt32(),
                        hopLimit: try item.readUInt8()))
            case 3: items.append(.known(seqno: try item.readUInt32()))
            default: unknownCount += 1
            }
        }
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 8 + items.count * 26)
        writer.write(FrameKind.routing.rawValue)
        writer.writeVarint(UInt64(number))
        writer.writeVarint(UInt64(acknowledged))
        for item in items {
            switch item {
            case .update(let update):
                writer.write(1 as UInt8)
                writer.writeVarint(23)
                writer.write(update.destination)
                writer.write(update.seqno)
                writer.write(update.metric)
                writer.write(update.kind.flags)
            case .request(let destination, let seqno, let hopLimit):
                writer.write(2 as UInt8)
                writer.writeVarint(21)
                writer.write(destination)
                writer.write(seqno)
                writer.write(hopLimit)
            case .known(let seqno):
                writer.write(3 as UInt8)
                writer.writeVarint(4)
                writer.write(seqno)
            }
        }
        return writer.bytes
    }

    /// An item's largest size, bytes.
    public static let itemByteCountMax = 25

    private static func readNumber(_ reader: inout ByteReader) throws(WireError) -> UInt32 {
        guard let number = UInt32(exactly: try reader.readVarint()) else {
            throw .invalid(field: "message number")
        }
        return number
    }
}

extension RoutingMessage.RouteUpdate {
    fileprivate init(_ reader: inout ByteReader) throws(WireError) {
        destination = try reader.readPeerID()
        seqno = try reader.readUInt32()
        metric = try reader.readUInt16()
        kind = DestinationKind(flags: try reader.readUInt8())
    }
}

/// What a destination is to those who have readings.
public enum DestinationKind: CaseIterable, Hashable, Sendable {
    /// Nobody addresses readings to it.
    case node
    case collector
    /// Gets copies. A way to it is no way to a collector.
    case viewer

    /// Who says that it is both gives receipts, so it is a collector.
    fileprivate init(flags: UInt8) {
        self = flags & 1 != 0 ? .collector : flags & 2 != 0 ? .viewer : .node
    }

    fileprivate var flags: UInt8 {
        switch self {
        case .node: 0
        case .collector: 1
        case .viewer: 2
        }
    }
}

/// Asks a neighbour for a sign of life, or gives one.
///
///     kind 0x01 (1) | what (1)
public enum LivenessFrame: UInt8, CaseIterable, Sendable {
    /// Nothing else was to be said for a second.
    case hello = 0
    /// Answer at once.
    case probe = 1
    case answer = 2

    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        guard let frame = LivenessFrame(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "liveness")
        }
        self = frame
    }

    public var bytes: [UInt8] { [FrameKind.liveness.rawValue, rawValue] }
}

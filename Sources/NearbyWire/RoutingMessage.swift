import NearbyCore

/// What a node tells one neighbour about routes through the mesh: changes only, numbered and
/// acknowledged.
///
///     kind 0x02 (1) | number (varint, 0: needs no acknowledgement) | acknowledged number (varint, 0: none)
///     | { tag (1) | length (varint) | item }…
///
/// The first number to a neighbour is random, each next one greater by 1 (0 is left out): any other
/// number is that of a neighbour which lost the receiver for a while and knows nothing any more.
/// Items of unknown tags are skipped by length and counted.
public struct RoutingMessage: Equatable, Sendable {
    public enum Item: Equatable, Sendable {
        /// tag 1: destination (16) | seqno (4) | metric (2, 0xffff: no way) | flags (1, bit 0:
        /// collector, bit 1: viewer; others are ignored)
        case update(RouteUpdate)
        /// tag 2: destination (16) | seqno (4) | hop limit (1): a route at least that new is wanted
        /// (RFC 8966 §3.8.1.2). Destination 0: everything is to be told again (§3.8.1.1).
        case request(destination: PeerID, seqno: UInt32, hopLimit: UInt8)
        /// tag 3: seqno (4): the highest that the sender knows for the receiver, who goes on above.
        case known(seqno: UInt32)
    }

    public struct RouteUpdate: Equatable, Sendable {
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
            switch Tag(rawValue: tag) {
            case .update: items.append(.update(try RouteUpdate(&item)))
            case .request:
                items.append(
                    .request(
                        destination: try item.readPeerID(), seqno: try item.readUInt32(),
                        hopLimit: try item.readUInt8()))
            case .known: items.append(.known(seqno: try item.readUInt32()))
            case nil: unknownCount += 1
            }
        }
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 8 + items.count * Self.itemByteCountMax)
        writer.write(FrameKind.routing.rawValue)
        writer.writeVarint(UInt64(number))
        writer.writeVarint(UInt64(acknowledged))
        for item in items {
            switch item {
            case .update(let update):
                writer.write(Tag.update.rawValue)
                writer.writeVarint(RouteUpdate.byteCount)
                writer.write(update.destination)
                writer.write(update.seqno)
                writer.write(update.metric)
                writer.write(update.kind.flags)
            case .request(let destination, let seqno, let hopLimit):
                writer.write(Tag.request.rawValue)
                writer.writeVarint(Self.requestByteCount)
                writer.write(destination)
                writer.write(seqno)
                writer.write(hopLimit)
            case .known(let seqno):
                writer.write(Tag.known.rawValue)
                writer.writeVarint(Self.knownByteCount)
                writer.write(seqno)
            }
        }
        return writer.bytes
    }

    /// An item's largest size, bytes: an update with its tag and its length.
    static let itemByteCountMax = Int(RouteUpdate.byteCount) + 2

    private enum Tag: UInt8 {
        case update = 1
        case request = 2
        case known = 3
    }

    /// Destination, seqno and hop limit.
    private static let requestByteCount: UInt64 = 16 + 4 + 1
    /// The seqno.
    private static let knownByteCount: UInt64 = 4

    private static func readNumber(_ reader: inout ByteReader) throws(WireError) -> UInt32 {
        guard let number = UInt32(exactly: try reader.readVarint()) else {
            throw .invalid(field: "message number")
        }
        return number
    }
}

extension RoutingMessage.RouteUpdate {
    /// Destination, seqno, metric and flags.
    fileprivate static let byteCount: UInt64 = 16 + 4 + 2 + 1

    fileprivate init(_ reader: inout ByteReader) throws(WireError) {
        destination = try reader.readPeerID()
        seqno = try reader.readUInt32()
        metric = try reader.readUInt16()
        kind = DestinationKind(flags: try reader.readUInt8())
    }
}

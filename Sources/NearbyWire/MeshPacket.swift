import NearbyCore

/// A datagram on its way through the mesh: relays look at this head and never into the inside.
///
///     version 4 bits, priority 4 bits (1) | hop limit (1) | source (8) | destination (8) | inside …
public struct MeshPacket: Equatable, Sendable {
    public var priority: Priority
    /// Relays that it may still pass.
    public var hopLimit: UInt8
    public var source: ShortID
    public var destination: ShortID
    /// A sealed frame or a handshake envelope.
    public var inside: ArraySlice<UInt8>

    public static let version: UInt8 = 1
    public static let headerByteCount = 18
    public static let hopLimitAtStart: UInt8 = 64

    public init(
        priority: Priority, hopLimit: UInt8 = hopLimitAtStart, source: ShortID,
        destination: ShortID, inside: ArraySlice<UInt8>
    ) {
        self.priority = priority
        self.hopLimit = hopLimit
        self.source = source
        self.destination = destination
        self.inside = inside
    }

    /// Reads the body behind the frame's kind; an empty inside is refused.
    public init(parsing body: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(body)
        let first = try reader.readUInt8()
        guard first >> 4 == Self.version else {
            throw .unsupportedVersion(lowest: first >> 4, highest: first >> 4)
        }
        guard let priority = Priority(rawValue: first & 0xf) else {
            throw .invalid(field: "priority")
        }
        self.priority = priority
        hopLimit = try reader.readUInt8()
        source = ShortID(value: try reader.readUInt64())
        destination = ShortID(value: try reader.readUInt64())
        guard reader.remainingCount > 0 else { throw .truncated(needed: 1, available: 0) }
        inside = reader.readRemaining()
    }

    public func emit(into writer: inout ByteWriter) {
        writer.write(Self.version << 4 | priority.rawValue)
        writer.write(hopLimit)
        writer.write(source.value)
        writer.write(destination.value)
        writer.write(contentsOf: inside)
    }

    /// The packet for the next relay; nil where the hop limit is used up. None goes further than
    /// one that begins with `hopLimitAtStart`.
    public func forwarded() -> MeshPacket? {
        guard hopLimit > 1 else { return nil }
        var packet = self
        packet.hopLimit = min(hopLimit, Self.hopLimitAtStart) - 1
        return packet
    }

    /// How many hops it has come, if it started with the usual limit.
    public var hopCount: Int {
        Int(Self.hopLimitAtStart) - Int(min(hopLimit, Self.hopLimitAtStart)) + 1
    }
}

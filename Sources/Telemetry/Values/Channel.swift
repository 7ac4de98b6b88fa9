import NearbyCore

extension Limits {
    /// A channel's name, bytes of UTF-8.
    public static let channelNameBytes = 1...63
    /// Channels that one run may name in all, retired ones included.
    public static let channelsPerRunMax = 1_024
}

/// What a channel measures: its name within the node, its unit, and the decimal exponent of the
/// integers that reports carry.
public struct ChannelDescription: Equatable, Sendable {
    /// 1–63 bytes of UTF-8 without ASCII control characters. Identifies the channel within its
    /// node.
    public let name: String
    public let unit: Unit
    /// −2 for a sensor that gives hundredths. Values that do not fit it are carried all the same,
    /// at the cost of a byte or two.
    public let scale: Int8

    /// Nil if the name is empty, too long, or holds control characters.
    public init?(name: String, unit: Unit = .none, scale: Int8 = 0) {
        guard Limits.channelNameBytes.contains(name.utf8.count), !name.hasControlCharacter else {
            return nil
        }
        self.name = name
        self.unit = unit
        self.scale = scale
    }
}

/// A channel of a run. Its number, name and unit never change, and numbers are never used again;
/// its scale stands from the first value on: while there are only nulls, a later birth may give it
/// another.
public struct Channel: Equatable, Sendable {
    /// 1…65535.
    public let number: UInt16
    public let description: ChannelDescription
    /// No more readings come; listed so that readings in flight can still be understood.
    public var isRetired: Bool

    public init(number: UInt16, description: ChannelDescription, isRetired: Bool = false) {
        self.number = number
        self.description = description
        self.isRetired = isRetired
    }

    public var name: String { description.name }
    public var unit: Unit { description.unit }
    public var scale: Int8 { description.scale }

    // Wire form, counted so that later versions may append to it:
    //     number varint · flags 1 (bit 0 retired) · scale 1, signed · name, unit: counted UTF-8 ·
    //     skipped

    static let bytesMax = 256

    init(parsing outer: inout ByteReader, skippedFields: inout Int) throws(WireError) {
        var reader = ByteReader(try outer.readCountedBytes(limit: Self.bytesMax))
        guard let number = UInt16(exactly: try reader.readVarint()), number > 0 else {
            throw .invalid(field: "channel number")
        }
        let flags = try reader.readUInt8()
        let scale = Int8(bitPattern: try reader.readUInt8())
        let name = try reader.readString(
            limit: Limits.channelNameBytes.upperBound, field: "channel name")
        let unitName = try reader.readString(limit: Limits.unitBytesMax, field: "unit")
        guard let unit = Unit(unitName) else { throw .invalid(field: "unit") }
        guard let description = ChannelDescription(name: name, unit: unit, scale: scale) else {
            throw .invalid(field: "channel name")
        }
        if reader.remainingCount > 0 { skippedFields += 1 }
        self.init(number: number, description: description, isRetired: flags & 1 == 1)
    }

    func emit(into writer: inout ByteWriter) {
        var inner = ByteWriter()
        inner.writeVarint(UInt64(number))
        inner.write(UInt8(isRetired ? 1 : 0))
        inner.write(UInt8(bitPattern: scale))
        inner.writeString(name)
        inner.writeString(unit.name)
        writer.writeCounted(inner.bytes)
    }
}

extension String {
    /// One of ASCII's. A name with one would be a second line in a log, the end of a string to a
    /// database, or a command to a terminal.
    var hasControlCharacter: Bool { utf8.contains { $0 < 0x20 || $0 == 0x7f } }
}

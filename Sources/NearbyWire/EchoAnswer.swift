import NearbyCore

/// Who was reached by an `EchoRequest`: the inside of a mesh packet back to who asked. What it
/// says is a member's word, unproved.
///
///     type 0x53 (1) | token (8) | link (1) | name (counted, ≤ 63) | loss (1, if there is room)
///     | later fields, skipped
///
/// Link: what the question came over last, 0 Ethernet, 1 Wi-Fi, 2 Bluetooth; others are unknown.
public struct EchoAnswer: Equatable, Sendable {
    public var token: UInt64
    public var link: LinkClass?
    /// Empty if it was not told.
    public var name: String
    /// Of that link, percent, as the answering node measures it; nil if it was not told.
    public var lossPercent: UInt8?

    public static let type: UInt8 = 0x53
    /// Type, token, link, and the length of the name.
    public static let overheadByteCount = 11
    public static let byteCountMax = overheadByteCount + Limits.displayNameBytes.upperBound + 1

    /// - Parameter lossPercent: 0–100.
    public init(token: UInt64, link: LinkClass?, name: String, lossPercent: UInt8? = nil) {
        self.token = token
        self.link = link
        self.name = name
        self.lossPercent = lossPercent
    }

    /// Reads a whole datagram.
    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        let type = try reader.readUInt8()
        guard type == Self.type else { throw .unknownType(type) }
        token = try reader.readUInt64()
        link = LinkClass(rawValue: try reader.readUInt8())
        name = try reader.readString(limit: Limits.displayNameBytes.upperBound, field: "name")
        lossPercent = (try? reader.readUInt8()).flatMap { $0 <= 100 ? $0 : nil }
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: Self.byteCountMax)
        writer.write(Self.type)
        writer.write(token)
        writer.write(link?.rawValue ?? Self.linkUnknown)
        writer.writeString(name)
        if let lossPercent { writer.write(lossPercent) }
        return writer.bytes
    }

    /// With so much of the name as the answer may have, whole characters; the loss where there is
    /// room beside it.
    public func fitted(to byteCount: Int) -> EchoAnswer {
        let bytes = Array(name.utf8)
        var count = min(bytes.count, max(0, byteCount - Self.overheadByteCount))
        // Not within a character.
        while count > 0, count < bytes.count, bytes[count] & 0xc0 == 0x80 { count -= 1 }
        let hasRoom = Self.overheadByteCount + count < byteCount
        return EchoAnswer(
            token: token, link: link, name: String(decoding: bytes[..<count], as: UTF8.self),
            lossPercent: hasRoom ? lossPercent : nil)
    }

    private static let linkUnknown: UInt8 = 0xff
}

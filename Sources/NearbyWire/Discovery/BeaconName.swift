import NearbyCore

/// The display name in a beacon's extensions, always of one length: a beacon of a node with a long
/// name is no longer than one that it answers.
///
///     name    = %x01 length 1*63OCTET     UTF-8
///     padding = %x02 length *62%x00       both together: 67 bytes
public struct BeaconName: Hashable, Sendable {
    public let text: String

    /// Nil if it is not 1–63 bytes long.
    public init?(_ text: String) {
        guard (1...Self.nameBytesMax).contains(text.utf8.count) else { return nil }
        self.text = text
    }

    /// The name among the extensions of a beacon; nil if there is none, or it is not what it must
    /// be.
    public init?(in extensions: [UInt8]) {
        guard !extensions.isEmpty else { return nil }
        var reader = ByteReader(extensions)
        while reader.remainingCount > 0 {
            guard let type = try? reader.readUInt8(), let count = try? reader.readUInt8(),
                let value = try? reader.readBytes(Int(count))
            else { return nil }
            guard type == Self.nameType else { continue }
            let text = String(decoding: value, as: UTF8.self)
            guard text.utf8.elementsEqual(value) else { return nil }
            self.init(text)
            return
        }
        return nil
    }

    /// All extensions of a beacon with this name.
    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: Self.nameBytesMax + 4)
        writer.write(Self.nameType)
        writer.write(UInt8(truncatingIfNeeded: text.utf8.count))
        writer.write(contentsOf: text.utf8)
        let padding = Self.nameBytesMax - text.utf8.count
        writer.write(Self.paddingType)
        writer.write(UInt8(truncatingIfNeeded: padding))
        writer.write(contentsOf: repeatElement(0, count: padding))
        return writer.bytes
    }

    public static let nameBytesMax = 63
    private static let nameType: UInt8 = 1
    private static let paddingType: UInt8 = 2
}

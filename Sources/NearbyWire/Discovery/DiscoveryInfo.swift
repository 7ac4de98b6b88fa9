import NearbyCore

/// What a peer says about itself before anybody connects: pairs of strings, as MPC's discovery
/// info.
///
/// The wire form is that of a DNS-SD TXT record (RFC 6763 §6), sorted by key, each key once:
///
///     info = *( length key "=" value )     length: 1 byte, counts key, "=" and value: 2–255
///     key  = 1*( %x20-3C / %x3E-7E )       printable ASCII without "="
///     value = *OCTET                       UTF-8
///
/// at most 400 bytes in all, the length bytes included.
public struct DiscoveryInfo: Equatable, Sendable {
    /// The wire form, canonical: two infos of the same pairs have the same bytes.
    public let bytes: [UInt8]

    public static let empty = DiscoveryInfo(canonical: [])

    private init(canonical bytes: [UInt8]) { self.bytes = bytes }

    /// Takes pairs in any order. Throws `.invalid` for a key that is empty, given twice or not
    /// printable ASCII without "=", `.tooLong` for a pair over 255 bytes or more than 400 bytes in
    /// all.
    public init(_ pairs: [(key: String, value: String)]) throws(WireError) {
        var writer = ByteWriter()
        var previous: String?
        for (key, value) in pairs.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        {
            guard Self.isLegal(key: key.utf8[...]), key != previous else {
                throw .invalid(field: "info-key")
            }
            let count = key.utf8.count + 1 + value.utf8.count
            guard count <= Self.pairBytesMax else {
                throw .tooLong(limit: Self.pairBytesMax, actual: count)
            }
            writer.write(UInt8(count))
            writer.write(contentsOf: key.utf8)
            writer.write(UInt8(ascii: "="))
            writer.write(contentsOf: value.utf8)
            previous = key
        }
        guard writer.count <= Self.bytesMax else {
            throw .tooLong(limit: Self.bytesMax, actual: writer.count)
        }
        bytes = writer.bytes
    }

    /// Takes the whole wire form; refuses what is not canonical, so that a digest names one form
    /// only.
    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        guard bytes.count <= Self.bytesMax else {
            throw .tooLong(limit: Self.bytesMax, actual: bytes.count)
        }
        var reader = ByteReader(bytes)
        var previous: ArraySlice<UInt8>?
        while reader.remainingCount > 0 {
            let pair = try reader.readBytes(Int(try reader.readUInt8()))
            guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else {
                throw .invalid(field: "info-pair")
            }
            let key = pair[..<sign]
            guard Self.isLegal(key: key) else { throw .invalid(field: "info-key") }
            if let previous, !previous.lexicographicallyPrecedes(key) {
                throw .invalid(field: "info-order")
            }
            guard Self.isUTF8(pair[(sign + 1)...]) else { throw .invalid(field: "info-value") }
            previous = key
        }
        self.init(canonical: Array(bytes))
    }

    /// Sorted by key.
    public var pairs: [(key: String, value: String)] {
        var result: [(key: String, value: String)] = []
        var rest = bytes[...]
        while let length = rest.popFirst() {
            let pair = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            let sign = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            result.append(
                (
                    key: String(decoding: pair[..<sign], as: UTF8.self),
                    value: String(decoding: pair[sign...].dropFirst(), as: UTF8.self)
                ))
        }
        return result
    }

    public subscript(key: String) -> String? { pairs.first { $0.key == key }?.value }

    public var isEmpty: Bool { bytes.isEmpty }

    /// What a beacon carries in place of the info: FNV-1a over `bytes`, 0 for no info at all. It is
    /// not cryptographic: it tells that an info changed; a reply is believed as far as its proof
    /// goes.
    public var digest: UInt64 { bytes.isEmpty ? 0 : max(1, FNV1a.hash(bytes)) }

    /// `key=value`.
    static let pairBytesMax = 255
    public static let bytesMax = 400

    private static func isLegal(key: some Collection<UInt8>) -> Bool {
        !key.isEmpty && key.allSatisfy { (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") }
    }

    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
    }
}

import NearbyCore

/// Tells a network's frames from others': 8 bytes derived from its name and secret.
public struct NetworkTag: Hashable, Sendable {
    public let value: UInt64

    public init(value: UInt64) { self.value = value }
}

/// What a node says of itself to those that have not met it: string pairs, as in MultipeerConnectivity.
///
/// `key=value` takes at most 255 bytes each, 400 bytes in all (RFC 6763 §6 has the same form).
public struct DiscoveryInfo: Hashable, Sendable {
    /// Sorted by key; no key twice.
    public private(set) var pairs: [Pair] = []

    public struct Pair: Hashable, Sendable {
        public var key: String
        public var value: String
    }

    public static let byteCountMax = 400
    public static let pairByteCountMax = 255

    public init() {}

    /// Refuses empty keys, keys with `=`, keys that come twice, and too long pairs.
    public init(_ pairs: [(key: String, value: String)]) throws(WireError) {
        self.pairs = pairs.map { Pair(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
        try check()
    }

    init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        while reader.remainingCount > 0 {
            pairs.append(
                Pair(
                    key: try reader.readString(limit: Self.pairByteCountMax, field: "key"),
                    value: try reader.readString(limit: Self.pairByteCountMax, field: "value")))
        }
        try check()
    }

    /// The canonical form: counted keys and values in order.
    public var bytes: [UInt8] {
        var writer = ByteWriter()
        for pair in pairs {
            writer.writeString(pair.key)
            writer.writeString(pair.value)
        }
        return writer.bytes
    }

    /// FNV-1a over the canonical form; 0 for an empty info. It only tells whether one has the newest: the
    /// frame that carries it is authenticated.
    public var digest: UInt64 {
        guard !pairs.isEmpty else { return 0 }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return max(hash, 1)
    }

    private func check() throws(WireError) {
        var previous: String?
        var total = 0
        for pair in pairs {
            let count = pair.key.utf8.count + pair.value.utf8.count + 1
            guard !pair.key.isEmpty, !pair.key.utf8.contains(UInt8(ascii: "=")) else {
                throw .invalid(field: "discovery info key")
            }
            if let previous, previous >= pair.key { throw .invalid(field: "discovery info order") }
            guard count <= Self.pairByteCountMax else {
                throw .tooLong(limit: Self.pairByteCountMax, actual: count)
            }
            total += count
            previous = pair.key
        }
        guard total <= Self.byteCountMax else {
            throw .tooLong(limit: Self.byteCountMax, actual: total)
        }
    }
}

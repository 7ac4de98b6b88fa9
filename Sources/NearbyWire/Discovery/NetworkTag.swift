import NearbyCore

/// Which network a frame belongs to: 64 bits, so that strangers are dropped before any other work.
///
/// The programs take the first 8 bytes of SHA-256 over the network's name, so that nodes of one
/// network hear each other while its secret is changed. It proves nothing: the proof at a frame's
/// end does.
public struct NetworkTag: Hashable, Sendable {
    public let value: UInt64

    public init(value: UInt64) { self.value = value }

    /// FNV-1a over `service`, a zero byte and `name`.
    public init(name: String, service: ServiceType) {
        value = FNV1a.hash(Array(service.name.utf8) + [0] + Array(name.utf8))
    }
}

/// What a program advertises: 1–15 characters of a–z, 0–9 and hyphen, at least one letter, no
/// leading, trailing or doubled hyphen (RFC 6335 §5.1, lower case only).
public struct ServiceType: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    /// Nil if `name` breaks the rule.
    public init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard Self.byteCounts.contains(bytes.count) else { return nil }
        let hyphen = UInt8(ascii: "-")
        var letters = 0
        var previous = hyphen
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): letters += 1
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            case hyphen where previous != hyphen: break
            default: return nil
            }
            previous = byte
        }
        guard letters > 0, previous != hyphen else { return nil }
        self.name = name
    }

    public var description: String { name }

    /// RFC 6335 §5.1.
    static let byteCounts = 1...15
}

/// FNV-1a, 64 bits (draft-eastlake-fnv): cheap and **not** cryptographic. Anybody can make two
/// inputs of one hash, so it may name things but never prove them.
enum FNV1a {
    static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return hash
    }
}

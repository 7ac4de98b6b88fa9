/// Who a peer is: the first 16 bytes of SHA-256 over its key's SubjectPublicKeyInfo.
///
/// Lasts as long as the key. Ordered bytewise; the order decides who invites. Shown as lower-case
/// base32 (RFC 4648 §6, no padding) in groups of five, the last of six: `mzxw6-ytboi-…`.
public struct PeerID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Bytes 0–7, big-endian: the short form that mesh packets carry.
    public let high: UInt64
    /// Bytes 8–15, big-endian.
    public let low: UInt64

    public static let byteCount = 16

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Takes exactly 16 bytes; nil otherwise.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
        }
        self.init(high: high, low: low)
    }

    /// Reads what `description` writes; hyphens and case are ignored. Nil if it is not 26 base32
    /// digits.
    public init?(text: String) {
        guard let bytes = Base32.bytes(text) else { return nil }
        self.init(bytes: bytes)
    }

    /// Half spreads as well as the whole, in less time; three keys with one half take 2⁴³ trials.
    public func hash(into hasher: inout Hasher) { hasher.combine(high) }

    /// Hashes in one step, as the standard library does its own integers: in a third of the time.
    public func _rawHashValue(seed: Int) -> Int { high._rawHashValue(seed: seed) }

    public static func < (left: PeerID, right: PeerID) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }

    public var short: ShortID { ShortID(value: high) }

    /// The 16 bytes in order.
    public var bytes: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(Self.byteCount)
        for word in [high, low] {
            for shift in stride(from: 56, through: 0, by: -8) {
                result.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
        return result
    }

    public var description: String {
        let digits = Base32.text(bytes)
        return (0..<5).map { group in
            let begin = digits.index(digits.startIndex, offsetBy: group * 5)
            let end = group == 4 ? digits.endIndex : digits.index(begin, offsetBy: 5)
            return String(digits[begin..<end])
        }.joined(separator: "-")
    }
}

/// The first 8 bytes of a `PeerID`: source and destination of mesh packets. Unique within a
/// network, which is checked at admission.
public struct ShortID: Hashable, Comparable, Sendable {
    public let value: UInt64

    public init(value: UInt64) { self.value = value }

    public static func < (left: ShortID, right: ShortID) -> Bool { left.value < right.value }
}

/// A random 64-bit number drawn at every start of a process: tells a restart from an echo.
public struct RunID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let value: UInt64

    public init(value: UInt64) { self.value = value }

    public static func < (left: RunID, right: RunID) -> Bool { left.value < right.value }

    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

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
        var words: (high: UInt64, low: UInt64) = (0, 0)
        var digits = 0
        for byte in text.utf8 where byte != UInt8(ascii: "-") {
            guard let value = Self.value(ofDigit: byte), digits < 26 else { return nil }
            digits += 1
            if digits == 26 {
                guard value & 0b11 == 0 else { return nil }
                words = (words.high << 3 | words.low >> 61, words.low << 3 | UInt64(value >> 2))
            } else {
                words = (words.high << 5 | words.low >> 59, words.low << 5 | UInt64(value))
            }
        }
        guard digits == 26 else { return nil }
        self.init(high: words.high, low: words.low)
    }

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
        var text = ""
        for digit in 0..<26 {
            if digit % 5 == 0, digit > 0, digit < 25 { text.append("-") }
            text.unicodeScalars.append(Unicode.Scalar(Self.alphabet[Int(digitValue(digit))]))
        }
        return text
    }

    /// Five bits from bit offset 5·index; the last digit holds three bits and two zeros.
    private func digitValue(_ index: Int) -> UInt64 {
        let end = 128 - (index + 1) * 5
        if end < 0 { return low << 2 & 0x1f }
        if end >= 64 { return high >> UInt64(end - 64) & 0x1f }
        return (low >> UInt64(end) | (end == 0 ? 0 : high << UInt64(64 - end))) & 0x1f
    }

    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    private static func value(ofDigit byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a")
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "2")...UInt8(ascii: "7"): byte - UInt8(ascii: "2") + 26
        default: nil
        }
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

/// Who advertises: 48 bits, and whether they were drawn at random.
public struct AdvertiserAddress: Hashable, Sendable, CustomStringConvertible {
    /// The first written byte in bits 40–47.
    public let value: UInt64
    public let isRandom: Bool

    public init(value: UInt64, isRandom: Bool) {
        self.value = value & 0xffff_ffff_ffff
        self.isRandom = isRandom
    }

    /// Changed by its owner every few minutes (Bluetooth Core, Vol 6, Part B, §1.3.2.2): it names
    /// nobody. A random address that begins with two ones is static, and does.
    public var isPrivate: Bool { isRandom && value >> 46 != 0b11 }

    /// Six bytes as they are written; the radio sends them in reverse.
    var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> UInt64(40 - 8 * $0)) } }

    /// `A4:C1:38:8D:18:B2`.
    public var description: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16, uppercase: true)
            return byte < 16 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    /// Reads `A4:C1:38:8D:18:B2`, in either case; nil for anything else.
    public static func value(of text: String) -> UInt64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        var value: UInt64 = 0
        for part in parts {
            guard part.utf8.count == 2, part.allSatisfy(\.isHexDigit),
                let byte = Int(part, radix: 16)
            else { return nil }
            value = value << 8 | UInt64(byte)
        }
        return value
    }
}

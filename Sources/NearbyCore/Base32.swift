/// Base32 in lower case without padding (RFC 4648 §6).
public enum Base32 {
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        var bits: UInt16 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt16(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.unicodeScalars.append(Unicode.Scalar(alphabet[Int(bits >> count & 0x1f)]))
            }
            bits &= 1 << count &- 1
        }
        if count > 0 {
            text.unicodeScalars.append(Unicode.Scalar(alphabet[Int(bits << (5 - count) & 0x1f)]))
        }
        return text
    }

    /// Reads what `text` writes; hyphens, white space and case are ignored. Nil for other
    /// characters, for a number of digits that no bytes have, and for bits left over.
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt16 = 0
        var count = 0
        for digit in text.utf8 {
            if ignored.contains(digit) { continue }
            guard let value = value(ofDigit: digit) else { return nil }
            bits = bits << 5 | UInt16(value)
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
            bits &= 1 << count &- 1
        }
        return count < 5 && bits == 0 ? bytes : nil
    }

    private static let ignored = Array("- \t\r\n".utf8)
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

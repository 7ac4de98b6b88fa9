/// RFC 4648 §4: how Basic authentication writes user and password.
public enum Base64 {
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        var bits = 0
        var value: UInt32 = 0
        for byte in bytes {
            value = value << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.unicodeScalars.append(digit(value >> UInt32(bits)))
            }
            value &= (1 << UInt32(bits)) - 1
        }
        if bits > 0 { text.unicodeScalars.append(digit(value << UInt32(6 - bits))) }
        while text.utf8.count % 4 != 0 { text += "=" }
        return text
    }

    private static func digit(_ value: UInt32) -> Unicode.Scalar {
        Unicode.Scalar(digits[Int(value & 63)])
    }

    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

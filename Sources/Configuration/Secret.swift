/// A network's secret: 128 random bits, printed with a checksum so that a slip of the pen is
/// noticed.
///
///     rvs1-xxxxx-xxxxx-xxxxx-xxxxx-xxxxx-xxxxx      base32 (RFC 4648 §6) of 16 bytes and their CRC-16
public enum Secret {
    public static let byteCount = 16
    private static let prefix = "rvs1-"
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Why a line is no secret; never repeats the line.
    public enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case notASecret
        case damaged
        case unreadable(String)
        case open(permissions: String)
        case empty
        case tooMany

        public var description: String {
            switch self {
            case .notASecret: "not a secret; make one with `rivulet secret`"
            case .damaged: "the checksum is wrong: a character is mistyped or missing"
            case .unreadable(let why): "\(why); make it with `rivulet secret > FILE`"
            case .open(let permissions):
                "others can read it (\(permissions)); run `chmod 600` on it"
            case .empty: "no secret in it; make one with `rivulet secret`"
            case .tooMany: "more than 8 secrets"
            }
        }
    }

    /// The printed form of 16 bytes.
    public static func text(_ secret: [UInt8]) -> String {
        precondition(secret.count == byteCount, "a secret of \(secret.count) bytes")
        let sum = checksum(secret)
        let bytes = secret + [UInt8(sum >> 8), UInt8(sum & 0xff)]
        var digits: [UInt8] = []
        var bits = 0
        var value: UInt32 = 0
        for byte in bytes {
            value = value << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                digits.append(alphabet[Int(value >> UInt32(bits) & 31)])
            }
            value &= 0xff
        }
        if bits > 0 { digits.append(alphabet[Int(value << UInt32(5 - bits) & 31)]) }
        var text = prefix
        for (index, digit) in digits.enumerated() {
            if index > 0, index % 5 == 0 { text.append("-") }
            text.unicodeScalars.append(Unicode.Scalar(digit))
        }
        return text
    }

    /// Reads what `text` writes; case and hyphens behind the prefix do not matter.
    public static func parse(_ line: String) -> Result<[UInt8], Fault> {
        guard line.hasPrefix(prefix) else { return .failure(.notASecret) }
        var bytes: [UInt8] = []
        var bits = 0
        var value: UInt32 = 0
        var digits = 0
        for byte in line.utf8.dropFirst(prefix.utf8.count) where byte != UInt8(ascii: "-") {
            let lower = byte | 0x20
            guard let digit = alphabet.firstIndex(of: (65...90).contains(byte) ? lower : byte)
            else {
                return .failure(.damaged)
            }
            digits += 1
            guard digits <= 29 else { return .failure(.damaged) }
            value = value << 5 | UInt32(digit)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(value >> UInt32(bits) & 0xff))
                value &= (1 << UInt32(bits)) - 1
            }
        }
        guard digits == 29, bytes.count == byteCount + 2, value == 0 else {
            return .failure(.damaged)
        }
        let secret = Array(bytes.prefix(byteCount))
        let sum = UInt16(bytes[byteCount]) << 8 | UInt16(bytes[byteCount + 1])
        return sum == checksum(secret) ? .success(secret) : .failure(.damaged)
    }

    /// Reads a file of one secret a line; `#` begins a comment. Others must not be able to read it.
    public static func load(_ path: String) -> Result<[[UInt8]], Fault> {
        guard let permissions = SmallFile.permissions(path) else {
            return .failure(.unreadable("cannot be read"))
        }
        guard permissions & 0o077 == 0 else {
            return .failure(.open(permissions: "0" + String(permissions, radix: 8)))
        }
        do throws(Mistake) {
            return try parseLines(SmallFile.read(path, limit: 4_096))
        } catch {
            return .failure(.unreadable(error.message))
        }
    }

    private static func parseLines(_ bytes: [UInt8]) -> Result<[[UInt8]], Fault> {
        var secrets: [[UInt8]] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line, as: UTF8.self)
            let trimmed = String(text.filter { !$0.isWhitespace })
            if trimmed.isEmpty || trimmed.hasPrefix("#") { continue }
            switch parse(trimmed) {
            case .success(let secret): secrets.append(secret)
            case .failure(let fault): return .failure(fault)
            }
        }
        if secrets.isEmpty { return .failure(.empty) }
        return secrets.count <= 8 ? .success(secrets) : .failure(.tooMany)
    }

    /// CRC-16/CCITT-FALSE.
    private static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var crc: UInt16 = 0xffff
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
        return crc
    }
}

/// A network's secret: 128 random bits, printed with a checksum so that a slip of the pen is
/// noticed.
///
///     rvs1-xxxxx-xxxxx-xxxxx-xxxxx-xxxxx-xxxx
///
/// The digits are base32 (RFC 4648 §6) of the 16 bytes and their CRC-16.
public enum Secret {
    public static let byteCount = 16
    /// Secrets in one file.
    public static let countMax = 8
    private static let prefix = "rvs1-"
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// Why a line is no secret; never repeats the line.
    public indirect enum Fault: Error, Equatable, Sendable, CustomStringConvertible {
        case notASecret
        case damaged
        case unreadable(String)
        case open(permissions: String)
        case empty
        case tooMany
        /// Which line of a file, from 1.
        case line(Int, Fault)

        public var description: String {
            switch self {
            case .notASecret: "not a secret; make one with `rivulet secret`"
            case .damaged:
                "a character is mistyped or missing (the checksum is wrong); copy it again, "
                    + "or make one with `rivulet secret`"
            case .unreadable(let why):
                "\(why); copy the file from another node of the network, or, for a new network, "
                    + "make it with `umask 077; rivulet secret > FILE`"
            case .open(let permissions):
                "others can read it (\(permissions)); run `chmod 600` on it"
            case .empty: "no secret in it; make one with `rivulet secret`"
            case .tooMany: "more than \(countMax) secrets; remove the oldest"
            case .line(let number, let fault): "line \(number): \(fault)"
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

    /// Whether the text begins as secrets do: then it must not be shown.
    static func looksLikeOne(_ text: String) -> Bool {
        text.utf8.prefix(prefix.utf8.count).map { $0 | 0x20 }
            .elementsEqual(prefix.utf8.map { $0 | 0x20 })
    }

    /// Reads what `text` writes; case and hyphens do not matter.
    public static func parse(_ line: String) -> Result<[UInt8], Fault> {
        guard looksLikeOne(line) else { return .failure(.notASecret) }
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
        do throws(SmallFile.Fault) {
            return parseLines(try SmallFile.read(path, limit: 4_096, isPrivate: true))
        } catch {
            if case .open(let permissions) = error {
                return .failure(.open(permissions: "0" + String(permissions, radix: 8)))
            }
            return .failure(.unreadable("\(error)"))
        }
    }

    /// What comes on standard input, in the form of such a file.
    public static func loadStandardInput() -> Result<[[UInt8]], Fault> {
        do throws(SmallFile.Fault) {
            return parseLines(try SmallFile.readStandardInput(limit: 4_096))
        } catch {
            return .failure(.unreadable("\(error)"))
        }
    }

    private static func parseLines(_ bytes: [UInt8]) -> Result<[[UInt8]], Fault> {
        var secrets: [[UInt8]] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = String(decoding: line, as: UTF8.self).filter { !$0.isWhitespace }
            if text.isEmpty || text.hasPrefix("#") { continue }
            switch parse(text) {
            case .success(let secret): secrets.append(secret)
            case .failure(let fault): return .failure(.line(index + 1, fault))
            }
        }
        if secrets.isEmpty { return .failure(.empty) }
        return secrets.count <= countMax ? .success(secrets) : .failure(.tooMany)
    }

    /// CRC-16/CCITT-FALSE.
    static func checksum(_ bytes: [UInt8]) -> UInt16 {
        var crc: UInt16 = 0xffff
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
        return crc
    }
}

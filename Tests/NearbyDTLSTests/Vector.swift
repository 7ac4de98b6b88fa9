import Glibc

/// Golden vectors: lines of hex digits, each with a comment after `#`.
enum Vector {
    /// The bytes of each line of a file in `Vectors/`.
    static func read(_ name: String) throws -> [[UInt8]] {
        let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        guard let file = fopen(folder.joined(separator: "/") + "/Vectors/" + name, "r") else {
            throw Missing(name: name)
        }
        defer { fclose(file) }
        var lines: [[UInt8]] = []
        var buffer = [CChar](repeating: 0, count: 4_096)
        while fgets(&buffer, Int32(buffer.count), file) != nil {
            let text = String(
                decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let digits = text.prefix { $0 != "#" && $0 != "\n" }
            if digits.contains(where: { $0.isHexDigit }) { lines.append(bytes(String(digits))) }
        }
        return lines
    }

    struct Missing: Error { let name: String }
}

/// The bytes of a text of hex digits; spaces are ignored.
func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
}

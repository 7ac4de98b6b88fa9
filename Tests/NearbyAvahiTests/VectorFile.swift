import Foundation
import Testing

/// A golden vector: lines of `hex bytes  # what they are`.
enum VectorFile {
    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let file = folder.appendingPathComponent("Vectors/\(name).hex")
        let text = try String(contentsOf: file, encoding: .utf8)
        let digits = text.split(separator: "\n").flatMap { line in
            line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
        }
        var result: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            result.append(try #require(UInt8(String(digits[index...index + 1]), radix: 16)))
        }
        return result
    }
}

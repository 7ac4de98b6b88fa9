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

/// What every message must bear: the golden bytes, a round trip, truncation anywhere, any bit
/// flipped.
func expectSound<Message: Equatable>(
    vector name: String, _ message: Message, emit: (Message) -> [UInt8],
    parse: (ArraySlice<UInt8>) throws -> Message, shortest: Int? = nil
) throws {
    let golden = try VectorFile.bytes(name)
    #expect(emit(message) == golden)
    #expect(try parse(golden[...]) == message)
    for length in 0..<(shortest ?? golden.count) {
        #expect(throws: (any Error).self, "\(length) bytes") { try parse(golden[..<length]) }
    }
    for bit in 0..<golden.count * 8 {
        var flipped = golden
        flipped[bit / 8] ^= 1 << (bit % 8)
        if let other = try? parse(flipped[...]) { _ = emit(other) }
    }
}

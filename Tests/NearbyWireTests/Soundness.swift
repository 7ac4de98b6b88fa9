import Testing
import VectorFile

/// What every message must bear: the golden bytes, a round trip, truncation anywhere, any bit
/// flipped.
func expectSound<Message: Equatable>(
    vector name: String, _ message: Message, emit: (Message) -> [UInt8],
    parse: (ArraySlice<UInt8>) throws -> Message, shortest: Int? = nil
) throws {
    let golden = vector(name)
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

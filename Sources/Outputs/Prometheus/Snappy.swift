/// Snappy's block format: how bodies of remote write are compressed
/// (google/snappy format_description.txt).
///
///     block   = length of the bytes, varint · element…
///     element = literal: tag 1 (low bits 00) · its length − 1 · the bytes
///             | copy: tag 1 (low bits 10, length − 1 above them) · how far back 2, little-endian
enum Snappy {
    /// What a copy may refer to: matches are sought within such pieces.
    private static let pieceBytes = 1 << 16
    private static let tableBits = 13
    private static let matchBytesMin = 4
    private static let copyBytesMax = 64

    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var block: [UInt8] = []
        block.reserveCapacity(bytes.count / 2 + 16)
        appendVarint(UInt64(bytes.count), to: &block)
        var start = 0
        while start < bytes.count {
            let end = min(start + pieceBytes, bytes.count)
            bytes.withUnsafeBufferPointer { compress($0, start..<end, into: &block) }
            start = end
        }
        return block
    }

    /// Greedy: the last place with the same four bytes is taken as far as it is the same.
    private static func compress(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, into block: inout [UInt8]
    ) {
        /// Where such four bytes were seen last, from the range's start; −1: nowhere.
        var table = [Int32](repeating: -1, count: 1 << tableBits)
        var place = range.lowerBound
        var literal = place
        while place + matchBytesMin <= range.upperBound {
            let four = word(bytes, place)
            let slot = Int((four &* 0x1e35_a7bd) >> UInt32(32 - tableBits))
            let candidate = range.lowerBound + Int(table[slot])
            table[slot] = Int32(truncatingIfNeeded: place - range.lowerBound)
            guard candidate >= range.lowerBound, word(bytes, candidate) == four else {
                place += 1
                continue
            }
            var length = matchBytesMin
            while place + length < range.upperBound,
                bytes[candidate + length] == bytes[place + length]
            {
                length += 1
            }
            appendLiteral(bytes, literal..<place, to: &block)
            appendCopy(offset: place - candidate, length: length, to: &block)
            place += length
            literal = place
        }
        appendLiteral(bytes, literal..<range.upperBound, to: &block)
    }

    private static func word(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32($1 * 8) }
    }

    private static func appendLiteral(
        _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, to block: inout [UInt8]
    ) {
        guard !range.isEmpty else { return }
        let last = range.count - 1
        switch last {
        case ..<60: block.append(UInt8(last) << 2)
        case ..<256: block += [60 << 2, UInt8(last)]
        default: block += [61 << 2, UInt8(last & 0xff), UInt8(last >> 8)]
        }
        block.append(contentsOf: bytes[range])
    }

    /// - Parameter offset: less than 65,536.
    private static func appendCopy(offset: Int, length: Int, to block: inout [UInt8]) {
        var rest = length
        while rest > 0 {
            let count = min(rest, copyBytesMax)
            block += [
                UInt8(count - 1) << 2 | 2, UInt8(offset & 0xff), UInt8(offset >> 8),
            ]
            rest -= count
        }
    }

    private static func appendVarint(_ value: UInt64, to block: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            block.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }
}

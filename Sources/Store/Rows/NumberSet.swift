import NearbyCore

/// Collects numbers that come in any order: in `NumberRanges` each that is out of order may move
/// all others.
struct NumberSet {
    /// Sixty-four numbers each, by the number divided by that.
    private var words: [Int64: UInt64] = [:]

    mutating func insert(_ number: Int64) {
        words[number >> 6, default: 0] |= 1 << UInt64(truncatingIfNeeded: number & 63)
    }

    /// Those above zero.
    var ranges: NumberRanges {
        var ranges = NumberRanges()
        for (key, word) in words.sorted(by: { $0.key < $1.key }) where key >= 0 {
            var rest = word
            while rest != 0 {
                let number = UInt64(key) << 6 + UInt64(rest.trailingZeroBitCount)
                ranges.insert(number..<number + 1)
                rest &= rest - 1
            }
        }
        return ranges
    }
}

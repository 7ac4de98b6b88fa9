func hex(_ text: some StringProtocol) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
}

/// Every truncation and every flipped bit of `bytes`, and bytes added at the end.
func damaged(_ bytes: [UInt8]) -> [[UInt8]] {
    var all = bytes.indices.map { Array(bytes.prefix($0)) }
    for index in bytes.indices {
        for bit in 0..<8 {
            var copy = bytes
            copy[index] ^= 1 << UInt8(bit)
            all.append(copy)
        }
    }
    all.append(bytes + [0])
    return all
}

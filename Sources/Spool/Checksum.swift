/// CRC-32C (Castagnoli, RFC 3720 §12.1): finds torn and rotten records, not forged ones.
package enum Checksum {
    package static func crc32c(_ bytes: some Sequence<UInt8>) -> UInt32 {
        // Byte by byte through a sequence of any kind takes ten times as long.
        bytes.withContiguousStorageIfAvailable(crc32c(of:))
            ?? Array(bytes).withUnsafeBufferPointer(crc32c(of:))
    }

    private static func crc32c(of bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var value = UInt32.max
        for byte in bytes {
            value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8
        }
        return ~value
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82f6_3b78
        }
    }
}

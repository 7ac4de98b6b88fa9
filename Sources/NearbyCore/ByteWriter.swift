/// Appends integers in big-endian order and counted bytes. What `ByteReader` reads.
public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8]

    public init(reserving capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    public mutating func write(_ value: UInt8) { bytes.append(value) }

    public mutating func write(_ value: UInt16) { write(UInt64(value), byteCount: 2) }

    public mutating func write(_ value: UInt32) { write(UInt64(value), byteCount: 4) }

    public mutating func write(_ value: UInt64) { write(value, byteCount: 8) }

    /// The low `byteCount` bytes of `value`, at most 8, most significant first.
    public mutating func write(_ value: UInt64, byteCount: Int) {
        withUnsafeBytes(of: value.bigEndian) {
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[(8 - byteCount)..<8]))
        }
    }

    /// Unsigned LEB128.
    public mutating func writeVarint(_ value: UInt64) {
        var rest = value
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Zigzag, then LEB128.
    public mutating func writeSignedVarint(_ value: Int64) {
        writeVarint(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    public mutating func write(_ peer: PeerID) {
        write(peer.high)
        write(peer.low)
    }

    public mutating func write(contentsOf other: some Sequence<UInt8>) {
        bytes.append(contentsOf: other)
    }

    /// A length (varint) and the bytes.
    public mutating func writeCounted(_ other: some Collection<UInt8>) {
        writeVarint(UInt64(other.count))
        bytes.append(contentsOf: other)
    }

    public mutating func writeString(_ text: String) { writeCounted(text.utf8) }

    public var count: Int { bytes.count }

    /// What was written, for whoever goes on to change it: the writer is empty again, so nothing is
    /// copied.
    public mutating func take() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }

    /// Takes back what was written after the first `count` bytes.
    package mutating func truncate(to count: Int) {
        bytes.removeLast(max(0, bytes.count - count))
    }

    /// The number of bytes that `writeVarint` takes for `value`: 1–10.
    public static func varintByteCount(_ value: UInt64) -> Int {
        max(1, (64 - value.leadingZeroBitCount + 6) / 7)
    }
}

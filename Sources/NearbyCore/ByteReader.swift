/// Why bytes from outside were refused.
public enum WireError: Error, Hashable, Sendable {
    case truncated(needed: Int, available: Int)
    case trailing(count: Int)
    case tooLong(limit: Int, actual: Int)
    case unknownType(UInt8)
    case unsupportedVersion(lowest: UInt8, highest: UInt8)
    /// The field held a value that its type does not allow.
    case invalid(field: String)
}

/// A checked, forward-only reader over borrowed bytes. Integers are big-endian. Nothing traps.
public struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var index: Int

    public init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        index = bytes.startIndex
    }

    public init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    public mutating func readUInt8() throws(WireError) -> UInt8 {
        try require(1)
        defer { index += 1 }
        return bytes[index]
    }

    public mutating func readUInt16() throws(WireError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readInteger(byteCount: 2))
    }

    public mutating func readUInt32() throws(WireError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readInteger(byteCount: 4))
    }

    public mutating func readUInt64() throws(WireError) -> UInt64 { try readInteger(byteCount: 8) }

    /// A big-endian unsigned integer of 1–8 bytes.
    public mutating func readInteger(byteCount: Int) throws(WireError) -> UInt64 {
        try require(byteCount)
        var value: UInt64 = 0
        for offset in 0..<byteCount { value = value << 8 | UInt64(bytes[index + offset]) }
        index += byteCount
        return value
    }

    /// An unsigned LEB128 integer of at most 10 bytes; a value over 64 bits or a needlessly long
    /// form is refused.
    public mutating func readVarint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try readUInt8()
            let part = UInt64(byte & 0x7f)
            if shift == 63, part > 1 { throw .invalid(field: "varint") }
            value |= part << shift
            if byte & 0x80 == 0 {
                if byte == 0, shift > 0 { throw .invalid(field: "varint") }
                return value
            }
            shift += 7
            if shift > 63 { throw .invalid(field: "varint") }
        }
    }

    /// A zigzag-coded signed varint.
    public mutating func readSignedVarint() throws(WireError) -> Int64 {
        let raw = try readVarint()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    public mutating func readBytes(_ count: Int) throws(WireError) -> ArraySlice<UInt8> {
        try require(count)
        defer { index += count }
        return bytes[index..<index + count]
    }

    /// A length (varint) and so many bytes, at most `limit`.
    public mutating func readCountedBytes(limit: Int) throws(WireError) -> ArraySlice<UInt8> {
        let count = try readVarint()
        guard count <= UInt64(limit) else {
            throw .tooLong(limit: limit, actual: Int(clamping: count))
        }
        return try readBytes(Int(count))
    }

    /// A counted string; invalid UTF-8 is refused.
    public mutating func readString(limit: Int, field: String) throws(WireError) -> String {
        let raw = try readCountedBytes(limit: limit)
        guard let text = String(validating: raw, as: UTF8.self) else {
            throw .invalid(field: field)
        }
        return text
    }

    public mutating func readPeerID() throws(WireError) -> PeerID {
        PeerID(high: try readUInt64(), low: try readUInt64())
    }

    public mutating func readRemaining() -> ArraySlice<UInt8> {
        defer { index = bytes.endIndex }
        return bytes[index...]
    }

    public func requireEnd() throws(WireError) {
        if remainingCount > 0 { throw .trailing(count: remainingCount) }
    }

    public var remainingCount: Int { bytes.endIndex - index }

    /// Bytes read so far.
    public var consumedCount: Int { index - bytes.startIndex }

    private func require(_ count: Int) throws(WireError) {
        guard count >= 0, remainingCount >= count else {
            throw .truncated(needed: count, available: remainingCount)
        }
    }
}

extension String {
    /// A string of these bytes if they are valid UTF-8.
    ///
    /// The standard library's initializer of this purpose came with Swift 6.0 but not on every
    /// platform version; this spelling compiles with both compilers that we support.
    fileprivate init?(validating bytes: ArraySlice<UInt8>, as encoding: UTF8.Type) {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var scalars = String.UnicodeScalarView()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): scalars.append(scalar)
            case .emptyInput:
                self = String(scalars)
                return
            case .error: return nil
            }
        }
    }
}

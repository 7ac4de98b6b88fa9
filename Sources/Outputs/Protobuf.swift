/// Writes protobuf's fields (protobuf.dev, Encoding), whose numbers are below 16.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    /// A message within a field.
    mutating func write(_ field: UInt8, _ message: (inout ProtobufWriter) -> Void) {
        var inner = ProtobufWriter()
        message(&inner)
        bytes.append(field << 3 | 2)
        write(varint: UInt64(inner.bytes.count))
        bytes += inner.bytes
    }

    mutating func write(_ field: UInt8, text: String) {
        bytes.append(field << 3 | 2)
        write(varint: UInt64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func write(_ field: UInt8, double: Double) {
        bytes.append(field << 3 | 1)
        let pattern = double.bitPattern
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: pattern >> shift))
        }
    }

    /// As int64: of negative ones all ten bytes.
    mutating func write(_ field: UInt8, integer: Int64) {
        bytes.append(field << 3)
        write(varint: UInt64(bitPattern: integer))
    }

    mutating func write(_ field: UInt8, unsigned: UInt64) {
        bytes.append(field << 3)
        write(varint: unsigned)
    }

    mutating func write(_ field: UInt8, flag: Bool) { write(field, unsigned: flag ? 1 : 0) }

    private mutating func write(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Reads such a message, field by field; nil at its end and where it is no such message.
struct ProtobufReader {
    enum Value {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    /// How a field's value is laid out.
    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case counted = 2
        case fixed32 = 5
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func next() -> (field: UInt64, value: Value)? {
        guard let key = varint(), let type = WireType(rawValue: key & 7) else {
            return nil
        }
        let value: Value?
        switch type {
        case .varint: value = varint().map(Value.number)
        case .fixed64: value = fixed(8)
        case .fixed32: value = fixed(4)
        case .counted:
            guard let count = varint(), count <= UInt64(rest.count) else { return nil }
            value = .bytes(rest.prefix(Int(count)))
            rest = rest.dropFirst(Int(count))
        }
        return value.map { (key >> 3, $0) }
    }

    private mutating func fixed(_ count: Int) -> Value? {
        guard rest.count >= count else { return nil }
        var value: UInt64 = 0
        for byte in rest.prefix(count).reversed() { value = value << 8 | UInt64(byte) }
        rest = rest.dropFirst(count)
        return .number(value)
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}

import NearbyCore
import NearbyLinux

/// A controller's address as the kernel has it.
public struct BluetoothAddress: Comparable, Sendable, CustomStringConvertible {
    /// 48 bits, most significant byte first, as it is written.
    public let value: UInt64
    public let kind: BluetoothAddressKind

    public init(value: UInt64, kind: BluetoothAddressKind) {
        self.value = value & 0xffff_ffff_ffff
        self.kind = kind
    }

    /// Nil if it is no Bluetooth address.
    public init?(_ address: TransportAddress) {
        guard case .bluetooth(let value, let kind) = address else { return nil }
        self.init(value: value, kind: kind)
    }

    /// Reads `AA:BB:CC:DD:EE:FF`; nil for anything else.
    public init?(text: String, kind: BluetoothAddressKind) {
        var value: UInt64 = 0
        var digits = 0
        for (place, character) in text.utf8.enumerated() {
            if place % 3 == 2 {
                guard character == UInt8(ascii: ":") else { return nil }
                continue
            }
            guard let digit = Character(Unicode.Scalar(character)).hexDigitValue, digits < 12 else {
                return nil
            }
            value = value << 4 | UInt64(digit)
            digits += 1
        }
        guard digits == 12, text.utf8.count == 17 else { return nil }
        self.init(value: value, kind: kind)
    }

    public var transportAddress: TransportAddress { .bluetooth(address: value, kind: kind) }

    public var description: String { AddressText(address: transportAddress).description }

    public static func < (left: BluetoothAddress, right: BluetoothAddress) -> Bool {
        left.value != right.value
            ? left.value < right.value : left.kind.rawValue < right.kind.rawValue
    }
}

extension ByteReader {
    /// A little-endian unsigned integer of 1–8 bytes: Bluetooth's order.
    mutating func readLittleEndian(byteCount: Int) throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        for byte in try readBytes(byteCount).reversed() { value = value << 8 | UInt64(byte) }
        return value
    }

    mutating func readLittleEndian16() throws(WireError) -> UInt16 {
        UInt16(truncatingIfNeeded: try readLittleEndian(byteCount: 2))
    }

    mutating func readLittleEndian32() throws(WireError) -> UInt32 {
        UInt32(truncatingIfNeeded: try readLittleEndian(byteCount: 4))
    }

    /// An address and its type, 7 bytes, as the management interface has them.
    mutating func readBluetoothAddress() throws(WireError) -> BluetoothAddress {
        let value = try readLittleEndian(byteCount: 6)
        guard let kind = BluetoothAddressKind(rawValue: try readUInt8()) else {
            throw .invalid(field: "address type")
        }
        return BluetoothAddress(value: value, kind: kind)
    }
}

extension ByteWriter {
    /// The low `byteCount` bytes of `value`, least significant first: Bluetooth's order.
    mutating func writeLittleEndian(_ value: UInt64, byteCount: Int) {
        for position in 0..<byteCount {
            write(UInt8(truncatingIfNeeded: value >> UInt64(position * 8)))
        }
    }
}

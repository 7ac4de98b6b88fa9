import CLinux
import Glibc
import NearbyCore

/// One message of a netlink datagram (netlink(7)): host byte order, padded to four bytes.
struct NetlinkMessage {
    let type: UInt16
    let flags: UInt16
    let body: NativeBytes

    /// The messages of a datagram; what follows a length that cannot be is left out.
    static func all(in datagram: [UInt8]) -> [NetlinkMessage] {
        // struct nlmsghdr: length 4, type 2, flags 2, sequence 4, sender 4.
        let bytes = NativeBytes(datagram[...])
        var messages: [NetlinkMessage] = []
        var offset = 0
        while let length = bytes.uint32(offset).map(Int.init), length >= 16,
            let type = bytes.uint16(offset + 4), let flags = bytes.uint16(offset + 6),
            let body = bytes.part(offset + 16, length - 16)
        {
            messages.append(NetlinkMessage(type: type, flags: flags, body: body))
            offset += (length + 3) & ~3
        }
        return messages
    }
}

/// Checked access to bytes in host order. Nil for what is not there.
struct NativeBytes {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    func uint8(_ offset: Int) -> UInt8? { load(offset) }

    func uint16(_ offset: Int) -> UInt16? { load(offset) }

    func uint32(_ offset: Int) -> UInt32? { load(offset) }

    func part(_ offset: Int, _ count: Int) -> NativeBytes? {
        guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else {
            return nil
        }
        let start = bytes.startIndex + offset
        return NativeBytes(bytes[start..<start + count])
    }

    /// Text up to the first NUL.
    func string() -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// An IP address in network order, of exactly its family's length; port 0.
    func address(family: UInt8) -> TransportAddress? {
        var reader = ByteReader(bytes)
        switch Int32(family) {
        case AF_INET where bytes.count == 4:
            guard let host = try? reader.readUInt32() else { return nil }
            return .ipv4(address: host, port: 0)
        case AF_INET6 where bytes.count == 16:
            guard let high = try? reader.readUInt64(), let low = try? reader.readUInt64() else {
                return nil
            }
            return .ipv6(high: high, low: low, port: 0)
        default: return nil
        }
    }

    /// The attributes from an offset on: length 2, type 2 (two bits of it flags), value, padding to
    /// four.
    func attributes(from start: Int) -> [(type: UInt16, body: NativeBytes)] {
        var result: [(type: UInt16, body: NativeBytes)] = []
        var offset = start
        while let length = uint16(offset).map(Int.init), length >= 4, let type = uint16(offset + 2),
            let body = part(offset + 4, length - 4)
        {
            result.append((type: type & 0x3fff, body: body))
            offset += (length + 3) & ~3
        }
        return result
    }

    private func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Value? {
        guard let part = part(offset, MemoryLayout<Value>.size) else { return nil }
        return part.bytes.withUnsafeBytes { $0.loadUnaligned(as: Value.self) }
    }
}

import Glibc
import NearbyCore

/// This machine's addresses that mean the same beyond its own wires.
enum OwnAddresses {
    /// IPv4 before IPv6, without a port.
    static var all: [TransportAddress] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: Set<TransportAddress> = []
        var next = first
        while let entry = next, found.count < 64 {
            next = entry.pointee.ifa_next
            let flags = Int32(bitPattern: entry.pointee.ifa_flags)
            let isUp = flags & Int32(IFF_UP) != 0
            let isLoopback = flags & Int32(IFF_LOOPBACK) != 0
            guard isUp, !isLoopback, let raw = entry.pointee.ifa_addr else { continue }
            if let address = address(raw) { found.insert(address) }
        }
        return found.sorted()
    }

    /// Nil: link-local, or another family.
    private static func address(_ raw: UnsafeMutablePointer<sockaddr>) -> TransportAddress? {
        switch Int32(raw.pointee.sa_family) {
        case AF_INET:
            let address = raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
            }
            return address >> 16 == 0xa9fe ? nil : .ipv4(address: address, port: 0)
        case AF_INET6:
            let bytes = raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
            }
            let word = { (part: ArraySlice<UInt8>) in
                part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            }
            guard bytes[0] != 0xfe || bytes[1] & 0xc0 != 0x80 else { return nil }
            return .ipv6(high: word(bytes[..<8]), low: word(bytes[8...]), port: 0)
        default: return nil
        }
    }
}

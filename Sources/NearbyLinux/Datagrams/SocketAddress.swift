import CLinux
import Glibc
import NearbyCore

/// A socket address in the kernel's form: `TransportAddress` to and from `sockaddr_in`,
/// `sockaddr_in6`.
struct SocketAddress: Sendable {
    var storage = sockaddr_storage()
    /// Bytes of `storage` that are in use.
    let length: socklen_t

    /// `scope` is the interface index that a link-local IPv6 address needs, otherwise unused. Nil
    /// for an address that is not an IP address.
    init?(_ address: TransportAddress, scope: UInt32) {
        switch address {
        case .ipv4(let host, let port):
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            form.sin_addr.s_addr = host.bigEndian
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: form, as: sockaddr_in.self) }
        case .ipv6(let high, let low, let port):
            var form = sockaddr_in6()
            form.sin6_family = sa_family_t(AF_INET6)
            form.sin6_port = port.bigEndian
            form.sin6_addr = in6_addr(high: high, low: low)
            form.sin6_scope_id = address.isLinkScoped ? scope : 0
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: form, as: sockaddr_in6.self) }
        case .bluetooth, .simulated: return nil
        }
    }

    /// Reads what the kernel wrote: nil for another family or for fewer bytes than the family
    /// needs.
    static func transportAddress(_ bytes: UnsafeRawBufferPointer) -> TransportAddress? {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch Int32(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
            let form = bytes.loadUnaligned(as: sockaddr_in.self)
            return .ipv4(
                address: UInt32(bigEndian: form.sin_addr.s_addr),
                port: UInt16(bigEndian: form.sin_port))
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
            let form = bytes.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = form.sin6_addr.words
            return .ipv6(high: high, low: low, port: UInt16(bigEndian: form.sin6_port))
        default: return nil
        }
    }

    /// The interface index inside an IPv6 address that the kernel wrote; 0 if there is none.
    static func scope(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        guard bytes.count >= MemoryLayout<sockaddr_in6>.size,
            Int32(bytes.loadUnaligned(as: sa_family_t.self)) == AF_INET6
        else { return 0 }
        return bytes.loadUnaligned(as: sockaddr_in6.self).sin6_scope_id
    }

    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

extension in6_addr {
    init(high: UInt64, low: UInt64) {
        self.init()
        withUnsafeMutableBytes(of: &self) {
            $0.storeBytes(of: high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }

    var words: (high: UInt64, low: UInt64) {
        withUnsafeBytes(of: self) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

extension TransportAddress {
    /// Means something on one link only: fe80::/10, or a multicast address of interface or link
    /// scope.
    public var isLinkScoped: Bool {
        guard case .ipv6(let high, _, _) = self else { return false }
        let isLinkLocal = high >> 54 == 0xfe80 >> 6
        let isLinkMulticast = high >> 56 == 0xff && (1...2).contains(high >> 48 & 0xf)
        return isLinkLocal || isLinkMulticast
    }

    /// A multicast group, or IPv4's limited broadcast.
    public var isMulticast: Bool {
        switch self {
        case .ipv4(let host, _): host >> 28 == 0xe || host == .max
        case .ipv6(let high, _, _): high >> 56 == 0xff
        case .bluetooth, .simulated: false
        }
    }

    /// The same host at another port.
    public func with(port: UInt16) -> TransportAddress {
        switch self {
        case .ipv4(let host, _): .ipv4(address: host, port: port)
        case .ipv6(let high, let low, _): .ipv6(high: high, low: low, port: port)
        case .bluetooth, .simulated: self
        }
    }

    public var port: UInt16? {
        switch self {
        case .ipv4(_, let port), .ipv6(_, _, let port): port
        case .bluetooth, .simulated: nil
        }
    }
}

/// A unix socket's address.
struct UnixAddress {
    private var form = sockaddr_un()
    private let length: socklen_t

    /// A path, or `@name` for the abstract namespace. Nil if it is empty, holds a NUL or is too
    /// long: 107 bytes for a path, 108 with the @ for a name.
    init?(text: String) {
        var bytes = Array(text.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        let room = MemoryLayout.size(ofValue: form.sun_path) - (isAbstract ? 0 : 1)
        guard !bytes.isEmpty, bytes.count <= room, !bytes.contains(0) else { return nil }
        if isAbstract { bytes[0] = 0 }
        form.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &form.sun_path) { $0.copyBytes(from: bytes) }
        let header = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        length = socklen_t(header + bytes.count + (isAbstract ? 0 : 1))
    }

    func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: form) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}

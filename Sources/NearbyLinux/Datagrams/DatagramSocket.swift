import CLinux
import Glibc
import NearbyCore

/// Why the sockets of the network could not be opened.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `call` names what was tried: `bind 0.0.0.0:4577`.
    case portInUse(UInt16, call: String)
    case portNotPermitted(UInt16)
    /// The kernel has neither IPv4 nor IPv6.
    case noInternetProtocol
    case system(SystemError)

    public var description: String {
        switch self {
        case .portInUse(let port, let call):
            "UDP port \(port) is in use (\(call)), perhaps by another agent: stop that one, choose "
                + "another port, or 0 to let the kernel choose; `ss -ulpn` shows who has it"
        case .portNotPermitted(let port):
            "UDP port \(port) needs privileges that this process lacks: choose one above 1023, or 0"
        case .noInternetProtocol: "this kernel offers neither IPv4 nor IPv6"
        case .system(let error): error.description
        }
    }
}

extension FileDescriptor {
    /// A UDP socket whose datagrams come with link and destination (IP_PKTINFO) and with the number
    /// of those lost to a full buffer (SO_RXQ_OVFL). Nil if the kernel lacks the family.
    static func datagramSocket(_ family: Int32) throws(SystemError) -> FileDescriptor? {
        let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let raw = socket(family, kind, 0)
        if raw < 0, errno == EAFNOSUPPORT { return nil }
        let file = try FileDescriptor(taking: raw, from: "socket")
        if family == AF_INET {
            try file.set(IP_PKTINFO, at: Int32(IPPROTO_IP), to: 1)
        } else {
            try file.set(IPV6_V6ONLY, at: Int32(IPPROTO_IPV6), to: 1)
            try file.set(IPV6_RECVPKTINFO, at: Int32(IPPROTO_IPV6), to: 1)
        }
        file.trySet(SO_RXQ_OVFL, at: SOL_SOCKET, to: 1)
        return file
    }

    /// Binds to a port on every address of the family. False if the family is switched off.
    func bindToAny(_ family: Int32, port: UInt16) throws(TransportError) -> Bool {
        let isIPv4 = family == AF_INET
        let any: TransportAddress =
            isIPv4 ? .ipv4(address: 0, port: port) : .ipv6(high: 0, low: 0, port: port)
        let call = "bind \(AddressText(address: any))"
        guard let form = SocketAddress(any, scope: 0) else { return false }
        if form.withSockaddr({ bind(raw, $0, $1) }) == 0 { return true }
        switch errno {
        case EADDRINUSE: throw .portInUse(port, call: call)
        case EACCES: throw .portNotPermitted(port)
        case EADDRNOTAVAIL: return false
        default: throw .system(.last(call))
        }
    }

    /// The address that the socket is bound to.
    func localAddress() throws(SystemError) -> TransportAddress {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(raw, $0, &length) }
        }
        let address = withUnsafeBytes(of: storage) { SocketAddress.transportAddress($0) }
        guard result == 0, let address else { throw .last("getsockname") }
        return address
    }
}

import Glibc

/// Ports that programs of this machine listen at (TCP).
enum ListeningPort {
    /// Whether something listens there. Binds as the page's server does.
    static func isTaken(_ address: String, _ port: UInt16) -> Bool {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, "\(port)", &hints, &list) == 0, let found = list?.pointee else {
            return false
        }
        defer { freeaddrinfo(list) }
        let file = socket(found.ai_family, found.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        var on: Int32 = 1
        let size = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, size)
        if found.ai_family == AF_INET6 {
            setsockopt(file, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, size)
        }
        return bind(file, found.ai_addr, found.ai_addrlen) != 0 && errno == EADDRINUSE
    }
}

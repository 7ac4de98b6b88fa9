import CLinux
import Glibc
import NearbyCore

/// A datagram of ours that could not be delivered: nobody listens at the port, or no host is there.
/// Whoever sent that ICMP message may have made it up.
public struct ReturnedDatagram: Sendable {
    /// Where it was sent to. Only a link-local address comes with its link, others with 0.
    public let endpoint: Endpoint
    /// Its first bytes, as many as were quoted: possibly none, at most `Limits.quotedBytesMax`.
    public let quote: [UInt8]
}

extension Limits {
    /// Of a returned datagram.
    public static let quotedBytesMax = 128
}

extension FileDescriptor {
    /// Lets the kernel keep ICMP errors (IP_RECVERR). The next call on the socket then fails with
    /// the error of an earlier datagram, whomever that was for.
    func keepReturnedDatagrams(_ family: Int32) {
        if family == AF_INET {
            trySet(IP_RECVERR, at: Int32(IPPROTO_IP), to: 1)
        } else {
            trySet(IPV6_RECVERR, at: Int32(IPPROTO_IPV6), to: 1)
        }
    }

    /// Takes all errors that wait, at most `Limits.datagramsPerPassMax`, and hands over what was
    /// returned. They must be taken: while one waits, the socket is never quiet.
    func takeReturned(_ body: (ReturnedDatagram) -> Void) {
        for _ in 0..<Limits.datagramsPerPassMax {
            guard takeError(body) else { return }
        }
    }

    /// False if none waits.
    private func takeError(_ body: (ReturnedDatagram) -> Void) -> Bool {
        withUnsafeTemporaryAllocation(
            byteCount: Limits.quotedBytesMax + Self.errorControlBytes, alignment: 16
        ) { buffer in
            var name = sockaddr_storage()
            var vector = iovec(iov_base: buffer.baseAddress, iov_len: Limits.quotedBytesMax)
            return withUnsafeMutablePointer(to: &vector) { vector in
                withUnsafeMutablePointer(to: &name) { name in
                    var message = msghdr()
                    message.msg_name = UnsafeMutableRawPointer(name)
                    message.msg_namelen = socklen_t(MemoryLayout<sockaddr_storage>.size)
                    message.msg_iov = vector
                    message.msg_iovlen = 1
                    message.msg_control = buffer.baseAddress.map { $0 + Limits.quotedBytesMax }
                    message.msg_controllen = Self.errorControlBytes
                    let count = recvmsg(
                        raw, &message, Int32(MSG_ERRQUEUE) | Int32(MSG_DONTWAIT))
                    guard count >= 0 else { return false }
                    let target = UnsafeRawBufferPointer(
                        start: name, count: Int(message.msg_namelen))
                    if reportsUnreachable(&message),
                        let address = SocketAddress.transportAddress(target)
                    {
                        let link = LinkID(value: SocketAddress.scope(target))
                        let quote = Array(buffer.prefix(min(count, Limits.quotedBytesMax)))
                        body(
                            ReturnedDatagram(
                                endpoint: Endpoint(link: link, address: address), quote: quote))
                    }
                    return true
                }
            }
        }
    }

    private func reportsUnreachable(_ message: inout msghdr) -> Bool {
        var next = clinux_cmsg_first(&message)
        while let header = next {
            switch (header.pointee.cmsg_level, header.pointee.cmsg_type) {
            case (Int32(IPPROTO_IP), IP_RECVERR), (Int32(IPPROTO_IPV6), IPV6_RECVERR):
                guard let data = clinux_cmsg_data(header) else { return false }
                let error = data.loadUnaligned(as: sock_extended_err.self)
                let isICMP =
                    Int32(error.ee_origin) == SO_EE_ORIGIN_ICMP
                    || Int32(error.ee_origin) == SO_EE_ORIGIN_ICMP6
                return isICMP && [ECONNREFUSED, EHOSTUNREACH].contains(Int32(error.ee_errno))
            default: next = clinux_cmsg_next(&message, header)
            }
        }
        return false
    }

    /// IPV6_RECVERR with the address of who complains, IPV6_PKTINFO beside it.
    private static let errorControlBytes = 256
}

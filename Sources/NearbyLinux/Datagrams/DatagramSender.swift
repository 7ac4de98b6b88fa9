import CLinux
import Glibc
import NearbyCore

/// The form that `sendmsg` wants, kept and filled anew for every datagram.
final class DatagramSender {
    private let control: UnsafeMutableRawPointer
    private static let controlBytes = 64

    init() { control = .allocate(byteCount: Self.controlBytes, alignment: 16) }

    deinit { control.deallocate() }

    func send(_ bytes: [UInt8], to endpoint: Endpoint, by file: FileDescriptor) -> SendOutcome {
        bytes.withUnsafeBytes { send($0, cutEvery: nil, to: endpoint, by: file) }
    }

    /// Several datagrams at once.
    func send(_ train: DatagramTrain, by file: FileDescriptor) -> SendOutcome {
        guard let endpoint = train.endpoint else { return .sent }
        let size = UInt16(clamping: train.datagramBytes)
        return send(train.bytes, cutEvery: size, to: endpoint, by: file)
    }

    private func send(
        _ payload: UnsafeRawBufferPointer, cutEvery size: UInt16?, to endpoint: Endpoint,
        by file: FileDescriptor
    ) -> SendOutcome {
        let link = endpoint.link.value
        guard let address = SocketAddress(endpoint.address, scope: link) else {
            return .unreachable
        }
        let count = address.withSockaddr { name, length in
            var vector = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: payload.baseAddress),
                iov_len: payload.count)
            return withUnsafeMutablePointer(to: &vector) { vector in
                var message = msghdr()
                message.msg_name = UnsafeMutableRawPointer(mutating: UnsafeRawPointer(name))
                message.msg_namelen = length
                message.msg_iov = vector
                message.msg_iovlen = 1
                message.msg_control = control
                if link != 0 { choose(link, for: endpoint.address, in: &message) }
                if let size { append(size, level: Self.udp, type: Self.segment, to: &message) }
                return Self.send(&message, by: file)
            }
        }
        return count >= 0 ? .sent : Self.outcome(errno)
    }

    /// Past the errors of earlier datagrams: the kernel tells the last of them with whatever call
    /// comes next, and any ICMP message, forged ones too, may be one.
    private static func send(_ message: inout msghdr, by file: FileDescriptor) -> Int {
        for _ in 0..<Limits.earlierErrorsMax {
            let count = sendmsg(file.raw, &message, clinux_msg_nosignal())
            guard count < 0, ![EAGAIN, ENOBUFS, ENOMEM].contains(errno) else { return count }
        }
        return sendmsg(file.raw, &message, clinux_msg_nosignal())
    }

    /// Names the link to leave by; the kernel takes the link's own address as source.
    private func choose(_ link: UInt32, for address: TransportAddress, in message: inout msghdr) {
        if case .ipv4 = address {
            var info = in_pktinfo()
            info.ipi_ifindex = Int32(truncatingIfNeeded: link)
            append(info, level: Int32(IPPROTO_IP), type: IP_PKTINFO, to: &message)
        } else {
            var info = in6_pktinfo()
            info.ipi6_ifindex = link
            append(info, level: Int32(IPPROTO_IPV6), type: IPV6_PKTINFO, to: &message)
        }
    }

    private func append<Info>(
        _ info: Info, level: Int32, type: Int32, to message: inout msghdr
    ) {
        let size = MemoryLayout<Info>.size
        let header = (control + Int(message.msg_controllen)).assumingMemoryBound(to: cmsghdr.self)
        message.msg_controllen += clinux_cmsg_space(size)
        header.pointee.cmsg_level = level
        header.pointee.cmsg_type = type
        header.pointee.cmsg_len = clinux_cmsg_length(size)
        clinux_cmsg_data(header).storeBytes(of: info, as: Info.self)
    }

    /// SOL_UDP and UDP_SEGMENT of <linux/udp.h>, which Glibc's module lacks.
    private static let udp = Int32(IPPROTO_UDP)
    private static let segment: Int32 = 103

    private static func outcome(_ code: Int32) -> SendOutcome {
        switch code {
        case EAGAIN: .wouldBlock
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, ENODEV, ENXIO, EADDRNOTAVAIL, ECONNREFUSED:
            .unreachable
        case ENOBUFS, ENOMEM: .noBuffers
        default: .failed(code: code)
        }
    }
}

extension Limits {
    /// Errors of earlier datagrams that one datagram gets past.
    fileprivate static let earlierErrorsMax = 2
}

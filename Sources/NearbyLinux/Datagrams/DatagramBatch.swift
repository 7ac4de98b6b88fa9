import CLinux
import Glibc
import NearbyCore

/// A datagram and what the kernel says about it.
public struct ReceivedDatagram: Sendable {
    /// At most `Limits.datagramBytesMax`.
    public let bytes: [UInt8]
    /// The sender, and the link on which the datagram came in.
    public let source: Endpoint
    /// Where it was sent to: one of our addresses, or a group; the port is 0.
    public let destination: TransportAddress
    /// Sent to a group or to a broadcast address rather than to us.
    public let isMulticast: Bool
}

/// Buffers for `recvmmsg`, used again and again.
final class DatagramBatch {
    let capacity: Int
    private let messages: UnsafeMutablePointer<mmsghdr>
    private let vectors: UnsafeMutablePointer<iovec>
    private let names: UnsafeMutablePointer<sockaddr_storage>
    private let payloads: UnsafeMutableRawPointer
    private let controls: UnsafeMutableRawPointer
    /// Headers that the last call wrote over.
    private var used: Int

    private static let payloadBytes = Limits.datagramBytesMax
    /// IPV6_PKTINFO is the largest, SO_RXQ_OVFL comes beside it.
    private static let controlBytes = 128

    init(capacity: Int) {
        self.capacity = capacity
        used = capacity
        messages = .allocate(capacity: capacity)
        vectors = .allocate(capacity: capacity)
        names = .allocate(capacity: capacity)
        payloads = .allocate(byteCount: capacity * Self.payloadBytes, alignment: 16)
        controls = .allocate(byteCount: capacity * Self.controlBytes, alignment: 16)
        names.initialize(repeating: sockaddr_storage(), count: capacity)
        for index in 0..<capacity {
            (vectors + index).initialize(
                to: iovec(
                    iov_base: payloads + index * Self.payloadBytes, iov_len: Self.payloadBytes))
            (messages + index).initialize(to: mmsghdr())
        }
    }

    deinit {
        messages.deallocate()
        vectors.deallocate()
        names.deallocate()
        payloads.deallocate()
        controls.deallocate()
    }

    /// Fills the buffers from a socket: how many datagrams came, at most `wanted` and the capacity.
    /// Fewer than both: no more wait. Nil: none waits.
    func fill(from file: FileDescriptor, _ wanted: Int) -> Int? {
        let wanted = min(wanted, capacity)
        prepare(used)
        var count = recvmmsg(file.raw, messages, UInt32(wanted), Int32(MSG_DONTWAIT), nil)
        // The error of a datagram that we sent, told once: what waits is behind it.
        if count < 0, errno != EAGAIN {
            count = recvmmsg(file.raw, messages, UInt32(wanted), Int32(MSG_DONTWAIT), nil)
        }
        used = max(0, Int(count))
        return count < 0 ? nil : used
    }

    private func prepare(_ count: Int) {
        for index in 0..<count {
            messages[index].msg_len = 0
            messages[index].msg_hdr.msg_name = UnsafeMutableRawPointer(names + index)
            messages[index].msg_hdr.msg_namelen = socklen_t(MemoryLayout<sockaddr_storage>.size)
            messages[index].msg_hdr.msg_iov = vectors + index
            messages[index].msg_hdr.msg_iovlen = 1
            messages[index].msg_hdr.msg_control = controls + index * Self.controlBytes
            messages[index].msg_hdr.msg_controllen = Self.controlBytes
            messages[index].msg_hdr.msg_flags = 0
        }
    }

    /// The datagram was longer than a buffer, so cut off.
    func isTruncated(at index: Int) -> Bool {
        messages[index].msg_hdr.msg_flags & Int32(MSG_TRUNC) != 0
    }

    /// What is in a datagram of the last `fill`, until the next.
    func payload(at index: Int) -> UnsafeRawBufferPointer {
        let count = min(Int(messages[index].msg_len), Self.payloadBytes)
        return UnsafeRawBufferPointer(
            start: payloads + index * Self.payloadBytes, count: count)
    }

    /// A datagram of the last `fill`; nil if the kernel did not say where it came from. `overflow`
    /// is raised to the number of datagrams that the socket's full buffer has cost so far
    /// (SO_RXQ_OVFL).
    func datagram(at index: Int, overflow: inout UInt32) -> ReceivedDatagram? {
        let nameLength = Int(messages[index].msg_hdr.msg_namelen)
        let name = UnsafeRawBufferPointer(start: names + index, count: nameLength)
        guard let sender = SocketAddress.transportAddress(name),
            let arrival = arrival(of: &messages[index].msg_hdr, &overflow)
        else { return nil }
        return ReceivedDatagram(
            bytes: Array(payload(at: index)),
            source: Endpoint(link: LinkID(value: arrival.interface), address: sender),
            destination: arrival.destination,
            isMulticast: arrival.isMulticast)
    }

    private struct Arrival {
        var interface: UInt32
        var destination: TransportAddress
        var isMulticast: Bool
    }

    private func arrival(of message: inout msghdr, _ overflow: inout UInt32) -> Arrival? {
        var arrival: Arrival?
        var next = clinux_cmsg_first(&message)
        while let header = next {
            guard let data = clinux_cmsg_data(header) else { break }
            switch (header.pointee.cmsg_level, header.pointee.cmsg_type) {
            case (Int32(IPPROTO_IP), IP_PKTINFO):
                let info = data.loadUnaligned(as: in_pktinfo.self)
                // The two differ for multicast and for every kind of broadcast, a subnet's
                // included.
                arrival = Arrival(
                    interface: UInt32(bitPattern: info.ipi_ifindex),
                    destination: .ipv4(address: UInt32(bigEndian: info.ipi_addr.s_addr), port: 0),
                    isMulticast: info.ipi_addr.s_addr != info.ipi_spec_dst.s_addr)
            case (Int32(IPPROTO_IPV6), IPV6_PKTINFO):
                let info = data.loadUnaligned(as: in6_pktinfo.self)
                let (high, low) = info.ipi6_addr.words
                let destination = TransportAddress.ipv6(high: high, low: low, port: 0)
                arrival = Arrival(
                    interface: UInt32(info.ipi6_ifindex), destination: destination,
                    isMulticast: destination.isMulticast)
            case (SOL_SOCKET, SO_RXQ_OVFL):
                overflow = data.loadUnaligned(as: UInt32.self)
            default: break
            }
            next = clinux_cmsg_next(&message, header)
        }
        return arrival
    }
}

import CLinux
import Glibc
import NearbyCore

/// Hears beacons: both groups on every link that was joined, and IPv4 broadcast.
///
/// Several agents of one host hear everything alike, because the port is shared (SO_REUSEADDR; not
/// SO_REUSEPORT, which would ask for one user). Beacons are sent by `UDPTransport`, so that their
/// source is the data endpoint.
public final class BeaconSocket {
    /// What became of a join on one link: whether each IP version hears.
    public struct GroupMembership: Hashable, Sendable {
        public var ipv4: Bool
        public var ipv6: Bool
    }

    private let ipv4: FileDescriptor?
    private let ipv6: FileDescriptor?
    private let receivers: [DatagramReceiver]
    private var joined: [LinkID: GroupMembership] = [:]
    /// As `UDPTransport.configuredLinks`: broadcasts arrive on links that were never joined.
    public var configuredLinks: [LinkID]? {
        didSet { for receiver in receivers { receiver.configuredLinks = configuredLinks } }
    }

    public init() throws(TransportError) {
        let four = try Self.open(AF_INET)
        let six = try Self.open(AF_INET6)
        guard four != nil || six != nil else { throw TransportError.noInternetProtocol }
        (ipv4, ipv6) = (four, six)
        let batch = DatagramBatch(capacity: 8)
        receivers = [four, six].compactMap { $0.map { DatagramReceiver($0, batch) } }
    }

    /// The sockets, to be registered for reading.
    public var descriptors: [Int32] { receivers.map(\.file.raw) }

    public var drops: DropCounters {
        var all = DropCounters()
        for receiver in receivers { all.add(receiver.drops) }
        return all
    }

    /// The links that were joined, in order.
    public var links: [(link: LinkID, membership: GroupMembership)] {
        joined.sorted { $0.key < $1.key }.map { (link: $0.key, membership: $0.value) }
    }

    /// Joins both groups on a link. Also right when the link was joined before: after its carrier
    /// or its addresses came back the kernel may have forgotten, so the join is made anew.
    @discardableResult
    public func join(_ link: LinkID) -> GroupMembership {
        leave(link)
        let membership = GroupMembership(
            ipv4: ipv4.map { Self.member($0, IP_ADD_MEMBERSHIP, ipv4: link) } ?? false,
            ipv6: ipv6.map { Self.member($0, IPV6_ADD_MEMBERSHIP, ipv6: link) } ?? false)
        joined[link] = membership
        return membership
    }

    /// Forgets a link; harmless if it was not joined or no longer exists.
    public func leave(_ link: LinkID) {
        joined[link] = nil
        if let ipv4 { _ = Self.member(ipv4, IP_DROP_MEMBERSHIP, ipv4: link) }
        if let ipv6 { _ = Self.member(ipv6, IPV6_DROP_MEMBERSHIP, ipv6: link) }
    }

    /// Hands over what has arrived, at most `Limits.datagramsPerPassMax` from each socket. Our own
    /// beacons are among it.
    public func receive(_ body: (ReceivedDatagram) -> Void) {
        for receiver in receivers {
            _ = receiver.receive(hasErrors: false, body, returned: { _ in })
        }
    }

    private static func member(_ file: FileDescriptor, _ option: Int32, ipv4 link: LinkID) -> Bool {
        guard case .ipv4(let group, _) = BeaconGroups.ipv4 else { return false }
        var request = ip_mreqn()
        request.imr_multiaddr.s_addr = group.bigEndian
        request.imr_ifindex = Int32(truncatingIfNeeded: link.value)
        let size = socklen_t(MemoryLayout<ip_mreqn>.size)
        return setsockopt(file.raw, Int32(IPPROTO_IP), option, &request, size) == 0
    }

    private static func member(_ file: FileDescriptor, _ option: Int32, ipv6 link: LinkID) -> Bool {
        guard case .ipv6(let high, let low, _) = BeaconGroups.ipv6 else { return false }
        var request = ipv6_mreq()
        request.ipv6mr_multiaddr = in6_addr(high: high, low: low)
        request.ipv6mr_interface = link.value
        let size = socklen_t(MemoryLayout<ipv6_mreq>.size)
        return setsockopt(file.raw, Int32(IPPROTO_IPV6), option, &request, size) == 0
    }

    /// Nil if the kernel lacks the family.
    private static func open(_ family: Int32) throws(TransportError) -> FileDescriptor? {
        guard let file = try configured(family) else { return nil }
        return try file.bindToAny(family, port: BeaconGroups.port) ? file : nil
    }

    private static func configured(_ family: Int32) throws(TransportError) -> FileDescriptor? {
        do throws(SystemError) {
            guard let file = try FileDescriptor.datagramSocket(family) else { return nil }
            try file.set(SO_REUSEADDR, at: SOL_SOCKET, to: 1)
            // Otherwise a socket hears a group also on links that only another process has joined.
            if family == AF_INET {
                file.trySet(IP_MULTICAST_ALL, at: Int32(IPPROTO_IP), to: 0)
            } else {
                file.trySet(clinux_ipv6_multicast_all(), at: Int32(IPPROTO_IPV6), to: 0)
            }
            return file
        } catch {
            throw .system(error)
        }
    }
}

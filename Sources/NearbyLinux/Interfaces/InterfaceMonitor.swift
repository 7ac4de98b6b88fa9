import CLinux
import Glibc
import NearbyCore

/// Watches the kernel's interfaces (rtnetlink) and says which links to use.
///
/// The kernel itself tells a change of carrier at most once a second (net/core/link_watch.c): the
/// first one at once, another within the same second up to a second late.
public final class InterfaceMonitor {
    private let file: FileDescriptor
    private let selection: InterfaceSelection
    private var table: InterfaceTable
    private var inUse: [LinkID: Interface] = [:]

    /// Begins to watch; the links that are there already come with the first `reload`.
    public init(selection: InterfaceSelection = InterfaceSelection()) throws(SystemError) {
        self.selection = selection
        table = InterfaceTable(linkClass: Self.linkClass)
        let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        file = try FileDescriptor(
            taking: socket(AF_NETLINK, kind, NETLINK_ROUTE), from: "socket AF_NETLINK")
        file.trySet(SO_RCVBUF, at: SOL_SOCKET, to: 1 << 18)
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR)
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file.raw, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        guard result == 0 else { throw .last("bind AF_NETLINK") }
    }

    /// Becomes readable when something has changed.
    public var descriptor: Int32 { file.raw }

    /// The links in use, by index.
    public var usable: [Interface] { inUse.values.sorted { $0.link < $1.link } }

    /// All interfaces, used or not, by index.
    public var interfaces: [Interface] { table.interfaces }

    /// The links over which datagrams may come and go: those that are named, and loopback; nil if
    /// none is named.
    public var configuredLinks: [LinkID]? { selection.configured(table.interfaces) }

    /// The link in use with this name or number: what follows `%` in an `AddressText`.
    public func link(named name: String) -> LinkID? {
        usable.first { $0.name == name || "\($0.link.value)" == name }?.link
    }

    /// The link in use that has this address.
    public func link(having address: TransportAddress) -> LinkID? {
        usable.first { $0.addresses.contains(address.with(port: 0)) }?.link
    }

    /// The link on which the kernel would send to this address; nil if there is no route or we do
    /// not use that link. Sends nothing.
    public func link(toward address: TransportAddress) -> LinkID? {
        guard let target = SocketAddress(address.with(port: 9), scope: 0) else { return nil }
        let family: Int32 = if case .ipv4 = address { AF_INET } else { AF_INET6 }
        let raw = socket(family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard let probe = try? FileDescriptor(taking: raw, from: "socket"),
            target.withSockaddr({ connect(probe.raw, $0, $1) }) == 0
        else { return nil }
        return (try? probe.localAddress()).flatMap { link(having: $0) }
    }

    /// Asks the kernel for everything and returns what differs from what we knew. Takes well under
    /// a millisecond.
    public func reload() throws(SystemError) -> [InterfaceEvent] {
        for _ in 0..<Self.reloadAttempts {
            table = InterfaceTable(linkClass: Self.linkClass)
            discardWaiting()
            let links = try dump(UInt16(RTM_GETLINK))
            let addresses = try dump(UInt16(RTM_GETADDR))
            if links, addresses { break }
        }
        return difference()
    }

    /// Takes the changes that have arrived.
    public func receive() throws(SystemError) -> [InterfaceEvent] {
        for _ in 0..<Self.datagramsPerPass {
            switch read() {
            case .messages(let messages): messages.forEach { table.apply($0) }
            case .nothing: return difference()
            case .overrun: return try reload()
            case .failed(let error): throw error
            }
        }
        return difference()
    }

    private static let reloadAttempts = 3
    private static let datagramsPerPass = 64
    /// More than our receive buffer can hold.
    private static let waitingMax = 10_000
    private static let answerMilliseconds: Int32 = 2_000

    private enum Read {
        case messages([NetlinkMessage])
        case nothing
        /// The kernel had changes that found no room in our buffer.
        case overrun
        case failed(SystemError)
    }

    private func read() -> Read {
        var buffer = [UInt8](repeating: 0, count: 32_768)
        let count = recv(file.raw, &buffer, buffer.count, 0)
        if count >= 0 { return .messages(NetlinkMessage.all(in: Array(buffer.prefix(count)))) }
        switch errno {
        case EAGAIN, EINTR: return .nothing
        case ENOBUFS: return .overrun
        default: return .failed(.last("recv AF_NETLINK"))
        }
    }

    /// Forgets changes that are older than the dump to come: applied after a loss, they could bring
    /// back what is gone.
    private func discardWaiting() {
        var byte: UInt8 = 0
        for _ in 0..<Self.waitingMax {
            if recv(file.raw, &byte, 1, Int32(MSG_TRUNC)) < 0, errno != ENOBUFS { return }
        }
    }

    /// One dump, taken up to its end. False if the kernel's tables changed in between, or changes
    /// were lost: it is to be asked again.
    private func dump(_ type: UInt16) throws(SystemError) -> Bool {
        try request(type)
        var isConsistent = true
        while true {
            switch read() {
            case .messages(let messages):
                for message in messages {
                    if message.flags & UInt16(NLM_F_DUMP_INTR) != 0 { isConsistent = false }
                    if message.type == UInt16(NLMSG_DONE) { return isConsistent }
                    if message.type == UInt16(NLMSG_ERROR) {
                        let code = Int32(bitPattern: message.body.uint32(0) ?? 0)
                        throw SystemError(call: "rtnetlink dump", code: 0 &- code)
                    }
                    table.apply(message)
                }
            case .nothing:
                var descriptor = pollfd(fd: file.raw, events: Int16(POLLIN), revents: 0)
                if poll(&descriptor, 1, Self.answerMilliseconds) == 0 {
                    throw SystemError(call: "rtnetlink dump", code: ETIMEDOUT)
                }
            case .overrun: isConsistent = false
            case .failed(let error): throw error
            }
        }
    }

    /// struct nlmsghdr (length, type, flags, sequence, sender) and a struct rtgenmsg, padded.
    private func request(_ type: UInt16) throws(SystemError) {
        var bytes = [UInt8](repeating: 0, count: 20)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: UInt32(20), as: UInt32.self)
            $0.storeBytes(of: type, toByteOffset: 4, as: UInt16.self)
            $0.storeBytes(of: UInt16(NLM_F_REQUEST | NLM_F_DUMP), toByteOffset: 6, as: UInt16.self)
        }
        guard send(file.raw, bytes, bytes.count, 0) == bytes.count else {
            throw .last("send AF_NETLINK")
        }
    }

    /// What has changed for those who use the links, by index: first those that went down.
    private func difference() -> [InterfaceEvent] {
        let before = inUse
        inUse = selection.usable(table.interfaces)
        var events: [InterfaceEvent] = []
        for old in before.values.sorted(by: { $0.link < $1.link }) where inUse[old.link] == nil {
            events.append(.down(old))
        }
        for new in usable where before[new.link] != new {
            events.append(before[new.link] == nil ? .up(new) : .changed(new))
        }
        return events
    }

    /// Wi-Fi drivers leave a trace in sysfs; everything else counts as Ethernet.
    private static func linkClass(_ name: String) -> LinkClass {
        let isWireless = ["wireless", "phy80211"].contains {
            access("/sys/class/net/\(name)/\($0)", F_OK) == 0
        }
        return isWireless ? .wifi : .ethernet
    }
}

import NearbyCore

/// A network interface as the kernel describes it.
public struct Interface: Hashable, Sendable {
    /// The kernel's interface index. An interface that was deleted and made again has another.
    public let link: LinkID
    public var name: String
    public var linkClass: LinkClass
    /// Bytes of an IP packet.
    public var mtu: UInt32
    /// Up by the administrator's will, and the carrier is there.
    public var isRunning: Bool
    public var isLoopback: Bool
    /// Can be given IPv4 broadcasts: the link is of that kind and has an IPv4 address.
    public var hasBroadcast: Bool
    /// Part of a bridge or a bond, which has the addresses.
    var isEnslaved: Bool
    /// A tunnel, or another kind that leads to no neighbourhood of its own.
    var isTunnel: Bool
    /// Our addresses on it, ports 0, in order; not those that are still being checked for
    /// duplicates.
    public var addresses: [TransportAddress]
}

/// What has happened to the links that we use.
public enum InterfaceEvent: Equatable, Sendable {
    /// To be used from now on.
    case up(Interface)
    /// Addresses, name or MTU are others than before.
    case changed(Interface)
    /// No longer to be used: carrier lost, switched off, deleted, or its last address gone.
    case down(Interface)
}

/// Which interfaces an agent uses.
public struct InterfaceSelection: Hashable, Sendable {
    /// These and no others; empty: every one that leads to neighbours.
    public var names: Set<String>

    public init(names: Set<String> = []) { self.names = names }

    /// The start of names that container engines, hypervisors and VPNs give to their interfaces.
    static let excludedPrefixes = [
        "docker", "br-", "veth", "virbr", "vnet", "lxc", "lxd", "cni", "flannel", "cali", "podman",
        "tun",
        "tap", "wg", "tailscale", "zt", "vmnet", "vboxnet", "ppp", "dummy", "ifb",
    ]

    /// Could be used when it is running.
    func isWanted(_ interface: Interface) -> Bool {
        if !names.isEmpty { return names.contains(interface.name) }
        return !interface.isLoopback && !interface.isEnslaved && !interface.isTunnel
            && !Self.excludedPrefixes.contains { interface.name.hasPrefix($0) }
    }

    /// The links over which datagrams may come and go: those that are named, whether in use or not,
    /// and loopback, over which only this machine speaks. nil: nothing is named, so every link.
    func configured(_ interfaces: [Interface]) -> [LinkID]? {
        guard !names.isEmpty else { return nil }
        return interfaces.filter { $0.isLoopback || isWanted($0) }.map(\.link)
    }

    /// Those in use, by link. Loopback is among them if it is named, or if nothing else could ever
    /// be.
    func usable(_ interfaces: [Interface]) -> [LinkID: Interface] {
        var wanted = interfaces.filter(isWanted)
        if names.isEmpty, wanted.isEmpty { wanted = interfaces.filter(\.isLoopback) }
        let running = wanted.filter { $0.isRunning && !$0.addresses.isEmpty }
        return Dictionary(running.map { ($0.link, $0) }, uniquingKeysWith: { $1 })
    }
}

import NearbyCore
import NearbyEngine
import NearbyLinux

/// The UDP sockets of a node and the interfaces that they are on: what the kernel says of either
/// becomes inputs of the node, and transmissions leave through the sockets.
final class NodeLinks {
    let transport: UDPTransport
    private var arrivals: DataArrivals?
    /// Nil: beacons are off.
    private let beaconSocket: BeaconSocket?
    private let monitor: InterfaceMonitor
    private let log: StandardErrorLog

    init(_ options: NodeOptions, _ log: StandardErrorLog) throws(StartError) {
        self.log = log
        do {
            transport =
                options.usesUDP ? try UDPTransport(port: options.port) : UDPTransport(off: ())
            beaconSocket = options.usesUDP && options.beacon ? try BeaconSocket() : nil
            monitor = try InterfaceMonitor(
                selection: InterfaceSelection(names: Set(options.interfaces)))
        } catch {
            throw StartError(error)
        }
    }

    /// Registers the sockets with the loop, and the interfaces where there is a socket: from now on
    /// the node hears of both.
    func open(for runner: NodeRunner) throws(SystemError) {
        let loop = runner.loop
        let arrivals = DataArrivals(
            transport, loop, isAdmitted: { [unowned runner] in runner.node.hasAdmitted($0) },
            handle: { [unowned runner] in runner.owner?.handle($0, now: $1) })
        try arrivals.open()
        self.arrivals = arrivals
        for descriptor in beaconSocket?.descriptors ?? [] {
            try loop.register(descriptor) { [unowned self, unowned runner] _ in
                receiveBeacons(for: runner)
            }
        }
        guard runner.options.usesUDP else { return }
        try loop.register(monitor.descriptor) { [unowned self, unowned runner] _ in
            do throws(SystemError) {
                runner.linksChanged(apply(try monitor.receive()))
            } catch {
                log.write(.warning, "interfaces: \(error)")
            }
        }
    }

    /// Asks the kernel for all interfaces; what differs from what was known.
    func reload() throws(SystemError) -> [Node.Input] { apply(try monitor.reload()) }

    /// All but what goes over Bluetooth.
    func send(_ transmission: Transmission) {
        switch transmission {
        case .unicast(let bytes, let endpoint): transport.send(bytes, to: endpoint)
        case .multicast(let bytes, let link): transport.multicast(bytes, on: link)
        case .broadcast(let bytes, let link): transport.broadcast(bytes, on: link)
        }
    }

    // MARK: What is known of them

    /// The links in use, in order.
    var inUse: [LinkID] { monitor.usable.map(\.link) }

    /// Our addresses at which others may reach us, with our port: first those that mean the same
    /// everywhere.
    var ownAddresses: [TransportAddress] {
        var (wide, scoped): ([TransportAddress], [TransportAddress]) = ([], [])
        for address in monitor.usable.flatMap(\.addresses) {
            let own = address.with(port: transport.port)
            if own.isLinkScoped { scoped.append(own) } else { wide.append(own) }
        }
        return wide + scoped
    }

    func name(of link: LinkID) -> String? {
        monitor.interfaces.first { $0.link == link }?.name
    }

    /// The link by which an address is reached now; nil while none leads there.
    func link(to text: AddressText) -> LinkID? {
        if let name = text.interface { return monitor.link(named: name) }
        return monitor.link(toward: text.address)
    }

    /// The links on which beacons are heard, with what each hears.
    var memberships: [(link: LinkID, membership: BeaconSocket.GroupMembership)] {
        beaconSocket?.links ?? []
    }

    var drops: DropCounters {
        var drops = transport.drops
        if let arrivals { drops.add(arrivals.drops) }
        if let beaconSocket { drops.add(beaconSocket.drops) }
        return drops
    }

    // MARK: Inputs

    private func receiveBeacons(for runner: NodeRunner) {
        let now = MonotonicClock.now()
        var inputs: [Node.Input] = []
        beaconSocket?.receive { inputs.append(.init($0)) }
        runner.owner?.handle(inputs, now: now)
    }

    private func apply(_ events: [InterfaceEvent]) -> [Node.Input] {
        transport.configuredLinks = monitor.configuredLinks
        beaconSocket?.configuredLinks = monitor.configuredLinks
        return events.map { event in
            switch event {
            case .up(let interface):
                log.write(.information, "\(interface.name): in use")
                return use(interface)
            case .changed(let interface): return use(interface)
            case .down(let interface):
                log.write(.diagnostic, "\(interface.name): no longer in use")
                beaconSocket?.leave(interface.link)
                return .linkDown(interface.link)
            }
        }
    }

    private func use(_ interface: Interface) -> Node.Input {
        _ = beaconSocket?.join(interface.link)
        return .linkUp(interface.link, interface.linkClass)
    }
}

extension Node.Input {
    init(_ datagram: ReceivedDatagram) {
        self = .datagram(
            datagram.bytes, from: datagram.source, isMulticast: datagram.isMulticast)
    }
}

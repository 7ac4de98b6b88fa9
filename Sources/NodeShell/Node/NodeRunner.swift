import Glibc
import NearbyBluetooth
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NearbyWire

/// A program around a node, as its runner sees it.
public protocol NodeOwner: AnyObject {
    /// The node that runs, by itself or in a composition.
    var node: Node { get }
    /// When `deadlineReached` is wanted next.
    var nextDeadline: Instant? { get }
    /// Takes one batch of inputs for the node, and carries out what follows: transmissions and
    /// events go to the runner, and `settled` ends it.
    func handle(_ inputs: [Node.Input], now: Instant)
    func deadlineReached(now: Instant)
}

/// The thin shell around a node: sockets, interfaces and time go in, datagrams go out, on one
/// thread.
public final class NodeRunner {
    public let loop: EventLoop
    public let log: StandardErrorLog
    public let identity: NodeIdentity
    public let options: NodeOptions
    /// Whose node it is; set before anything else is asked of the runner.
    public unowned var owner: (any NodeOwner)?
    /// Called when a peer became a neighbour, or moved, with its address.
    var onAdmitted: ((PeerID, AddressText, Instant) -> Void)?
    /// Called when the links in use, or their addresses, have changed.
    var onLinks: (() -> Void)?
    /// The name by which a service of the system tells of a peer.
    var advertisedName: ((PeerID) -> String?)?
    /// Called for what others advertise over Bluetooth LE, once `listen` asks for it.
    var onAdvertisement: ((HeardAdvertisement, Instant) -> Void)?
    public private(set) var transport: UDPTransport
    private let beaconSocket: BeaconSocket?
    private let monitor: InterfaceMonitor
    var bluetooth: BluetoothTransport?
    var isListening = false
    private var timer: EventLoop.TimerID?
    private var dialAddresses: DialAddresses
    /// Something was told that Bluetooth may care about.
    private var isContentInDoubt = false

    public init(
        _ options: NodeOptions, identity: NodeIdentity, loop: EventLoop, log: StandardErrorLog
    ) throws(StartError) {
        self.loop = loop
        self.log = log
        self.identity = identity
        self.options = options
        dialAddresses = DialAddresses(configured: options.staticPeers)
        do {
            transport =
                options.usesUDP ? try UDPTransport(port: options.port) : UDPTransport(off: ())
            beaconSocket = options.usesUDP && options.beacon ? try BeaconSocket() : nil
            monitor = try InterfaceMonitor(
                selection: InterfaceSelection(names: Set(options.interfaces)))
        } catch let error as TransportError {
            throw StartError(error)
        } catch {
            throw StartError(error)
        }
    }

    /// A node for these sockets; there is to be one.
    public func makeNode() -> Node {
        var configuration = options.configuration
        configuration.dataPort = transport.port
        configuration.sendsBeacons = options.beacon
        return Node(configuration, cryptography: OpenSSLCryptography(identity: identity))
    }

    public var node: Node {
        guard let owner else { preconditionFailure("a runner without an owner has no node") }
        return owner.node
    }

    /// Registers everything with the loop and sends the first beacons.
    public func start() throws(StartError) {
        timer = loop.addTimer { [unowned self] now in owner?.deadlineReached(now: now) }
        do {
            for descriptor in transport.descriptors {
                try loop.register(descriptor) { [unowned self] readiness in
                    receiveData(from: descriptor, readiness)
                }
            }
            for descriptor in beaconSocket?.descriptors ?? [] {
                try loop.register(descriptor) { [unowned self] _ in receiveBeacons() }
            }
            if options.usesUDP {
                try loop.register(monitor.descriptor) { [unowned self] _ in interfacesChanged() }
            }
            handle(.start, at: MonotonicClock.now())
            if options.usesUDP { apply(try monitor.reload()) }
            startBluetooth()
        } catch {
            throw StartError(error)
        }
    }

    /// Hands an input to the node and carries out what follows.
    public func handle(_ input: Node.Input, at now: Instant) {
        owner?.handle([input], now: now)
    }

    public func name(of link: LinkID) -> String {
        if let name = bluetoothName(of: link) { return name }
        return monitor.interfaces.first { $0.link == link }?.name ?? "link \(link.value)"
    }

    public func text(_ endpoint: Endpoint) -> String { addressText(endpoint).description }

    private func addressText(_ endpoint: Endpoint) -> AddressText {
        let scoped = endpoint.address.isLinkScoped ? name(of: endpoint.link) : nil
        return AddressText(address: endpoint.address, interface: scoped)
    }

    /// The links in use, in order.
    var links: [LinkID] { monitor.usable.map(\.link) }

    var shellDrops: DropCounters {
        var drops = transport.drops
        if let beaconSocket { drops.add(beaconSocket.drops) }
        if let bluetooth { drops.add(bluetooth.drops) }
        return drops
    }

    /// The links on which beacons are heard, with what each hears.
    public var memberships: [(link: LinkID, membership: BeaconSocket.GroupMembership)] {
        beaconSocket?.links ?? []
    }

    // MARK: Inputs

    private func receiveData(from descriptor: Int32, _ readiness: EventLoop.Readiness) {
        let now = MonotonicClock.now()
        var inputs: [Node.Input] = []
        transport.receive(
            from: descriptor, readiness: readiness, { inputs.append(.init($0)) },
            returned: { inputs.append(.returned($0.quote, of: $0.endpoint)) })
        owner?.handle(inputs, now: now)
    }

    private func receiveBeacons() {
        let now = MonotonicClock.now()
        var inputs: [Node.Input] = []
        beaconSocket?.receive { inputs.append(.init($0)) }
        owner?.handle(inputs, now: now)
    }

    private func interfacesChanged() {
        do {
            apply(try monitor.receive())
        } catch {
            log.write(.warning, "interfaces: \(error)")
        }
    }

    private func apply(_ events: [InterfaceEvent]) {
        let now = MonotonicClock.now()
        transport.configuredLinks = monitor.configuredLinks
        beaconSocket?.configuredLinks = monitor.configuredLinks
        var inputs: [Node.Input] = []
        for event in events {
            switch event {
            case .up(let interface):
                log.write(.information, "\(interface.name): in use")
                _ = beaconSocket?.join(interface.link)
                inputs.append(.linkUp(interface.link, interface.linkClass))
            case .changed(let interface):
                _ = beaconSocket?.join(interface.link)
                inputs.append(.linkUp(interface.link, interface.linkClass))
            case .down(let interface):
                log.write(.diagnostic, "\(interface.name): no longer in use")
                beaconSocket?.leave(interface.link)
                inputs.append(.linkDown(interface.link))
            }
        }
        guard !events.isEmpty else { return }
        tryStaticPeers(after: inputs, now)
    }

    // MARK: Addresses to try

    /// Our addresses at which others may reach us, with our port: first those that mean the same
    /// everywhere.
    var ownAddresses: [TransportAddress] {
        let all = monitor.usable.flatMap(\.addresses).map { $0.with(port: transport.port) }
        return all.filter { !$0.isLinkScoped } + all.filter(\.isLinkScoped)
    }

    /// Tries these addresses for a while, as if they were configured.
    func tryPeer(_ peer: PeerID, at addresses: [TransportAddress], until: Instant) {
        dialAddresses.add(peer, at: addresses, until: until)
        tryStaticPeers(MonotonicClock.now())
    }

    /// Tries where peers were admitted, in this run and before: for where multicast is silent.
    func tryRememberedPeers(at addresses: [AddressText]) {
        dialAddresses.remembered = addresses
        tryRememberedPeers(MonotonicClock.now())
    }

    private func tryStaticPeers(after inputs: [Node.Input] = [], _ now: Instant) {
        dialAddresses.expire(now)
        let endpoints = dialAddresses.staticEndpoints(on: links, link: link)
        tryRememberedPeers(after: inputs + [.staticPeers(endpoints)], now)
        onLinks?()
    }

    private func tryRememberedPeers(after inputs: [Node.Input] = [], _ now: Instant) {
        let endpoints = dialAddresses.rememberedEndpoints(link: link)
        owner?.handle(inputs + [.rememberedPeers(endpoints)], now: now)
    }

    /// The link by which an address is reached now; nil while none leads there.
    private func link(to text: AddressText) -> LinkID? {
        if let name = text.interface { return monitor.link(named: name) }
        return monitor.link(toward: text.address)
    }

    // MARK: Outputs

    public func carryOut(_ transmission: Transmission, _ now: Instant) {
        switch transmission {
        case .unicast(let bytes, let endpoint):
            if case .bluetooth = endpoint.address {
                bluetooth?.send(bytes, to: endpoint, now: now)
            } else {
                transport.send(bytes, to: endpoint)
            }
        case .multicast(let bytes, let link): transport.multicast(bytes, on: link)
        case .broadcast(let bytes, let link): transport.broadcast(bytes, on: link)
        }
    }

    /// The node told this.
    public func record(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .diagnostic(.neighbourUp(let peer, _, let endpoint)),
            .diagnostic(.neighbourMoved(let peer, _, let endpoint)):
            isContentInDoubt = true
            onAdmitted?(peer, addressText(endpoint), now)
        case .peer, .collector, .diagnostic: isContentInDoubt = true
        case .viewers, .message, .application, .echo: break
        }
    }

    /// All that followed from an input is carried out.
    public func settled(_ now: Instant) {
        if isContentInDoubt {
            isContentInDoubt = false
            tellBluetoothContent(now)
        }
        if let timer { loop.set(timer, to: owner?.nextDeadline) }
    }
}

extension Node.Input {
    fileprivate init(_ datagram: ReceivedDatagram) {
        self = .datagram(
            datagram.bytes, from: datagram.source, isMulticast: datagram.isMulticast)
    }
}

/// A 64-bit number from the kernel's generator.
public func systemRandom() -> UInt64 {
    var generator = SystemRandomNumberGenerator()
    return generator.next()
}

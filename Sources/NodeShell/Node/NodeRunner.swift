import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux

/// The thin shell around a node: what its links hear and time go in, datagrams go out, on one
/// thread. Owns where the node dials besides what it discovers.
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
    let links: NodeLinks
    let bluetooth: BluetoothLink
    private var timer: EventLoop.TimerID?
    private var dialAddresses: DialAddresses

    public init(
        _ options: NodeOptions, identity: NodeIdentity, loop: EventLoop, log: StandardErrorLog
    ) throws(StartError) {
        self.loop = loop
        self.log = log
        self.identity = identity
        self.options = options
        dialAddresses = DialAddresses(configured: options.staticPeers)
        links = try NodeLinks(options, log)
        bluetooth = BluetoothLink(options, log)
    }

    /// A node for these sockets; there is to be one.
    public func makeNode() -> Node {
        var configuration = options.configuration
        configuration.dataPort = port
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
        do throws(SystemError) {
            try links.open(for: self)
            handle(.start, at: MonotonicClock.now())
            if options.usesUDP { linksChanged(try links.reload()) }
        } catch {
            throw StartError(error)
        }
        bluetooth.start(self)
    }

    /// Hands an input to the node and carries out what follows.
    public func handle(_ input: Node.Input, at now: Instant) {
        owner?.handle([input], now: now)
    }

    // MARK: Links

    /// Of the node's data, in UDP.
    var port: UInt16 { links.transport.port }

    public func name(of link: LinkID) -> String {
        bluetooth.name(of: link) ?? links.name(of: link) ?? "link \(link.value)"
    }

    public func text(_ endpoint: Endpoint) -> String { addressText(endpoint).description }

    private func addressText(_ endpoint: Endpoint) -> AddressText {
        let scoped = endpoint.address.isLinkScoped ? name(of: endpoint.link) : nil
        return AddressText(address: endpoint.address, interface: scoped)
    }

    /// Of everything around the node.
    var shellDrops: DropCounters {
        var drops = links.drops
        drops.add(bluetooth.drops)
        return drops
    }

    /// What the interfaces mean to the node now.
    func linksChanged(_ inputs: [Node.Input]) {
        guard !inputs.isEmpty else { return }
        tryStaticPeers(after: inputs, MonotonicClock.now())
    }

    // MARK: Addresses to try

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
        let endpoints = dialAddresses.staticEndpoints(on: links.inUse, link: links.link)
        tryRememberedPeers(after: inputs + [.staticPeers(endpoints)], now)
        onLinks?()
    }

    private func tryRememberedPeers(after inputs: [Node.Input] = [], _ now: Instant) {
        let endpoints = dialAddresses.rememberedEndpoints(link: links.link)
        owner?.handle(inputs + [.rememberedPeers(endpoints)], now: now)
    }

    // MARK: Outputs

    public func carryOut(_ transmission: Transmission, _ now: Instant) {
        if case .unicast(let bytes, let endpoint) = transmission,
            case .bluetooth = endpoint.address
        {
            bluetooth.send(bytes, to: endpoint, now: now)
        } else {
            links.send(transmission)
        }
    }

    /// The node told this.
    public func record(_ event: Node.Event, _ now: Instant) {
        bluetooth.record(event)
        switch event {
        case .diagnostic(.neighbourUp(let peer, _, let endpoint)),
            .diagnostic(.neighbourMoved(let peer, _, let endpoint)):
            onAdmitted?(peer, addressText(endpoint), now)
        case .peer, .collector, .diagnostic, .viewers, .message, .application, .echo: break
        }
    }

    /// All that followed from an input is carried out.
    public func settled(_ now: Instant) {
        bluetooth.settled(self, now)
        if let timer { loop.set(timer, to: owner?.nextDeadline) }
    }
}

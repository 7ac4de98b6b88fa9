import Glibc
import NearbyAvahi
import NearbyBluetooth
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NearbyWire

/// A peer's node of one service, with its sockets: the thin shell around it.
final class ServiceNode {
    let service: Service
    /// With every batch of inputs, and when it is due.
    var onInputs: ((ServiceNode, [Node.Input], Instant) -> Void)?
    var node: Node
    /// Who is seen, as told last.
    var sightings: [PeerID: Sighting] = [:]
    /// Peers with an open channel.
    var channels: [PeerID: OpenChannel] = [:]
    /// The collector of the network that it addresses, and who looks in.
    var collector: PeerID?
    var viewers: [PeerID] = []
    private let loop: EventLoop
    let sockets: DataSockets
    private let beacons: BeaconSocket?
    private let monitor: InterfaceMonitor
    private var timer: EventLoop.TimerID?
    private var avahi: AvahiService?
    private var bluetooth: BluetoothTransport?
    /// Out of connection data, by peer.
    private var directPeers: [PeerID: [TransportAddress]] = [:]
    private let usesBluetooth: Bool
    private let name: String
    private let tag: NetworkTag
    private var advertised: DiscoveryInfo?
    private(set) var preference: EncryptionPreference

    struct OpenChannel {
        let run: RunID
        let isEncrypted: Bool
    }

    init(
        _ service: Service, of own: Peer, _ identity: NodeIdentity,
        _ preference: EncryptionPreference, usesBluetooth: Bool, loop: EventLoop
    ) throws(NearbyError) {
        self.service = service
        self.loop = loop
        self.usesBluetooth = usesBluetooth
        self.preference = preference
        name = own.displayName
        do {
            sockets = try DataSockets(loop)
            beacons = service.isDiscoverable ? try BeaconSocket() : nil
            monitor = try InterfaceMonitor(selection: Self.interfaces)
        } catch {
            throw NearbyError(.unavailable, "no socket: \(error)")
        }
        let cryptography = OpenSSLCryptography(identity: identity)
        tag = service.tag(cryptography)
        var random = SystemRandomNumberGenerator()
        var configuration = NodeConfiguration(
            name: name, role: .relay, networkTag: tag, run: RunID(value: random.next()),
            seed: random.next())
        configuration.secrets = service.secrets
        configuration.preference = preference
        configuration.dataPort = sockets.transport.port
        configuration.sendsBeacons = service.isDiscoverable
        configuration.application = ApplicationTerms()
        node = Node(configuration, cryptography: cryptography)
    }

    /// Registers everything with the loop and sends the first beacons, which show the info; nil:
    /// we are not to be shown yet.
    func start(advertising info: DiscoveryInfo?, _ now: Instant) throws(NearbyError) {
        advertised = info
        timer = loop.addTimer { [unowned self] now in give([.deadlineReached], now) }
        do throws(SystemError) {
            sockets.onInputs = { [unowned self] in give($0, $1) }
            try sockets.start()
            for descriptor in beacons?.descriptors ?? [] {
                try loop.register(descriptor) { [unowned self] _ in receiveBeacons() }
            }
            try loop.register(monitor.descriptor) { [unowned self] _ in interfacesChanged() }
            give([.start, .application(.advertise(info))], now)
            apply(try monitor.reload(), now)
        } catch {
            stop(now)
            throw NearbyError(.unavailable, "the node did not start: \(error)")
        }
        useAvahi()
        useBluetooth()
    }

    /// Says goodbye, and frees everything.
    func stop(_ now: Instant) {
        node.handle(.stop, now: now)
        _ = flush(now)
        onInputs = nil
        avahi?.stop()
        bluetooth?.stop()
        (avahi, bluetooth) = (nil, nil)
        sockets.stop()
        for descriptor in beacons?.descriptors ?? [] { loop.unregister(descriptor) }
        loop.unregister(monitor.descriptor)
        if let timer { loop.removeTimer(timer) }
        timer = nil
    }

    /// When the node has something to do next.
    func wake() { if let timer { loop.set(timer, to: node.nextDeadline) } }

    /// Of reliable messages that the peer may not have yet.
    func queuedBytes(for peer: PeerID) -> Int {
        node.queuedReliableBytes(for: peer)
    }

    /// For at most as long as its channels are open: they end when a peer is silent.
    var isSaying: Bool { channels.keys.contains { queuedBytes(for: $0) > 0 } }

    /// nil: we are not to be shown.
    func advertise(_ info: DiscoveryInfo?, _ now: Instant) {
        guard service.isDiscoverable, info != advertised else { return }
        advertised = info
        give([.application(.advertise(info))], now)
        useAvahi()
    }

    /// Channels that others can read get keys if they need not be so any more.
    func prefer(_ preference: EncryptionPreference, _ now: Instant) {
        guard preference != self.preference else { return }
        self.preference = preference
        node.handle(.application(.prefer(preference)), now: now)
        for peer in channels.keys.sorted() { encrypt(peer, now) }
    }

    private func encrypt(_ peer: PeerID, _ now: Instant) {
        guard preference != .none, channels[peer]?.isEncrypted == false else { return }
        node.handle(.application(.encrypt(peer)), now: now)
    }

    /// One that did without encryption may have changed its mind.
    func sighted(_ sighting: Sighting, _ now: Instant) {
        let before = sightings.updateValue(sighting, forKey: sighting.peer)
        guard sighting.flags.contains(.offersEncryption),
            before?.flags.contains(.offersEncryption) == false
        else { return }
        encrypt(sighting.peer, now)
    }

    // MARK: Inputs

    private func give(_ inputs: [Node.Input], _ now: Instant) { onInputs?(self, inputs, now) }

    private func receiveBeacons() {
        var inputs: [Node.Input] = []
        beacons?.receive { inputs.append(Node.Input($0)) }
        give(inputs, MonotonicClock.now())
    }

    private func interfacesChanged() {
        // What cannot be read now is told again with the next change.
        guard let events = try? monitor.receive() else { return }
        apply(events, MonotonicClock.now())
    }

    private func apply(_ events: [InterfaceEvent], _ now: Instant) {
        guard !events.isEmpty else { return }
        sockets.transport.configuredLinks = monitor.configuredLinks
        beacons?.configuredLinks = monitor.configuredLinks
        var inputs: [Node.Input] = []
        for event in events {
            switch event {
            case .up(let interface), .changed(let interface):
                beacons?.join(interface.link)
                inputs.append(.linkUp(interface.link, interface.linkClass))
            case .down(let interface):
                beacons?.leave(interface.link)
                inputs.append(.linkDown(interface.link))
            }
        }
        give(inputs + [.staticPeers(directEndpoints)], now)
        avahi?.use(monitor.usable.map(\.link))
    }

    // MARK: Outputs

    /// Sends what is to leave.
    ///
    /// - Returns: what else the node has to say.
    func flush(_ now: Instant) -> [Node.Event] {
        var events: [Node.Event] = []
        for output in node.flush(now: now) {
            switch output {
            case .transmit(let transmission): carryOut(transmission, now)
            case .event(let event): events.append(event)
            }
        }
        sockets.transport.sendWaiting()
        return events
    }

    private func carryOut(_ transmission: Transmission, _ now: Instant) {
        switch transmission {
        case .unicast(let bytes, let endpoint):
            if case .bluetooth = endpoint.address {
                bluetooth?.send(bytes, to: endpoint, now: now)
            } else {
                sockets.transport.sendSoon(bytes, to: endpoint)
            }
        case .multicast(let bytes, let link): sockets.transport.multicast(bytes, on: link)
        case .broadcast(let bytes, let link): sockets.transport.broadcast(bytes, on: link)
        }
    }

    func send(_ bytes: [UInt8], to peer: PeerID, isReliable: Bool, _ now: Instant) {
        node.handle(
            isReliable
                ? .sendReliable(bytes, to: peer) : .sendUnreliable(bytes, to: peer, .fresh),
            now: now)
    }

    // MARK: Connection data

    /// What connection data say of us; empty without a link.
    var ticket: Ticket {
        let all = monitor.usable.flatMap(\.addresses).map { $0.with(port: sockets.transport.port) }
        return Ticket(
            network: tag, peer: node.ownPeer, validUntil: 0,
            addresses: all.filter { !$0.isLinkScoped } + all.filter(\.isLinkScoped))
    }

    /// Tries a peer at addresses out of its connection data.
    func tryPeer(_ peer: PeerID, at addresses: [TransportAddress], _ now: Instant) {
        guard directPeers[peer] != addresses else { return }
        directPeers[peer] = addresses
        give([.staticPeers(directEndpoints)], now)
    }

    func forget(_ peer: PeerID, _ now: Instant) {
        guard directPeers.removeValue(forKey: peer) != nil else { return }
        give([.staticPeers(directEndpoints)], now)
    }

    /// A link-local address may be on any of our links.
    private var directEndpoints: [Endpoint] {
        directPeers.sorted { $0.key < $1.key }.flatMap(\.value).flatMap { address in
            address.isLinkScoped
                ? monitor.usable.map { Endpoint(link: $0.link, address: address) }
                : [monitor.link(toward: address).map { Endpoint(link: $0, address: address) }]
                    .compactMap { $0 }
        }
    }

    // MARK: Services of the system

    /// In DNS-SD we are named while we advertise; otherwise we only look.
    private func useAvahi() {
        avahi?.stop()
        avahi = nil
        guard service.isDiscoverable, variable("RIVULET_NEARBY_AVAHI") != "off" else { return }
        let record = ServiceRecord(
            peer: node.ownPeer, role: .relay, port: sockets.transport.port,
            info: advertised ?? .empty)
        var advertisement = AvahiService.ServiceAdvertisement(
            network: service.type, name: name, record: record)
        advertisement.isPublished = advertised != nil
        let avahi = AvahiService(advertisement, loop: loop)
        avahi.onEndpoints = { [unowned self] endpoints in
            give([.advertisedPeers(endpoints, by: .avahi)], MonotonicClock.now())
        }
        avahi.start()
        avahi.use(monitor.usable.map(\.link))
        self.avahi = avahi
    }

    /// A machine has one controller, so one node of the process uses it.
    private func useBluetooth() {
        let wanted = variable("RIVULET_NEARBY_BLUETOOTH")
        guard usesBluetooth, wanted != "off" else { return }
        var random = SystemRandomNumberGenerator()
        var options = BluetoothOptions(networkTag: tag, peer: node.ownPeer, seed: random.next())
        options.selection = wanted.flatMap { AdapterSelection(text: $0) } ?? .any
        guard let transport = try? BluetoothTransport(options, loop: loop) else { return }
        transport.onEvent = { [unowned self] event, now in
            switch event {
            case .linkUp(let link): give([.linkUp(link, .bluetooth)], now)
            case .linkDown(let link): give([.linkDown(link)], now)
            case .datagram(let bytes, let source):
                give([.datagram(bytes, from: source, isMulticast: false)], now)
            case .peers(let endpoints): give([.advertisedPeers(endpoints, by: .bluetooth)], now)
            case .advertisement, .diagnostic: break
            }
        }
        bluetooth = transport
        do throws(SystemError) {
            try transport.start()
        } catch {
            bluetooth = nil
        }
    }

    /// Those that lead to neighbours, or those that are named in the environment, by comma.
    private static var interfaces: InterfaceSelection {
        let names = variable("RIVULET_NEARBY_INTERFACES")?.split(separator: ",").map(String.init)
        return InterfaceSelection(names: Set(names ?? []))
    }
}

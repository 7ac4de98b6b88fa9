import NearbyCore
import NearbyLinux
import NearbyWire

/// What the configuration says of Bluetooth, and who we are.
public struct BluetoothOptions: Sendable {
    public var selection = AdapterSelection.any
    /// BR/EDR peers to connect to where LE does not reach them.
    public var peers: [BluetoothAddress] = []
    public var networkTag: NetworkTag
    public var peer: PeerID
    public var seed: UInt64

    public init(networkTag: NetworkTag, peer: PeerID, seed: UInt64) {
        self.networkTag = networkTag
        self.peer = peer
        self.seed = seed
    }
}

/// What the transport tells its owner.
public enum BluetoothEvent {
    case linkUp(LinkID)
    case linkDown(LinkID)
    case datagram([UInt8], from: Endpoint)
    /// All that advertise themselves at present.
    case peers([Endpoint])
    /// What a person should read in the log.
    case diagnostic(String, Severity)
    /// What somebody who is no node advertises, while `setListening` asks for it: advertising data
    /// as received; dBm, 127 where that is not known.
    case advertisement([UInt8], from: BluetoothAddress, rssi: Int8)

    public enum Severity {
        /// All is well.
        case information
        /// Something that Bluetooth needs is not there.
        case missing
        /// The controller is away, for a reason that may pass.
        case change
        case failure
    }
}

/// Datagrams over L2CAP channels between nodes that find each other by LE advertising: the thin
/// shell around `AdapterMachine` and `ConnectionTable`.
public final class BluetoothTransport {
    /// Called on the loop's thread.
    public var onEvent: ((BluetoothEvent, Instant) -> Void)?
    /// Where neighbours have proved to be, over whatever link; asked when places become scarce.
    /// Nil: nobody knows, and everybody may keep its place.
    public var neighbours: (() -> [Endpoint])?
    /// Datagrams and bytes since the start.
    public internal(set) var sent: (datagrams: UInt64, bytes: UInt64) = (0, 0)
    public internal(set) var received: (datagrams: UInt64, bytes: UInt64) = (0, 0)
    let loop: EventLoop
    private let management: ManagementSocket
    var machine: AdapterMachine
    var table: ConnectionTable
    var channels: [(id: BluetoothChannelID, socket: ChannelSocket)] = []
    private var listeners: [ChannelSocket] = []
    var adapter: Adapter?
    /// What the machines dropped.
    var counters = DropCounters()
    private var timer: EventLoop.TimerID?
    private var isRestored = false
    var buffer = [UInt8](repeating: 0, count: Limits.datagramBytesMax + 1)

    /// Throws where the kernel has no Bluetooth, or does not let us use it.
    public init(_ options: BluetoothOptions, loop: EventLoop) throws(SystemError) {
        self.loop = loop
        management = try ManagementSocket()
        let prefix = Advertisement.prefix(of: options.peer)
        machine = AdapterMachine(
            selection: options.selection, networkTag: Advertisement.tag(of: options.networkTag),
            peerPrefix: prefix, acceptsClassic: !options.peers.isEmpty, seed: options.seed)
        table = ConnectionTable(
            peerPrefix: prefix, configured: options.peers, seed: options.seed &+ 1)
    }

    public func start() throws(SystemError) {
        timer = loop.addTimer { [unowned self] now in
            drive(.deadlineReached, now)
            pass(.deadlineReached, now)
        }
        try loop.register(management.file.raw) { [unowned self] _ in
            let now = MonotonicClock.now()
            management.receive { drive(.event($0), now) }
        }
        drive(.start, MonotonicClock.now())
    }

    public func send(_ bytes: [UInt8], to endpoint: Endpoint, now: Instant) {
        guard let address = BluetoothAddress(endpoint.address) else { return }
        pass(.send(bytes, to: address), now)
    }

    /// Whether other links suffice: then we scan rarely.
    public func setContent(_ isContent: Bool, now: Instant) {
        drive(.setContent(isContent), now)
    }

    /// Whether to hear sensors that advertise, at all times.
    public func setListening(_ isWanted: Bool, now: Instant) {
        drive(.setMonitoring(isWanted), now)
    }

    /// Ends all channels and puts the controller back as it was found; waits at most two seconds.
    public func stop() {
        let end = MonotonicClock.now() + .seconds(2)
        drive(.stop, MonotonicClock.now())
        while !isRestored, management.wait(end - MonotonicClock.now()) {
            management.receive { drive(.event($0), MonotonicClock.now()) }
        }
        loop.unregister(management.file.raw)
        if let timer { loop.set(timer, to: nil) }
    }

    // MARK: For people

    /// `hci0 00:AA:01:00:00:42, advertising, 2 links`.
    public var summary: String {
        guard let adapter = machine.adapter else { return machine.summary }
        let count = table.connected.count
        let foreign = machine.foreign.count(now: MonotonicClock.now())
        return "hci\(adapter.index) \(adapter.address), \(machine.summary), "
            + "\(count) \(count == 1 ? "link" : "links")"
            + (foreign == 0 ? "" : "; nodes of other networks in reach: \(foreign)")
    }

    public var status:
        (adapter: Adapter?, state: String, isContent: Bool, links: [BluetoothAddress])
    {
        (machine.adapter, machine.summary, machine.isContent, table.connected)
    }

    /// How often reception began anew because nobody was heard any more.
    public var receptionRestarts: UInt64 { machine.restarts }

    public var drops: DropCounters {
        var all = counters
        all.add(management.drops)
        return all
    }

    // MARK: The adapter

    func drive(_ input: AdapterMachine.Input, _ now: Instant) {
        for output in machine.handle(input, now: now) {
            switch output {
            case .send(let command, let index): management.send(command, to: index)
            case .up(let adapter): adapterUp(adapter, now)
            case .down: adapterDown(now)
            case .heard(let advertisement, let address):
                pass(.heard(advertisement, from: address), now)
            case .advertisement(let data, let address, let rssi):
                onEvent?(.advertisement(data, from: address, rssi: rssi), now)
            case .diagnostic(let diagnostic): report(diagnostic, now)
            case .restored: isRestored = true
            case .drop(let reason, let count): counters.count(reason, UInt64(clamping: count))
            }
        }
        setTimer()
    }

    private func adapterUp(_ adapter: Adapter, _ now: Instant) {
        self.adapter = adapter
        pass(.adapterUp(adapter.address), now)
        onEvent?(.linkUp(adapter.link), now)
        do throws(SystemError) {
            let (listener, psm) = try ChannelSocket.listening(at: adapter.address, psm: 0)
            if machine.hasLowEnergy { try add(listener) }
            if !table.configured.isEmpty {
                let own = BluetoothAddress(value: adapter.address.value, kind: .classic)
                let psm = ConnectionTable.classicPSM
                try add(try ChannelSocket.listening(at: own, psm: psm).socket)
            }
            drive(.listening(psm: UInt8(clamping: psm)), now)
        } catch {
            report(.cannotListen(code: error.code), now)
        }
    }

    private func report(_ diagnostic: AdapterMachine.Diagnostic, _ now: Instant) {
        onEvent?(.diagnostic(diagnostic.description, diagnostic.severity), now)
    }

    private func add(_ listener: ChannelSocket) throws(SystemError) {
        try loop.register(listener.file.raw) { [unowned self] _ in accept(listener) }
        listeners.append(listener)
    }

    private func adapterDown(_ now: Instant) {
        for listener in listeners { loop.unregister(listener.file.raw) }
        listeners = []
        pass(.adapterDown, now)
        if let adapter { onEvent?(.linkDown(adapter.link), now) }
        adapter = nil
    }

    func setTimer() {
        guard let timer else { return }
        let next = min(
            machine.nextDeadline ?? .distantFuture, table.nextDeadline ?? .distantFuture)
        loop.set(timer, to: next == .distantFuture ? nil : next)
    }
}

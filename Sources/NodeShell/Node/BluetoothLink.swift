import Glibc
import NearbyBluetooth
import NearbyCore
import NearbyEngine
import NearbyLinux

/// Bluetooth beside the node: a controller as one more link, and what others advertise. Owns
/// whether those are listened to, and tells the controller when the node needs no more of it.
///
/// Without a controller a node still has its other links.
final class BluetoothLink {
    /// Called for what others advertise over Bluetooth LE, once `listen` asks for it.
    var onAdvertisement: ((HeardAdvertisement, Instant) -> Void)?
    private let options: NodeOptions
    private let log: StandardErrorLog
    /// Nil: there is none, or it is not wanted.
    private var transport: BluetoothTransport?
    private var isListening = false
    /// The node told something that the controller may care about.
    private var isContentInDoubt = false

    init(_ options: NodeOptions, _ log: StandardErrorLog) {
        self.options = options
        self.log = log
    }

    func start(_ runner: NodeRunner) {
        guard let choice = options.bluetooth else { return }
        var wanted = BluetoothOptions(
            networkTag: options.configuration.networkTag, peer: runner.node.ownPeer,
            seed: systemRandom())
        wanted.selection = choice.selection
        wanted.peers = choice.peers
        do {
            let transport = try BluetoothTransport(wanted, loop: runner.loop)
            transport.onEvent = { [unowned self, unowned runner] in handle($0, runner, $1) }
            transport.neighbours = { [unowned runner] in runner.node.neighbourEndpoints }
            self.transport = transport
            try transport.start()
            transport.setListening(isListening, now: MonotonicClock.now())
        } catch {
            transport = nil
            log.write(missing, "Bluetooth is not used: \(error)\(adviceForService)")
        }
    }

    /// Where there is a controller, it is the service's unit that keeps it from us.
    private var adviceForService: String {
        let isService = getenv("INVOCATION_ID") != nil
        guard isService, !MachineCheck.entries(of: "/sys/class/bluetooth").isEmpty else {
            return ""
        }
        return "; run `rivulet init --devices`, which lets the service use it"
    }

    /// Whether sensors that advertise are to be heard, from now on and after a start to come.
    func listen(_ isWanted: Bool) {
        isListening = isWanted
        transport?.setListening(isWanted, now: MonotonicClock.now())
    }

    func send(_ bytes: [UInt8], to endpoint: Endpoint, now: Instant) {
        transport?.send(bytes, to: endpoint, now: now)
    }

    /// Puts the controller back as it was found.
    func stop() { transport?.stop() }

    // MARK: Whether the node is content

    func record(_ event: Node.Event) {
        switch event {
        case .peer, .collector, .diagnostic: isContentInDoubt = true
        case .viewers, .message, .application, .echo: break
        }
    }

    /// One neighbour over another link that leads to a collector is enough.
    func settled(_ runner: NodeRunner, _ now: Instant) {
        guard isContentInDoubt else { return }
        isContentInDoubt = false
        guard let transport else { return }
        let (own, node) = (options.configuration.role, runner.node)
        let isServed = own == .collector || own == .viewer || node.collector != nil
        let isContent =
            isServed
            && node.neighbourStatus.contains {
                if case .bluetooth = $0.endpoint.address { false } else { true }
            }
        transport.setContent(isContent, now: now)
    }

    // MARK: What the controller tells

    private func handle(_ event: BluetoothEvent, _ runner: NodeRunner, _ now: Instant) {
        switch event {
        case .linkUp(let link): runner.handle(.linkUp(link, .bluetooth), at: now)
        case .linkDown(let link): runner.handle(.linkDown(link), at: now)
        case .datagram(let bytes, let source):
            runner.handle(.datagram(bytes, from: source, isMulticast: false), at: now)
        case .peers(let endpoints):
            runner.handle(.advertisedPeers(endpoints, by: .bluetooth), at: now)
        case .advertisement(let data, let address, let rssi):
            onAdvertisement?(HeardAdvertisement(data: data, address: address, rssi: rssi), now)
        case .diagnostic(let text, let severity): log.write(level(severity), "Bluetooth: \(text)")
        }
    }

    private func level(_ severity: BluetoothEvent.Severity) -> StandardErrorLog.Level {
        switch severity {
        case .information: .information
        case .missing: missing
        case .change: .diagnostic
        case .failure: .warning
        }
    }

    private var missing: StandardErrorLog.Level {
        isListening || options.bluetooth?.isAsked == true ? .warning : .information
    }

    // MARK: Status

    func name(of link: LinkID) -> String? {
        transport?.status.adapter.flatMap { $0.link == link ? "hci\($0.index)" : nil }
    }

    /// For people; nil without a controller.
    var summaryLine: String? { transport.map { "bluetooth  \($0.summary)" } }

    var sentCount: UInt64 { transport?.sent.datagrams ?? 0 }

    var drops: DropCounters { transport?.drops ?? DropCounters() }

    var status: JSONValue {
        guard let transport else { return .null }
        let status = transport.status
        return .object([
            ("adapter", .text(status.adapter.map { "hci\($0.index)" })),
            ("address", .text(status.adapter.map { "\($0.address)" })),
            ("state", .string(status.state)),
            ("content", .flag(status.isContent)),
            ("links", .array(status.links.map { .string("\($0)") })),
            ("sent", .traffic(transport.sent)),
            ("received", .traffic(transport.received)),
            ("receptionRestarts", .integer(transport.receptionRestarts)),
        ])
    }
}

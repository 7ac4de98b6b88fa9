import Configuration
import Glibc
import NearbyBluetooth
import NearbyCore
import NearbyEngine
import NearbyLinux
import NearbyWire

/// Which controller to use, and whether it is worth a warning if there is none.
public struct BluetoothChoice: Sendable {
    public var selection = AdapterSelection.any
    public var peers: [BluetoothAddress] = []
    public var isAsked = false

    public init() {}

    /// Nil if Bluetooth is off.
    init?(_ settings: BluetoothSettings) {
        guard settings.isOn else { return nil }
        isAsked = settings.isAsked
        peers = settings.peers.compactMap { BluetoothAddress(text: $0, kind: .classic) }
        selection = settings.adapter.flatMap { AdapterSelection(text: $0) } ?? .any
    }
}

extension NodeRunner {
    /// Without Bluetooth a node still has its other links.
    func startBluetooth() {
        guard let choice = options.bluetooth else { return }
        var wanted = BluetoothOptions(
            networkTag: options.configuration.networkTag, peer: node.ownPeer,
            seed: systemRandom())
        wanted.selection = choice.selection
        wanted.peers = choice.peers
        do {
            let transport = try BluetoothTransport(wanted, loop: loop)
            transport.onEvent = { [unowned self] in bluetoothEvent($0, $1) }
            transport.neighbours = { [unowned self] in node.neighbourEndpoints }
            bluetooth = transport
            try transport.start()
            transport.setListening(isListening, now: MonotonicClock.now())
        } catch {
            bluetooth = nil
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
    public func listen(_ isWanted: Bool) {
        isListening = isWanted
        bluetooth?.setListening(isWanted, now: MonotonicClock.now())
    }

    /// Puts the controller back as it was found.
    func stopBluetooth() { bluetooth?.stop() }

    func bluetoothName(of link: LinkID) -> String? {
        bluetooth?.status.adapter.flatMap { $0.link == link ? "hci\($0.index)" : nil }
    }

    /// One neighbour over another link that leads to a collector is enough.
    func tellBluetoothContent(_ now: Instant) {
        guard let bluetooth else { return }
        let own = options.configuration.role
        let isServed = own == .collector || own == .viewer || node.collector != nil
        let isContent =
            isServed
            && node.neighbourStatus.contains {
                if case .bluetooth = $0.endpoint.address { false } else { true }
            }
        bluetooth.setContent(isContent, now: now)
    }

    private func bluetoothEvent(_ event: BluetoothEvent, _ now: Instant) {
        switch event {
        case .linkUp(let link): handle(.linkUp(link, .bluetooth), at: now)
        case .linkDown(let link): handle(.linkDown(link), at: now)
        case .datagram(let bytes, let source):
            handle(.datagram(bytes, from: source, isMulticast: false), at: now)
        case .peers(let endpoints): handle(.advertisedPeers(endpoints, by: .bluetooth), at: now)
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
}

import NearbyCore
import NearbyWire

/// All that is listened for, and what is heard: scans, the monitor that lasts, and the watchdog
/// over both.
struct Reception: Sendable {
    enum Input: Sendable {
        case setContent(Bool)
        case setConnecting(Bool)
        case setLinked(Bool)
        /// Whether somebody wants to hear sensors that advertise.
        case setMonitoring(Bool)
        case adapterUp
        case adapterDown
        case poweredOn
        case controllerRemoved
        /// A command may be sent, but not for a scan.
        case turn
        /// A command for a scan may be sent.
        case scanTurn
        case completed(ManagementCommand, ManagementEvent.Reply)
        case refused(ManagementCommand, ManagementStatus)
        /// An advertisement of anybody, while the adapter is up.
        case found([UInt8], from: BluetoothAddress, rssi: Int8)
        case discoveryEnded
        case monitorRemoved(handle: UInt16)
        /// Silence counts while the adapter is up.
        case deadlineReached(isUp: Bool)
    }

    enum Output: Equatable, Sendable {
        case send(ManagementCommand)
        case heard(Advertisement, from: BluetoothAddress)
        /// Of somebody who is no node, while that is wanted; dBm, 127 where it is not known.
        case advertisement([UInt8], from: BluetoothAddress, rssi: Int8)
        /// A node of another network, with the first 48 bits of its PeerID.
        case otherNetwork(UInt64, BluetoothAddress)
        case cannotMonitor
        case receptionLost
        case cycling
        case receptionRestored
        case drop(DropReason, count: Int = 1)
    }

    private let networkTag: UInt32
    private let peerPrefix: UInt64
    private var monitor: MonitorMachine
    private var scans: ScanMachine
    private var watchdog = ReceptionWatchdog()
    private(set) var foreign = ForeignNodes()

    init(networkTag: UInt32, peerPrefix: UInt64, seed: UInt64) {
        self.networkTag = networkTag
        self.peerPrefix = peerPrefix
        var seeds = SeededGenerator(seed: seed)
        monitor = MonitorMachine(seed: seeds.next())
        scans = ScanMachine(seed: seeds.next())
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .setContent(let isContent): return scan(.setContent(isContent), now)
        case .setConnecting(let isConnecting): return scan(.setConnecting(isConnecting), now)
        case .setLinked(let isLinked): return watch(.setLinked(isLinked), now)
        case .setMonitoring(let isWanted):
            return monitor(.setWanted(isWanted), now) + watch(.setWanted(isWanted), now)
        case .adapterUp:
            // The kernel kept the monitor, but may have forgotten to scan.
            return scan(.adapterUp, now) + monitor(.renew, now) + watch(.adapterUp, now)
        case .adapterDown: return scan(.adapterDown, now)
        case .poweredOn: return watch(.poweredOn, now)
        case .controllerRemoved:
            return monitor(.controllerRemoved, now) + scan(.controllerRemoved, now)
                + watch(.controllerRemoved, now)
        case .turn: return isCycling ? [.send(.setPowered(false))] : monitor(.turn, now)
        case .scanTurn: return scan(.turn, now)
        case .completed(let command, let reply): return completed(command, reply, now)
        case .refused(let command, let status): return refused(command, status, now)
        case .found(let data, let address, let rssi): return found(data, address, rssi, now)
        case .discoveryEnded: return scan(.discoveryEnded, now)
        case .monitorRemoved(let handle):
            return monitor(.removed(handle: handle), now)
                + scan(.monitorRemoved(handle: handle), now)
        case .deadlineReached(let isUp):
            let due = monitor(.deadlineReached, now) + scan(.deadlineReached, now)
            return isUp ? due + watch(.deadlineReached, now) : due
        }
    }

    /// Of all but scans. It counts while the adapter is up.
    var nextDeadline: Instant? {
        guard let silent = watchdog.nextDeadline, let retry = monitor.nextDeadline else {
            return watchdog.nextDeadline ?? monitor.nextDeadline
        }
        return min(silent, retry)
    }

    /// Of scans: these are for who can be connected to.
    var nextScanDeadline: Instant? { scans.nextDeadline }

    var isContent: Bool { scans.isContent }
    var isConnecting: Bool { scans.isConnecting }
    var isLinked: Bool { watchdog.isLinked }
    var isCycling: Bool { watchdog.isCycling }
    var restarts: UInt64 { watchdog.restarts }
    /// Sensors are heard in scans only, as there can be no monitor.
    var isMonitorUnsupported: Bool { monitor.isUnsupported }

    /// What ends all that is under way, but not what others have set.
    var stopCommands: [ManagementCommand] {
        let lasting = monitor.handle == MonitorMachine.all ? nil : monitor.handle
        return [scans.stopCommand, lasting.map { .removeMonitor(handle: $0) }].compactMap { $0 }
    }

    // MARK: Answers

    private mutating func completed(
        _ command: ManagementCommand, _ reply: ManagementEvent.Reply, _ now: Instant
    ) -> [Output] {
        switch (command, reply) {
        case (.startDiscovery, _): scan(.discoveryStarted, now)
        case (.stopDiscovery, _): scan(.stopped, now)
        case (.removeMonitor(let handle), _): removed(handle, now)
        case (.addMonitor(MonitorMachine.patterns), .monitor(let handle)):
            monitor(.added(handle: handle), now)
        case (.addMonitor, .monitor(let handle)): scan(.monitorAdded(handle: handle), now)
        default: []
        }
    }

    private mutating func refused(
        _ command: ManagementCommand, _ status: ManagementStatus, _ now: Instant
    ) -> [Output] {
        switch command {
        case .startDiscovery: scan(.discoveryRefused(status), now)
        case .stopDiscovery: scan(.stopped, now)
        // It is not there any more, whatever the reason.
        case .removeMonitor(let handle): removed(handle, now)
        case .addMonitor(MonitorMachine.patterns): monitor(.refused(status), now)
        case .addMonitor: scan(.monitorRefused, now)
        case .setPowered: watch(.powerOffRefused, now)
        default: []
        }
    }

    /// The monitor that lasts, or that of a passive scan.
    private mutating func removed(_ handle: UInt16, _ now: Instant) -> [Output] {
        handle == monitor.handle
            ? monitor(.removed(handle: handle), now) : scan(.stopped, now)
    }

    // MARK: What is heard

    private mutating func found(
        _ data: [UInt8], _ address: BluetoothAddress, _ rssi: Int8, _ now: Instant
    ) -> [Output] {
        var outputs = watch(.heard, now)
        do throws(WireError) {
            guard let advertisement = try Advertisement(parsing: data) else {
                guard monitor.isWanted else { return outputs }
                return outputs + [.advertisement(data, from: address, rssi: rssi)]
            }
            guard advertisement.networkTag == networkTag else {
                outputs.append(.drop(.advertisementForeignNetwork))
                guard foreign.record(advertisement.peerPrefix, now) else { return outputs }
                return outputs + [.otherNetwork(advertisement.peerPrefix, address)]
            }
            guard advertisement.peerPrefix != peerPrefix else { return outputs }
            return outputs + [.heard(advertisement, from: address)]
        } catch {
            return outputs + [.drop(.advertisementMalformed)]
        }
    }

    // MARK: The parts

    private mutating func monitor(_ input: MonitorMachine.Input, _ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for output in monitor.handle(input, now: now) {
            switch output {
            case .send(let command): outputs.append(.send(command))
            case .cannotMonitor: outputs.append(.cannotMonitor)
            }
        }
        return outputs + scan(.setDuty(monitor.duty), now)
    }

    private mutating func scan(_ input: ScanMachine.Input, _ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for output in scans.handle(input, now: now) {
            switch output {
            case .send(let command): outputs.append(.send(command))
            case .cannotMonitor: outputs += monitor(.unsupported, now)
            }
        }
        return outputs
    }

    private mutating func watch(_ input: ReceptionWatchdog.Input, _ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for output in watchdog.handle(input, now: now) {
            switch output {
            case .restart: outputs += monitor(.renew, now) + scan(.restart, now)
            case .receptionLost: outputs.append(.receptionLost)
            case .cycle: outputs.append(.cycling)
            case .receptionRestored: outputs.append(.receptionRestored)
            }
        }
        return outputs
    }
}

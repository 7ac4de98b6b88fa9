import NearbyCore

extension Limits {
    /// Controllers of one machine that are looked at.
    static let bluetoothControllersMax = 16
}

/// Brings one controller into the state that links need, keeps it there, and puts back at the end
/// what it found.
///
/// It compares what is with what is wanted and sends the next command, one at a time; whatever
/// others change (bluetoothd, rfkill, a hand that pulls the plug) leads to the next comparison.
struct AdapterMachine: Sendable {
    enum Input: Equatable, Sendable {
        case start
        case event(ManagementEvent)
        /// Incoming channels are taken at this PSM; answers `up`.
        case listening(psm: UInt8)
        /// Whether other links suffice: then scans are rare and passive.
        case setContent(Bool)
        /// Whether somebody is being connected to: no scan holds the radio meanwhile.
        case setConnecting(Bool)
        /// Whether there is a channel to anybody: the radio works, and is not to be switched off.
        case setLinked(Bool)
        /// Whether somebody wants to hear sensors that advertise.
        case setListening(Bool)
        case deadlineReached
        case stop
    }

    enum Output: Equatable, Sendable {
        /// nil: to no controller.
        case send(ManagementCommand, to: UInt16?)
        case up(Adapter)
        case down
        case heard(Advertisement, from: BluetoothAddress)
        /// Of somebody who is no node, while that is wanted; dBm, 127 where it is not known.
        case advertisement([UInt8], from: BluetoothAddress, rssi: Int8)
        case notice(Notice)
        /// After `stop`: everything is as it was found, as far as it can be.
        case restored
    }

    /// What a person should read in the log; each once until it has changed.
    enum Notice: Equatable, Sendable {
        /// There is none that fits.
        case noController
        case using(Adapter)
        case gone
        case poweredOff
        case rfkilled
        case permissionDenied
        case failed(ManagementCommand.Code, ManagementStatus)
        /// Sensors are heard in scans with pauses only.
        case cannotMonitor
        /// Nobody is heard any more: reception begins anew.
        case deaf
        /// That did not help: the controller is switched off and on.
        case cycling
        /// Somebody is heard again.
        case hearing
        /// A node of another network, with the first 48 bits of its PeerID.
        case otherNetwork(UInt64, BluetoothAddress)
        /// Said by the shell: `errno`.
        case cannotListen(code: Int32)
    }

    enum Phase: Equatable, Sendable { case idle, running, denied, stopping, stopped }

    struct Controller: Sendable {
        let index: UInt16
        /// Nil until it is read.
        var information: ControllerInformation?
    }

    struct Pending: Sendable {
        var command: ManagementCommand
        var index: UInt16?
        var deadline: Instant
    }

    let selection: AdapterSelection
    let networkTag: UInt32
    let peerPrefix: UInt64
    /// BR/EDR peers are configured: they must be able to connect.
    let acceptsClassic: Bool
    var phase = Phase.idle
    var pending: Pending?
    /// By index; nil: not asked yet.
    var controllers: [Controller]?
    var chosen: Adapter?
    /// What was set when the controller was chosen.
    var found: ControllerSettings = []
    /// The instance that is ours; nil until the controller said how many it has.
    var instance: UInt8?
    var psm: UInt8?
    var isAdvertising = false
    var cannotAdvertise = false
    var monitor: MonitorMachine
    var scans: ScanMachine
    var watchdog = ReceptionWatchdog()
    var isUp = false
    var setup = Backoff(first: .seconds(1), most: .seconds(60))
    var advertising = Backoff(first: .seconds(1), most: .seconds(60))
    /// Against others who switch the controller off.
    var power = Backoff(first: .seconds(5), most: .seconds(300))
    var poweredAt = Instant.zero
    /// No number is left to advertise with: only power makes them free.
    var isStuck = false
    var renewal = Backoff(first: .seconds(60), most: .seconds(3_600))
    private(set) var foreign = ForeignNodes()
    /// The last notice, so that none comes twice in a row.
    var said: Notice?
    /// What could not be put back.
    var givenUp: [ManagementCommand.Code] = []
    var random: SeededGenerator
    /// The next command, as machines of our own want it.
    var next: ManagementCommand?
    var outputs: [Output] = []
    private(set) var drops = DropCounters()

    init(
        selection: AdapterSelection, networkTag: UInt32, peerPrefix: UInt64, acceptsClassic: Bool,
        seed: UInt64
    ) {
        self.selection = selection
        self.networkTag = networkTag
        self.peerPrefix = peerPrefix & 0xffff_ffff_ffff
        self.acceptsClassic = acceptsClassic
        var seeds = SeededGenerator(seed: seed)
        monitor = MonitorMachine(seed: seeds.next())
        scans = ScanMachine(seed: seeds.next())
        random = seeds
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        outputs = []
        switch input {
        case .start: if phase == .idle { phase = .running }
        case .event(let event): take(event, now)
        case .listening(let psm): self.psm = isUp ? psm : nil
        case .setContent(let isContent):
            carryOut(scans.handle(.setContent(isContent), now: now), now)
        case .setConnecting(let isConnecting):
            carryOut(scans.handle(.setConnecting(isConnecting), now: now), now)
        case .setLinked(let isLinked):
            carryOut(watchdog.handle(.setLinked(isLinked), now: now), now)
        case .setListening(let isWanted): setListening(isWanted, now)
        case .deadlineReached: deadlineReached(now)
        case .stop: stop()
        }
        advance(now)
        return outputs
    }

    var nextDeadline: Instant? {
        if let pending { return pending.deadline }
        guard phase == .running else { return nil }
        // Nothing else is done before.
        if let at = setup.at { return at }
        let next = min(
            power.at ?? .distantFuture, advertising.at ?? .distantFuture,
            renewal.at ?? .distantFuture, receptionDeadline ?? .distantFuture)
        return next == .distantFuture ? nil : next
    }

    /// The controller in use, or to be used.
    var adapter: Adapter? { chosen }

    var isContent: Bool { scans.isContent }
    var isConnecting: Bool { scans.isConnecting }
    var isLinked: Bool { watchdog.isLinked }

    /// How often reception began anew because nobody was heard any more.
    var restarts: UInt64 { watchdog.restarts }

    /// What can be said of it in a line.
    var summary: String {
        switch phase {
        case .idle, .stopped: return "off"
        case .denied: return "no permission"
        case .stopping: return "stopping"
        case .running: break
        }
        guard chosen != nil else { return "no adapter" }
        if said == .rfkilled { return "blocked by rfkill" }
        guard isUp else { return "not powered" }
        guard hasLowEnergy else { return "BR/EDR only" }
        return isAdvertising ? "advertising" : cannotAdvertise ? "cannot advertise" : "starting"
    }

    private mutating func deadlineReached(_ now: Instant) {
        // No answer in time: as good as none at all.
        if let pending, pending.deadline <= now { failed(pending, .busy, now) }
        _ = setup.isDue(now)
        _ = power.isDue(now)
        _ = advertising.isDue(now)
        _ = renewal.isDue(now)
        carryOut(monitor.handle(.deadlineReached, now: now), now)
        carryOut(scans.handle(.deadlineReached, now: now), now)
        if isUp { carryOut(watchdog.handle(.deadlineReached, now: now), now) }
    }

    // MARK: What others advertise

    mutating func hear(
        _ data: [UInt8], from address: BluetoothAddress, rssi: Int8, _ now: Instant
    ) {
        carryOut(watchdog.handle(.heard, now: now), now)
        do throws(WireError) {
            guard let advertisement = try Advertisement(parsing: data) else {
                if monitor.isWanted {
                    outputs.append(.advertisement(data, from: address, rssi: rssi))
                }
                return
            }
            guard advertisement.networkTag == networkTag else {
                drops.count(.advertisementStrangeNetwork)
                guard foreign.hear(advertisement.peerPrefix, now) else { return }
                return outputs.append(.notice(.otherNetwork(advertisement.peerPrefix, address)))
            }
            guard advertisement.peerPrefix != peerPrefix else { return }
            outputs.append(.heard(advertisement, from: address))
        } catch {
            drops.count(.advertisementMalformed)
        }
    }

    mutating func say(_ notice: Notice) {
        guard said != notice else { return }
        said = notice
        outputs.append(.notice(notice))
    }
}

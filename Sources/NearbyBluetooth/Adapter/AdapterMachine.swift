import NearbyCore

/// Brings one controller into the state that links need, keeps it there, and puts back at the end
/// what it found.
///
/// It compares what is with what is wanted and sends the next command, one at a time; whatever
/// others change (bluetoothd, rfkill, a hand that pulls the plug) leads to the next comparison.
/// Power, advertising and reception are machines of their own: this one tells them what happens,
/// and when they may send a command.
struct AdapterMachine: Sendable {
    enum Input: Sendable {
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
        case setMonitoring(Bool)
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
        case diagnostic(Diagnostic)
        /// After `stop`: everything is as it was found, as far as it can be.
        case restored
        case drop(DropReason, count: Int = 1)
    }

    /// What a person should read in the log; each once until it has changed.
    enum Diagnostic: Equatable, Sendable {
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
        case receptionLost
        /// That did not help: the controller is switched off and on.
        case cycling
        /// Somebody is heard again.
        case receptionRestored
        /// A node of another network, with the first 48 bits of its PeerID.
        case otherNetwork(UInt64, BluetoothAddress)
        /// Said by the shell: `errno`.
        case cannotListen(code: Int32)
    }

    enum Phase: Equatable, Sendable {
        case idle
        /// The controller is not as links need it, or not any more.
        case preparing
        /// Links can use the controller. The PSM is the shell's, once it listens.
        case up(psm: UInt8?)
        case denied
        /// What was found is being put back, but for commands that were refused.
        case stopping(refused: [ManagementCommand.Code])
        case stopped
    }

    /// A command that was not answered yet.
    struct Pending: Sendable {
        let command: ManagementCommand
        let index: UInt16?
        let deadline: Instant
    }

    let selection: AdapterSelection
    let networkTag: UInt32
    let peerPrefix: UInt64
    /// BR/EDR peers are configured: they must be able to connect.
    let acceptsClassic: Bool
    /// Up exactly while the controller in use is ready; each input ends with that comparison.
    var phase = Phase.idle
    /// One at a time; it belongs to a controller that is in the table, or to none.
    var pending: Pending?
    var controllers = ControllerTable()
    var power: PowerMachine
    var advertising: AdvertisingMachine
    var reception: Reception
    /// Between attempts at commands that none of these machines repeats.
    var setup = Backoff(first: .seconds(1), most: .seconds(60))
    /// The last notice, so that none comes twice in a row.
    private var lastDiagnostic: Diagnostic?
    var random: SeededGenerator

    init(
        selection: AdapterSelection, networkTag: UInt32, peerPrefix: UInt64, acceptsClassic: Bool,
        seed: UInt64
    ) {
        self.selection = selection
        self.networkTag = networkTag
        self.peerPrefix = peerPrefix & 0xffff_ffff_ffff
        self.acceptsClassic = acceptsClassic
        var seeds = SeededGenerator(seed: seed)
        power = PowerMachine(seed: seeds.next())
        advertising = AdvertisingMachine(seed: seeds.next())
        reception = Reception(
            networkTag: networkTag, peerPrefix: self.peerPrefix, seed: seeds.next())
        random = seeds
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        let outputs = apply(input, now)
        return outputs + advance(now)
    }

    private mutating func apply(_ input: Input, _ now: Instant) -> [Output] {
        switch input {
        case .start: if phase == .idle { phase = .preparing }
        case .event(let event): return receive(event, now)
        case .listening(let psm): if isUp { phase = .up(psm: psm) }
        case .setContent(let isContent): return receive(.setContent(isContent), now)
        case .setConnecting(let isConnecting): return receive(.setConnecting(isConnecting), now)
        case .setLinked(let isLinked): return receive(.setLinked(isLinked), now)
        case .setMonitoring(let isWanted): return receive(.setMonitoring(isWanted), now)
        case .deadlineReached: return deadlineReached(now)
        case .stop: return stop()
        }
        return []
    }

    var nextDeadline: Instant? {
        if let pending { return pending.deadline }
        guard isRunning else { return nil }
        // Nothing else is done before.
        if let at = setup.at { return at }
        let next = min(
            power.nextDeadline ?? .distantFuture, advertising.nextDeadline ?? .distantFuture,
            receptionDeadline ?? .distantFuture)
        return next == .distantFuture ? nil : next
    }

    private var receptionDeadline: Instant? {
        guard case .up(let psm) = phase, hasLowEnergy else { return nil }
        guard psm != nil, let scan = reception.nextScanDeadline else {
            return reception.nextDeadline
        }
        return min(scan, reception.nextDeadline ?? scan)
    }

    /// The controller in use, or to be used.
    var adapter: Adapter? { controllers.inUse?.adapter }

    var isContent: Bool { reception.isContent }
    var isConnecting: Bool { reception.isConnecting }
    var isLinked: Bool { reception.isLinked }
    var foreign: ForeignNodes { reception.foreign }

    /// How often reception began anew because nobody was heard any more.
    var restarts: UInt64 { reception.restarts }

    /// An old controller without it serves peers of the configuration.
    var hasLowEnergy: Bool {
        controllers.information?.supported.contains(.lowEnergy) == true
    }

    /// What can be said of it in a line.
    var summary: String {
        switch phase {
        case .idle, .stopped: return "off"
        case .denied: return "no permission"
        case .stopping: return "stopping"
        case .preparing, .up: break
        }
        guard adapter != nil else { return "no adapter" }
        if lastDiagnostic == .rfkilled { return "blocked by rfkill" }
        guard isUp else { return "not powered" }
        guard hasLowEnergy else { return "BR/EDR only" }
        return advertising.isOn
            ? "advertising" : advertising.isUnsupported ? "cannot advertise" : "starting"
    }

    /// It has begun, may go on, and is not to end.
    var isRunning: Bool {
        switch phase {
        case .preparing, .up: true
        case .idle, .denied, .stopping, .stopped: false
        }
    }

    var isUp: Bool {
        if case .up = phase { true } else { false }
    }

    private mutating func deadlineReached(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        // No answer in time: as good as none at all.
        if let pending, pending.deadline <= now { outputs = failed(pending, .busy, now) }
        _ = setup.isDue(now)
        return outputs + switchPower(.deadlineReached, now) + advertise(.deadlineReached, now)
            + receive(.deadlineReached(isUp: isUp), now)
    }

    private mutating func stop() -> [Output] {
        guard isRunning else {
            phase = .stopped
            return [.restored]
        }
        return stopRunning(for: .stopping(refused: []))
    }

    /// Ends running: links can use the controller no longer.
    mutating func stopRunning(for next: Phase) -> [Output] {
        let wasUp = isUp
        phase = next
        return wasUp ? [.down] : []
    }

    mutating func notify(_ diagnostic: Diagnostic) -> [Output] {
        guard lastDiagnostic != diagnostic else { return [] }
        lastDiagnostic = diagnostic
        return [.diagnostic(diagnostic)]
    }
}

import NearbyCore

/// What scans are for, beside the monitor that lasts.
enum ScanDuty: Equatable, Sendable {
    /// Nodes; while content, in passive scans.
    case nodes
    /// Nodes, where the kernel or the controller has no monitors to scan passively with.
    case nodesActively
    /// Sensors too, which are heard in scans alone: these must be long and frequent.
    case sensors
    /// Nodes, unless content: the monitor hears them too.
    case relieved
}

/// Scans for nodes: one after another with pauses, active, or passive by a monitor that is set for
/// a moment.
struct ScanMachine: Sendable {
    enum Input: Sendable {
        case adapterUp
        case adapterDown
        case controllerRemoved
        /// Whether other links suffice: then scans are rare and passive.
        case setContent(Bool)
        /// Whether somebody is being connected to: no scan holds the radio meanwhile.
        case setConnecting(Bool)
        case setDuty(ScanDuty)
        /// A command may be sent.
        case turn
        /// An active scan began.
        case discoveryStarted
        case discoveryRefused(ManagementStatus)
        /// An active scan was ended by the kernel, or by whoever shares it.
        case discoveryEnded
        /// A passive scan began.
        case monitorAdded(handle: UInt16)
        case monitorRefused
        /// Others have ended a passive scan.
        case monitorRemoved(handle: UInt16)
        /// We have ended the scan, or it was over.
        case stopped
        /// An active scan is to end, so that the next one begins.
        case restart
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case send(ManagementCommand)
        /// There are no passive scans.
        case cannotMonitor
    }

    private enum State: Equatable, Sendable {
        case off(next: Instant)
        case active(until: Instant, next: Instant)
        case passive(handle: UInt16, until: Instant, next: Instant)
    }

    private var state = State.off(next: .zero)
    private var duty = ScanDuty.nodes
    private(set) var isContent = false
    private(set) var isConnecting = false
    /// No active scan has ended since the adapter came up: the first one is long, and never
    /// passive.
    private var isFirst = true
    private var backoff = Backoff(first: .seconds(1), most: .seconds(60))
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .adapterUp:
            isFirst = true
            reset(now)
        case .adapterDown: reset(now)
        case .controllerRemoved:
            state = .off(next: .zero)
            backoff.succeed()
        case .setContent(let isContent): setContent(isContent, now)
        case .setConnecting(let isConnecting): setConnecting(isConnecting, now)
        case .setDuty(let duty): self.duty = duty
        case .turn: return command(now).map { [.send($0)] } ?? []
        case .discoveryStarted: started(now)
        case .discoveryRefused(let status): refused(status, now)
        case .discoveryEnded: if case .active = state { stopped(now) }
        case .monitorAdded(let handle):
            state = .passive(
                handle: handle, until: now + Self.scanTime, next: now + Self.contentPeriod)
            backoff.succeed()
        case .monitorRefused: return [.cannotMonitor]
        case .monitorRemoved(let handle):
            if case .passive(handle, _, let next) = state { state = .off(next: next) }
        case .stopped: stopped(now)
        case .restart:
            if case .active(_, let next) = state { state = .active(until: now, next: next) }
        case .deadlineReached: _ = backoff.isDue(now)
        }
        return []
    }

    /// When the next scan begins, or the one under way ends. It counts while the adapter is up and
    /// can be connected to.
    var nextDeadline: Instant? {
        switch state {
        case .off where isRelieved: nil
        case .off(let next): max(next + hold, backoff.at ?? next)
        case .active(let until, _), .passive(_, let until, _): until
        }
    }

    /// Ends the scan that is under way.
    var stopCommand: ManagementCommand? {
        switch state {
        case .off: nil
        case .active: .stopDiscovery
        case .passive(let handle, _, _): .removeMonitor(handle: handle)
        }
    }

    /// A little more than the kernel's advertising interval of 1.28 s: one scan hears everybody.
    private static let scanTime = Duration.milliseconds(1_500)
    private static let firstScanTime = Duration.seconds(5)
    private static let wantingPeriod = Duration.seconds(5)
    private static let contentPeriod = Duration.seconds(30)
    /// For sensors, where nothing but our own scans hears them: three tenths of the time, as while
    /// wanting.
    private static let sensorPeriod = Duration.seconds(10)
    private static let sensorScanTime = Duration.seconds(3)
    private static let holdMost = Duration.seconds(15)

    // MARK: What is due

    private mutating func command(_ now: Instant) -> ManagementCommand? {
        switch state {
        case .off(let next):
            guard !isRelieved, next + hold <= now, backoff.isDue(now) else { return nil }
            return isContent && duty == .nodes && !isFirst ? .addMonitor([.node]) : .startDiscovery
        case .active(let until, _), .passive(_, let until, _):
            return until <= now ? stopCommand : nil
        }
    }

    /// Hearing nodes is left to the monitor that lasts.
    private var isRelieved: Bool { isContent && duty == .relieved && !isFirst }

    /// What a scan that is due waits for connects. Not for ever: addresses that only pretend to be
    /// somebody must not keep us deaf.
    private var hold: Duration { isConnecting ? Self.holdMost : .zero }

    private var period: Duration {
        guard isContent else { return Self.wantingPeriod }
        return duty == .sensors ? Self.sensorPeriod : Self.contentPeriod
    }

    // MARK: What happens

    /// The kernel keeps a monitor while the controller is off: it is still to be removed.
    private mutating func reset(_ now: Instant) {
        if case .passive(let handle, _, _) = state {
            state = .passive(handle: handle, until: now, next: now)
        } else {
            state = .off(next: now)
        }
    }

    private mutating func setContent(_ value: Bool, _ now: Instant) {
        guard value != isContent else { return }
        isContent = value
        if !value, case .off = state { state = .off(next: now) }
    }

    private mutating func setConnecting(_ value: Bool, _ now: Instant) {
        let isBegin = value && !isConnecting
        isConnecting = value
        guard isBegin else { return }
        switch state {
        case .off: break
        case .active(_, let next): state = .active(until: now, next: next)
        case .passive(let handle, _, let next):
            state = .passive(handle: handle, until: now, next: next)
        }
    }

    private mutating func started(_ now: Instant) {
        let usual = isContent && duty == .sensors ? Self.sensorScanTime : Self.scanTime
        let time = isFirst ? Self.firstScanTime : usual
        state = .active(until: now + time, next: now + period + time - usual)
        backoff.succeed()
    }

    /// Busy: somebody else is scanning, and we hear what is found.
    private mutating func refused(_ status: ManagementStatus, _ now: Instant) {
        state = .off(next: now + period)
        if status != .busy { backoff.fail(now, using: &random) }
    }

    private mutating func stopped(_ now: Instant) {
        switch state {
        case .off: return
        case .active(_, let next):
            isFirst = false
            pause(next, now)
        case .passive(_, _, let next): pause(next, now)
        }
    }

    /// Content meanwhile, or no longer.
    private mutating func pause(_ next: Instant, _ now: Instant) {
        state = .off(next: isContent ? max(next, now + period / 2) : min(next, now + period))
    }
}

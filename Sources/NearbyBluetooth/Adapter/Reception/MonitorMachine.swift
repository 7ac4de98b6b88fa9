import NearbyCore

/// Lasting reception for sensors that advertise.
///
/// A monitor keeps the kernel scanning passively, beside connections and between our own scans;
/// it hears nodes too. Where the kernel or the controller cannot monitor, active scans with pauses
/// take its place.
struct MonitorMachine: Sendable {
    enum Input: Sendable {
        /// Whether somebody wants to hear sensors.
        case setWanted(Bool)
        /// Monitoring may have ceased, though the kernel keeps the monitor: it is set again.
        case renew
        /// A command may be sent.
        case turn
        case added(handle: UInt16)
        /// It could not be added.
        case refused(ManagementStatus)
        /// It is not there any more, or never was.
        case removed(handle: UInt16)
        /// Another monitor was refused: there can be none.
        case unsupported
        case controllerRemoved
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case send(ManagementCommand)
        /// Sensors are heard in scans with pauses only.
        case cannotMonitor
    }

    private enum State: Equatable, Sendable {
        case absent
        case present(handle: UInt16)
        /// It is removed, to be set again.
        case stale(handle: UInt16)
        /// All are removed, whoever set them: a process that is killed leaves its monitor behind,
        /// and the kernel has room for 32.
        case clearing
        /// All were removed, once: where there is no room even now, it is tried again later.
        case cleared
        /// The kernel or the controller has none.
        case unsupported
    }

    private var state = State.absent
    private(set) var isWanted = false
    private var backoff = Backoff(first: .seconds(1), most: .seconds(60))
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .setWanted(let isWanted): self.isWanted = isWanted
        case .renew: if case .present(let handle) = state { state = .stale(handle: handle) }
        case .turn: return command(now).map { [.send($0)] } ?? []
        case .added(let handle):
            state = .present(handle: handle)
            backoff.succeed()
        case .refused(let status): return refused(status, now)
        case .removed(let handle): removed(handle, now)
        case .unsupported: state = .unsupported
        case .controllerRemoved:
            state = .absent
            backoff.succeed()
        case .deadlineReached: _ = backoff.isDue(now)
        }
        return []
    }

    /// When it is tried again. It counts while the adapter is up.
    var nextDeadline: Instant? { wantsMonitor ? backoff.at : nil }

    /// Of the monitor that is there, or of all of them while these are removed.
    var handle: UInt16? {
        switch state {
        case .present(let handle), .stale(let handle): handle
        case .clearing: Self.all
        case .absent, .cleared, .unsupported: nil
        }
    }

    var isUnsupported: Bool { state == .unsupported }

    /// What the monitor leaves to scans.
    var duty: ScanDuty {
        switch state {
        case .present, .stale, .clearing: .relieved
        case .absent, .cleared: isWanted ? .sensors : .nodes
        case .unsupported: isWanted ? .sensors : .nodesActively
        }
    }

    static let patterns = AdvertisementPattern.sensors + [AdvertisementPattern.node]
    /// As a handle: each and every one.
    static let all: UInt16 = 0

    // MARK: What happens

    private var wantsMonitor: Bool {
        switch state {
        case .absent, .cleared: isWanted
        case .present, .stale, .clearing, .unsupported: false
        }
    }

    private mutating func command(_ now: Instant) -> ManagementCommand? {
        switch state {
        case .present(let handle): isWanted ? nil : .removeMonitor(handle: handle)
        case .stale(let handle): .removeMonitor(handle: handle)
        case .clearing: .removeMonitor(handle: Self.all)
        case .absent, .cleared, .unsupported:
            wantsMonitor && backoff.isDue(now) ? .addMonitor(Self.patterns) : nil
        }
    }

    private mutating func refused(_ status: ManagementStatus, _ now: Instant) -> [Output] {
        switch status {
        case .unknownCommand, .notSupported, .invalidParameters:
            state = .unsupported
            return [.cannotMonitor]
        case .noResources where state != .cleared: state = .clearing
        default: backoff.fail(now, using: &random)
        }
        return []
    }

    /// Asked for by us, it is set again at once; taken by others, after a while.
    private mutating func removed(_ handle: UInt16, _ now: Instant) {
        guard handle == self.handle else { return }
        if case .present = state, isWanted { backoff.fail(now, using: &random) }
        state = state == .clearing ? .cleared : .absent
    }
}

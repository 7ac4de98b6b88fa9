import NearbyCore

/// Lasting reception for sensors that advertise.
///
/// A monitor keeps the kernel scanning passively, beside connections and between our own scans;
/// it hears nodes too. Where the kernel or the controller cannot monitor, active scans with pauses
/// take its place.
struct Listening: Equatable, Sendable {
    var isWanted = false
    /// The monitor that lasts.
    var monitor: UInt16?
    /// It is taken away, to be set again.
    var isStale = false
    /// Our own leftovers of earlier runs were taken away, for want of room.
    var isCleared = false
    var adding = Backoff(first: .seconds(1), most: .seconds(60))

    static let patterns = AdvertisementPattern.sensors + [AdvertisementPattern.node]
}

extension AdapterMachine {
    mutating func setListening(_ isWanted: Bool, _ now: Instant) {
        listening.isWanted = isWanted
        carryOut(watchdog.handle(.setWanted(isWanted), now: now), now)
    }

    /// Sensors are heard in our own scans alone: these must be long and frequent.
    var scansForSensors: Bool { listening.isWanted && listening.monitor == nil }

    var listeningDeadline: Instant? {
        guard isUp, hasLowEnergy else { return nil }
        let adding = wantsMonitor ? listening.adding.at : nil
        return [watchdog.nextDeadline, adding].compactMap { $0 }.min()
    }

    private var wantsMonitor: Bool {
        listening.isWanted && listening.monitor == nil && !cannotMonitor
    }

    /// The next command that listening needs.
    mutating func listeningOperation(_ now: Instant) -> ManagementCommand? {
        if watchdog.isCycling { return .setPowered(false) }
        if let monitor = listening.monitor {
            guard listening.isStale || !listening.isWanted else { return nil }
            return .removeMonitor(handle: monitor)
        }
        guard wantsMonitor, listening.adding.isDue(now) else { return nil }
        return .addMonitor(Listening.patterns)
    }

    /// The controller is on, perhaps again: the kernel kept the monitor, but may have forgotten to
    /// scan.
    mutating func beginListening(_ now: Instant) {
        listening.isStale = listening.monitor != nil
        carryOut(watchdog.handle(.adapterUp, now: now), now)
    }

    // MARK: Answers

    mutating func monitorAdded(_ handle: UInt16) {
        listening.monitor = handle
        listening.isStale = false
        listening.isCleared = false
        listening.adding.succeed()
    }

    /// Also when that failed: then it was not there.
    mutating func monitorGone(_ handle: UInt16, _ now: Instant) {
        guard handle == listening.monitor else { return }
        listening.monitor = nil
        // Asked for by us, it is set again at once; taken by others, after a while.
        if !listening.isStale, listening.isWanted { listening.adding.fail(now, using: &random) }
        listening.isStale = false
    }

    mutating func monitorRefused(_ status: ManagementStatus, _ now: Instant) {
        switch status {
        case .unknownCommand, .notSupported, .invalidParameters:
            cannotMonitor = true
            say(.cannotMonitor)
        case .noResources where !listening.isCleared:
            // A process that is killed leaves its monitor behind, and the kernel has room for 32.
            listening.isCleared = true
            listening.monitor = Self.allMonitors
            listening.isStale = true
        default: listening.adding.fail(now, using: &random)
        }
    }

    /// As a handle: each and every one.
    static let allMonitors: UInt16 = 0

    // MARK: The watchdog

    mutating func carryOut(_ outputs: [ReceptionWatchdog.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .restart:
                listening.isStale = listening.monitor != nil
                // A scan of ours that hears nobody ends, and the next one begins.
                if case .active(_, let next) = scan { scan = .active(until: now, next: next) }
            case .deaf: say(.deaf)
            case .cycle: say(.cycling)
            case .hearing: say(.hearing)
            }
        }
    }
}

import NearbyCore

/// What an advertisement's data must have for the kernel to pass it on: a structure of this type
/// that begins with these bytes.
struct AdvertisementPattern: Equatable, Sendable {
    var type: UInt8
    var beginning: [UInt8]

    /// Nodes.
    static let node = AdvertisementPattern(
        type: Advertisement.serviceData, beginning: Advertisement.uuid)

    /// Sensors: Ruuvi's company number; the services of BTHome, of ATC and pvvx, and of Xiaomi.
    static let sensors = [
        AdvertisementPattern(type: 0xff, beginning: [0x99, 0x04]),
        AdvertisementPattern(type: 0x16, beginning: [0xd2, 0xfc]),
        AdvertisementPattern(type: 0x16, beginning: [0x1a, 0x18]),
        AdvertisementPattern(type: 0x16, beginning: [0x95, 0xfe]),
    ]
}

/// Lasting reception for sensors that advertise.
///
/// A monitor keeps the kernel scanning passively, beside connections and between our own scans;
/// it hears nodes too. Where the kernel or the controller cannot monitor, active scans with pauses
/// take its place. A watchdog begins anew when nobody at all is heard any more.
struct Listening: Equatable, Sendable {
    var isWanted = false
    /// The monitor that lasts.
    var monitor: UInt16?
    /// It is taken away, to be set again.
    var isStale = false
    /// Our own leftovers of earlier runs were taken away, for want of room.
    var isCleared = false
    var adding = Backoff(first: .seconds(1), most: .seconds(60))
    /// Of anybody; nil: nobody since the controller is up.
    var heard: Instant?
    /// When and how often the watchdog has acted since then.
    var acted: Instant?
    var attempts = 0
    /// When the controller was switched off and on; and that it is to be, until it is on again.
    var cycled: Instant?
    var isCycling = false

    /// Nothing at all for so long is no accident, where there was something before.
    static let silence = Duration.seconds(300)
    static let silenceMost = Duration.seconds(3_600)
    /// The watchdog's third attempt switches the controller off and on, but no more often.
    static let cyclePeriod = Duration.seconds(6 * 3_600)
    static let patterns = AdvertisementPattern.sensors + [AdvertisementPattern.node]

    /// When the watchdog acts if nobody is heard until then: later and later.
    var watchDeadline: Instant? {
        guard isWanted, let heard else { return nil }
        let wait = min(Self.silenceMost, Self.silence * (1 << min(attempts, 4)))
        return max(heard, acted ?? heard) + wait
    }
}

extension AdapterMachine {
    mutating func setListening(_ isWanted: Bool) {
        guard isWanted != listening.isWanted else { return }
        listening.isWanted = isWanted
        listening.heard = nil
        listening.attempts = 0
        listening.acted = nil
    }

    /// Sensors are heard in our own scans alone: these must be long and frequent.
    var scansForSensors: Bool { listening.isWanted && listening.monitor == nil }

    var listeningDeadline: Instant? {
        guard isUp, hasLowEnergy else { return nil }
        let adding = wantsMonitor ? listening.adding.at : nil
        return [listening.watchDeadline, adding].compactMap { $0 }.min()
    }

    private var wantsMonitor: Bool {
        listening.isWanted && listening.monitor == nil && !cannotMonitor
    }

    /// The next command that listening needs.
    mutating func listeningOperation(_ now: Instant) -> ManagementCommand? {
        if listening.isCycling { return .setPowered(false) }
        if let monitor = listening.monitor {
            guard listening.isStale || !listening.isWanted else { return nil }
            return .removeMonitor(handle: monitor)
        }
        guard wantsMonitor, listening.adding.isDue(now) else { return nil }
        return .addMonitor(Listening.patterns)
    }

    /// The controller is on, perhaps again: the kernel kept the monitor, but may have forgotten to
    /// scan. Whoever was heard before has a while to be heard again.
    mutating func beginListening(_ now: Instant) {
        listening.isStale = listening.monitor != nil
        if listening.heard != nil { listening.acted = now }
    }

    mutating func heardSomebody(_ now: Instant) {
        listening.heard = now
        guard listening.attempts > 0 else { return }
        listening.attempts = 0
        listening.acted = nil
        say(.hearing)
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

    mutating func watch(_ now: Instant) {
        guard isUp, let deadline = listening.watchDeadline, deadline <= now else { return }
        listening.acted = now
        listening.attempts += 1
        restarts &+= 1
        if listening.attempts == 1 { say(.deaf) }
        let isRested = listening.cycled.map { now - $0 >= Listening.cyclePeriod } ?? true
        if listening.attempts % 3 == 0, isRested, !isLinked {
            listening.cycled = now
            listening.isCycling = true
            return say(.cycling)
        }
        listening.isStale = listening.monitor != nil
        // A scan of ours that hears nobody ends, and the next one begins.
        switch scan {
        case .active(_, let next): scan = .active(until: now, next: next)
        case .off, .passive: break
        }
    }
}

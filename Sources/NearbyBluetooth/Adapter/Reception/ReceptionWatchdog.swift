import NearbyCore

/// Notices that nobody at all is heard any more, where somebody was before, and has reception begin
/// anew: later and later, and every third time by switching the controller off and on.
struct ReceptionWatchdog: Sendable {
    enum Input: Sendable {
        /// Whether somebody wants to hear sensors; otherwise silence is no concern.
        case setWanted(Bool)
        /// Whether there is a channel to anybody: the radio works, and is not to be switched off.
        case setLinked(Bool)
        /// An advertisement of anybody.
        case heard
        /// The adapter is up, perhaps again: whoever was heard before has a while to be heard.
        case adapterUp
        case poweredOn
        /// The controller would not be switched off.
        case powerOffRefused
        case controllerRemoved
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        /// The monitor is to be set again, and a scan that is under way to end.
        case restart
        /// Nobody is heard any more; once until somebody is.
        case receptionLost
        /// Restarts did not help: the controller is to be switched off, and on again.
        case cycle
        /// Somebody is heard again.
        case receptionRestored
    }

    private enum Watch: Sendable {
        case unwatched
        /// Nobody was heard yet, so nobody is missed.
        case nobody
        /// Since the last advertisement, or since the adapter came up after it.
        case heard(since: Instant)
        /// So many attempts in a row, at least one, did not help; since the last one.
        case lost(attempts: Int, since: Instant)
    }

    private enum PowerCycle: Sendable {
        case never
        /// Until the controller is on again.
        case underWay(since: Instant)
        /// When it began.
        case over(since: Instant)
    }

    private var reception = Watch.unwatched
    private var cycle = PowerCycle.never
    private(set) var isLinked = false
    /// How often reception began anew because nobody was heard any more.
    private(set) var restarts: UInt64 = 0

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .setWanted(let isWanted): setWanted(isWanted)
        case .setLinked(let isLinked): self.isLinked = isLinked
        case .heard: return heard(now)
        case .adapterUp: extend(now)
        case .poweredOn, .powerOffRefused: endCycle()
        case .controllerRemoved: forget()
        case .deadlineReached: return deadlineReached(now)
        }
        return []
    }

    /// When reception begins anew if nobody is heard until then. It counts while the adapter is up.
    var nextDeadline: Instant? {
        switch reception {
        case .unwatched, .nobody: nil
        case .heard(let since): since + Self.silence
        case .lost(let attempts, let since):
            since + min(Self.silenceMost, Self.silence * (1 << min(attempts, 4)))
        }
    }

    /// The controller is to be switched off, or was and is not on again.
    var isCycling: Bool {
        if case .underWay = cycle { true } else { false }
    }

    /// Nothing at all for so long is no accident, where there was something before.
    static let silence = Duration.seconds(300)
    private static let silenceMost = Duration.seconds(3_600)
    /// The controller is switched off and on no more often.
    private static let cyclePeriod = Duration.seconds(6 * 3_600)

    // MARK: What happens

    private mutating func setWanted(_ isWanted: Bool) {
        switch reception {
        case .unwatched: if isWanted { reception = .nobody }
        case .nobody, .heard, .lost: if !isWanted { reception = .unwatched }
        }
    }

    private mutating func heard(_ now: Instant) -> [Output] {
        switch reception {
        case .unwatched: return []
        case .nobody, .heard:
            reception = .heard(since: now)
            return []
        case .lost:
            reception = .heard(since: now)
            return [.receptionRestored]
        }
    }

    private mutating func extend(_ now: Instant) {
        switch reception {
        case .unwatched, .nobody: break
        case .heard: reception = .heard(since: now)
        case .lost(let attempts, _): reception = .lost(attempts: attempts, since: now)
        }
    }

    private mutating func endCycle() {
        if case .underWay(let since) = cycle { cycle = .over(since: since) }
    }

    private mutating func forget() {
        endCycle()
        switch reception {
        case .unwatched: break
        case .nobody, .heard, .lost: reception = .nobody
        }
    }

    private mutating func deadlineReached(_ now: Instant) -> [Output] {
        guard let deadline = nextDeadline, deadline <= now else { return [] }
        let attempts = if case .lost(let attempts, _) = reception { attempts + 1 } else { 1 }
        reception = .lost(attempts: attempts, since: now)
        restarts &+= 1
        guard attempts % 3 == 0, isRested(now), !isLinked else {
            return attempts == 1 ? [.receptionLost, .restart] : [.restart]
        }
        cycle = .underWay(since: now)
        return [.cycle]
    }

    private func isRested(_ now: Instant) -> Bool {
        switch cycle {
        case .never: true
        case .underWay(let since), .over(let since): now - since >= Self.cyclePeriod
        }
    }
}

import NearbyCore

/// When the controller may be switched: on again after others switched it off, but never in a
/// tug-of-war; and off for the sake of its advertising instances, but rarely.
struct PowerMachine: Sendable {
    enum Input: Sendable {
        /// The controller is off, and a command may be sent.
        case switchOn
        /// The controller is on, has no advertising instance left, and a command may be sent.
        case freeInstances
        case switchedOn
        case switchedOff(Reason)
        /// The controller would not be switched off for its instances.
        case freeingRefused
        case controllerRemoved
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case send(ManagementCommand)
        /// It was switched off, and not by us.
        case switchedOffByOthers
    }

    enum Reason: Equatable, Sendable {
        /// The instances are free now, whoever did it.
        case freeingInstances
        /// Nobody was heard any more, and it was to be switched off.
        case restartingReception
        case others
    }

    /// Against others who switch the controller off.
    private var powerBackoff = Backoff(first: .seconds(5), most: .seconds(300))
    private var freeingBackoff = Backoff(first: .seconds(60), most: .seconds(3_600))
    /// It is to be switched off for its instances, or was, and is not on again.
    private(set) var isFreeing = false
    private var switchedOnAt = Instant.zero
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .switchOn: return powerBackoff.isDue(now) ? [.send(.setPowered(true))] : []
        case .freeInstances:
            guard freeingBackoff.isDue(now) else { return [] }
            isFreeing = true
            return [.send(.setPowered(false))]
        case .freeingRefused:
            isFreeing = false
            freeingBackoff.fail(now, using: &random)
        case .switchedOn:
            isFreeing = false
            switchedOnAt = now
        case .switchedOff(.freeingInstances): freeingBackoff.fail(now, using: &random)
        case .switchedOff(.restartingReception): powerBackoff.succeed()
        case .switchedOff(.others):
            if now - switchedOnAt > Self.stableTime { powerBackoff.succeed() }
            powerBackoff.fail(now, using: &random)
            return [.switchedOffByOthers]
        case .controllerRemoved:
            isFreeing = false
            powerBackoff.succeed()
            freeingBackoff.succeed()
        case .deadlineReached:
            _ = powerBackoff.isDue(now)
            _ = freeingBackoff.isDue(now)
        }
        return []
    }

    var nextDeadline: Instant? {
        guard let at = powerBackoff.at, let other = freeingBackoff.at else {
            return powerBackoff.at ?? freeingBackoff.at
        }
        return min(at, other)
    }

    /// Who switches the controller off after so long on is not at war with us.
    private static let stableTime = Duration.seconds(60)
}

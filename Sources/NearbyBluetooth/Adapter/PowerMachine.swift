import NearbyCore

/// When the controller may be switched: on again after others switched it off, but never in a
/// tug-of-war; and off for the sake of its advertising instances, but rarely.
struct PowerMachine: Sendable {
    enum Input: Equatable, Sendable {
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
    private var contest = Backoff(first: .seconds(5), most: .seconds(300))
    private var freeing = Backoff(first: .seconds(60), most: .seconds(3_600))
    /// It is to be switched off for its instances, or was, and is not on again.
    private(set) var isFreeing = false
    private var switchedOnAt = Instant.zero
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .switchOn: return contest.isDue(now) ? [.send(.setPowered(true))] : []
        case .freeInstances:
            guard freeing.isDue(now) else { return [] }
            isFreeing = true
            return [.send(.setPowered(false))]
        case .freeingRefused:
            isFreeing = false
            freeing.fail(now, using: &random)
        case .switchedOn:
            isFreeing = false
            switchedOnAt = now
        case .switchedOff(.freeingInstances): freeing.fail(now, using: &random)
        case .switchedOff(.restartingReception): contest.succeed()
        case .switchedOff(.others):
            if now - switchedOnAt > Self.peace { contest.succeed() }
            contest.fail(now, using: &random)
            return [.switchedOffByOthers]
        case .controllerRemoved:
            isFreeing = false
            contest.succeed()
            freeing.succeed()
        case .deadlineReached:
            _ = contest.isDue(now)
            _ = freeing.isDue(now)
        }
        return []
    }

    var nextDeadline: Instant? {
        guard let at = contest.at, let other = freeing.at else { return contest.at ?? freeing.at }
        return min(at, other)
    }

    /// Who switches the controller off after so long on is not at war with us.
    private static let peace = Duration.seconds(60)
}

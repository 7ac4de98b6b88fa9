import NearbyCore
import Testing

@testable import Alarms

@Suite struct AlarmDispatchTests {
    private let changes: [AlarmChange]
    private var dispatch = AlarmDispatch()

    init() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(0))])
        changes = (0..<200).flatMap { world.read($0 % 2 == 0 ? 1 : 0, at: Double($0)) }
    }

    private mutating func handle(
        _ input: AlarmDispatch.Input, at seconds: Double = 0
    ) -> [AlarmDispatch.Output] {
        dispatch.handle(input, now: AlarmWorld.time(seconds))
    }

    @Test mutating func eachTargetIsToldInOrderOneAtATime() {
        _ = handle(.targets(["a", "b"]))
        #expect(
            handle(.change(changes[0], targets: ["a", "b"]))
                == [.send(changes[0], target: "a"), .send(changes[0], target: "b")])
        #expect(handle(.change(changes[1], targets: ["a"])).isEmpty)
        #expect(dispatch.waiting.map(\.target) == ["a", "a", "b"])
        #expect(
            handle(.finished(target: "a", fault: nil)) == [.send(changes[1], target: "a")])
        #expect(handle(.finished(target: "b", fault: nil)).isEmpty)
        #expect(handle(.finished(target: "a", fault: nil)).isEmpty)
        #expect(dispatch.waiting.isEmpty)
    }

    @Test mutating func aFaultIsToldOnceAndTriedAgain() {
        _ = handle(.targets(["a"]))
        _ = handle(.change(changes[0], targets: ["a"]))
        #expect(handle(.finished(target: "a", fault: "no"), at: 10) == [.warn("alarms: no")])
        #expect(dispatch.nextDeadline == AlarmWorld.time(11))
        #expect(handle(.deadlineReached, at: 10.5).isEmpty)
        #expect(handle(.deadlineReached, at: 11) == [.send(changes[0], target: "a")])
        #expect(handle(.finished(target: "a", fault: "no"), at: 12).isEmpty)
        #expect(dispatch.nextDeadline == AlarmWorld.time(14))
        #expect(handle(.deadlineReached, at: 14) == [.send(changes[0], target: "a")])
        #expect(
            handle(.finished(target: "a", fault: nil), at: 14)
                == [.warn("alarms: notifications are sent again")])
        #expect(dispatch.nextDeadline == nil)
    }

    @Test mutating func ofTooManyTheOldestAreDropped() {
        _ = handle(.targets(["a"]))
        var dropped = 0
        for change in changes {
            dropped += handle(.change(change, targets: ["a"])).count {
                if case .warn = $0 { true } else { false }
            }
        }
        #expect(dropped == changes.count - Limits.alarmWaitingMax)
        #expect(dispatch.waiting.count == Limits.alarmWaitingMax)
        // The one on its way was not among them.
        #expect(dispatch.waiting.first?.change == changes[0])
    }

    /// One that stays keeps what waits for it; what is under way for one that went does not count.
    @Test mutating func targetsComeAndGo() {
        _ = handle(.targets(["a", "b"]))
        _ = handle(.change(changes[0], targets: ["a", "b", "unknown"]))
        _ = handle(.change(changes[1], targets: ["a"]))
        #expect(
            handle(.targets(["b", "c"])) == [
                .warn(
                    "alarms: notifications dropped because their target is no longer configured: 1"
                )
            ])
        #expect(dispatch.waiting.map(\.target) == ["b"])
        #expect(handle(.finished(target: "a", fault: nil)).isEmpty)
        #expect(handle(.change(changes[1], targets: ["c"])) == [.send(changes[1], target: "c")])
    }

    @Test mutating func strangeAnswersAreNoTrap() {
        #expect(handle(.finished(target: "x", fault: nil)).isEmpty)
        #expect(handle(.finished(target: "x", fault: "x")).isEmpty)
    }
}

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
        #expect(
            handle(.change(changes[0], targets: [0, 1]))
                == [.send(changes[0], target: 0), .send(changes[0], target: 1)])
        #expect(handle(.change(changes[1], targets: [0])).isEmpty)
        #expect(
            handle(.finished(target: 0, fault: nil)) == [.send(changes[1], target: 0)])
        #expect(handle(.finished(target: 1, fault: nil)) == [.settled(changes[0])])
        #expect(handle(.finished(target: 0, fault: nil)) == [.settled(changes[1])])
    }

    @Test mutating func nobodyToTellIsSettledAtOnce() {
        #expect(handle(.change(changes[0], targets: [])) == [.settled(changes[0])])
    }

    @Test mutating func aFaultIsToldOnceAndTriedAgain() {
        _ = handle(.change(changes[0], targets: [3]))
        #expect(handle(.finished(target: 3, fault: "no"), at: 10) == [.warn("alarms: no")])
        #expect(dispatch.nextDeadline == AlarmWorld.time(11))
        #expect(handle(.deadlineReached, at: 10.5).isEmpty)
        #expect(handle(.deadlineReached, at: 11) == [.send(changes[0], target: 3)])
        #expect(handle(.finished(target: 3, fault: "no"), at: 12).isEmpty)
        #expect(dispatch.nextDeadline == AlarmWorld.time(14))
        #expect(handle(.deadlineReached, at: 14) == [.send(changes[0], target: 3)])
        #expect(
            handle(.finished(target: 3, fault: nil), at: 14)
                == [.warn("alarms: notifications are sent again"), .settled(changes[0])])
        #expect(dispatch.nextDeadline == nil)
    }

    @Test mutating func ofTooManyTheOldestAreDropped() {
        var settled = 0
        for change in changes {
            settled += handle(.change(change, targets: [0])).count {
                if case .settled = $0 { true } else { false }
            }
        }
        #expect(settled == changes.count - Limits.alarmWaitingMax)
        // The one on its way was not among them.
        #expect(handle(.finished(target: 0, fault: nil)).first == .settled(changes[0]))
    }

    @Test mutating func strangeAnswersAreNoTrap() {
        #expect(handle(.finished(target: 9, fault: nil)).isEmpty)
        #expect(handle(.finished(target: 9, fault: "x")).isEmpty)
    }
}

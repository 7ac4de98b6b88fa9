import NearbyCore
import Testing

@testable import Alarms

@Suite struct AlarmNotifierTests {
    private typealias Output = AlarmNotifier.Output

    private let plan: AlarmNotifier.Plan
    private var world: AlarmWorld
    private var notifier: AlarmNotifier

    init() throws {
        plan = Self.plan(AlarmWorld.rule(AlarmWorld.above(0)), targets: ["a"])
        world = try AlarmWorld([])
        notifier = AlarmNotifier(plan)
    }

    private static func plan(_ rule: AlarmRule, targets: [String]) -> AlarmNotifier.Plan {
        var plan = AlarmNotifier.Plan()
        plan.rules = [rule]
        plan.targetsOfRules = [targets]
        return plan
    }

    private mutating func handle(
        _ input: AlarmNotifier.Input, at seconds: Double = 1
    ) -> [Output] {
        notifier.handle(
            input, unixOffset: .seconds(1_000), now: AlarmWorld.time(seconds))
    }

    /// A value at that second.
    private mutating func read(_ value: Int64, at seconds: Double) -> [Output] {
        handle(.delivered(world.delivery(value, at: seconds)), at: seconds)
    }

    /// What outputs are, without their values.
    private func words(_ outputs: [Output]) -> [String] {
        outputs.map {
            switch $0 {
            case .changed(let change): change.isActive ? "active" : "cleared"
            case .warn: "warn"
            case .send(let change, let target): "\(change.state) to \(target)"
            case .save: "save"
            }
        }
    }

    private func saved(_ outputs: [Output]) -> AlarmRecord? {
        for case .save(let bytes) in outputs { return AlarmRecord(bytes) }
        return nil
    }

    @Test mutating func aNotificationIsInTheRecordBeforeItIsSent() {
        let outputs = read(1, at: 1)
        #expect(words(outputs) == ["active", "save", "active to a"])
        #expect(saved(outputs)?.waiting.map(\.target) == ["a"])
        #expect(notifier.isBusy)
    }

    @Test mutating func oneWriteIsUnderWayAtATimeAndOneThatFailedComesAgain() {
        _ = read(1, at: 1)
        let while1 = handle(.finished(target: "a", fault: nil))
        let after1 = handle(.saved(true))
        let failed = handle(.saved(false))
        let again = handle(.deadlineReached(reachable: []), at: 2)
        let after2 = handle(.saved(true), at: 2)
        #expect(while1.isEmpty && failed.isEmpty && after2.isEmpty)
        #expect(words(after1) == ["save"] && words(again) == ["save"])
        #expect(saved(again)?.waiting == [] && saved(again)?.alarms.count == 1)
        #expect(!notifier.isBusy)
        let last = notifier.lastRecord()
        #expect(last == nil)
    }

    @Test mutating func whatWasStillToBeSentIsSentAfterARestartAndNothingTwice() throws {
        let outputs = read(1, at: 1)
        let record = try #require(saved(outputs))
        notifier = AlarmNotifier(plan)
        let restored = handle(.restored(record), at: 2)
        #expect(words(restored) == ["active to a"])
        let later = read(1, at: 3)
        #expect(later.isEmpty)
    }

    @Test mutating func theEndOfAnAlarmWhoseRuleIsGoneIsSentToWhomItsBeginningWasSent() {
        _ = [read(1, at: 1), handle(.finished(target: "a", fault: nil)), handle(.saved(true))]
        let other = Self.plan(
            AlarmWorld.rule(AlarmWorld.above(0), name: "other"), targets: ["b"])
        let outputs = handle(.saved(true)) + handle(.planned(other))
        #expect(words(outputs) == ["cleared", "save", "cleared to a"])
        // What comes of that concerns nobody.
        let late = handle(.finished(target: "a", fault: "no"))
        #expect(late.isEmpty)
    }

    @Test mutating func whoIsInReachIsNotSilent() {
        notifier = AlarmNotifier(
            Self.plan(AlarmWorld.rule(.silent, for: .seconds(60)), targets: ["a"]))
        #expect(notifier.watchesSilence)
        _ = read(1, at: 1)
        let heard = handle(.deadlineReached(reachable: [AlarmWorld.peer]), at: 30)
        let quiet = handle(.deadlineReached(reachable: []), at: 89)
        let silent = handle(.deadlineReached(reachable: []), at: 90)
        #expect(saved(heard)?.nodes.map(\.peer) == [AlarmWorld.peer])
        #expect(quiet.isEmpty && words(silent).first == "active")
    }

    @Test mutating func whereSomethingIsWatchedThereIsADeadlineBeforeAnythingIsHeard() {
        #expect(notifier.nextDeadline(now: AlarmWorld.time(5)) == AlarmWorld.time(6))
        notifier = AlarmNotifier(AlarmNotifier.Plan())
        #expect(notifier.nextDeadline(now: AlarmWorld.time(5)) == nil)
    }
}

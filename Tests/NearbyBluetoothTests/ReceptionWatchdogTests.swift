import NearbyCore
import Testing

@testable import NearbyBluetooth

struct ReceptionWatchdogTests {
    private func at(_ minute: Int64) -> Instant { Instant.zero + .seconds(60 * minute) }

    private func watching() -> ReceptionWatchdog {
        var watchdog = ReceptionWatchdog()
        _ = watchdog.handle(.setWanted(true), now: .zero)
        return watchdog
    }

    /// What comes of silence, with the minutes at which it comes.
    private func attempts(
        of watchdog: inout ReceptionWatchdog, until end: Instant
    ) -> [(minute: Int64, outputs: [ReceptionWatchdog.Output])] {
        var result: [(minute: Int64, outputs: [ReceptionWatchdog.Output])] = []
        while let next = watchdog.nextDeadline, next <= end {
            let outputs = watchdog.handle(.deadlineReached, now: next)
            result.append(((next - .zero).milliseconds / 60_000, outputs))
        }
        return result
    }

    @Test func whoNeverHeardAnybodyMissesNobody() {
        var watchdog = watching()
        #expect(watchdog.nextDeadline == nil)
        let outputs = watchdog.handle(.deadlineReached, now: at(600))
        #expect(outputs == [])
        #expect(watchdog.restarts == 0)
    }

    @Test func silenceIsNoConcernWhileNobodyListens() {
        var watchdog = ReceptionWatchdog()
        _ = watchdog.handle(.heard, now: .zero)
        #expect(watchdog.nextDeadline == nil)
        _ = watchdog.handle(.setWanted(true), now: .zero)
        #expect(watchdog.nextDeadline == nil, "what was heard before does not count")
        _ = watchdog.handle(.heard, now: .zero)
        #expect(watchdog.nextDeadline == at(5))
        _ = watchdog.handle(.setWanted(true), now: at(1))
        #expect(watchdog.nextDeadline == at(5))
        _ = watchdog.handle(.setWanted(false), now: at(1))
        #expect(watchdog.nextDeadline == nil)
    }

    @Test func attemptsComeLaterAndLaterAndEveryThirdSwitchesTheController() {
        var watchdog = watching()
        _ = watchdog.handle(.heard, now: .zero)
        let all = attempts(of: &watchdog, until: at(400))
        #expect(all.map(\.minute) == [5, 15, 35, 75, 135, 195, 255, 315, 375])
        #expect(
            all.prefix(6).map(\.outputs) == [
                [.receptionLost, .restart], [.restart], [.cycle], [.restart], [.restart],
                [.restart],
            ], "the sixth would be the second within six hours")
        #expect(watchdog.restarts == 9)
    }

    @Test func aSecondPowerCycleHasToWaitSixHours() {
        var watchdog = watching()
        _ = watchdog.handle(.heard, now: .zero)
        var cycles: [Int64] = []
        while let next = watchdog.nextDeadline, next <= at(1_500) {
            guard watchdog.handle(.deadlineReached, now: next).contains(.cycle) else { continue }
            cycles.append((next - .zero).milliseconds / 60_000)
            _ = watchdog.handle(.poweredOn, now: next)
        }
        #expect(cycles.first == 35)
        #expect(zip(cycles, cycles.dropFirst()).allSatisfy { $1 - $0 >= 360 }, "\(cycles)")
        #expect(cycles.count > 1)
    }

    @Test func aControllerWithAChannelIsNotSwitchedOff() {
        var watchdog = watching()
        _ = watchdog.handle(.setLinked(true), now: .zero)
        _ = watchdog.handle(.heard, now: .zero)
        let all = attempts(of: &watchdog, until: at(1_000))
        #expect(all.count > 10)
        #expect(!all.contains { $0.outputs.contains(.cycle) })
        #expect(!watchdog.isCycling)
    }

    @Test func whoIsHeardAgainEndsTheAlarmOnce() {
        var watchdog = watching()
        _ = watchdog.handle(.heard, now: .zero)
        _ = attempts(of: &watchdog, until: at(20))
        let now = at(21)
        let first = watchdog.handle(.heard, now: now)
        let second = watchdog.handle(.heard, now: now)
        #expect(first == [.receptionRestored])
        #expect(second == [])
        #expect(watchdog.nextDeadline == now + .seconds(300))
    }

    @Test func anAdapterThatComesUpHasAWhileToBeHeard() {
        var watchdog = watching()
        _ = watchdog.handle(.adapterUp, now: .zero)
        #expect(watchdog.nextDeadline == nil)
        _ = watchdog.handle(.heard, now: .zero)
        _ = watchdog.handle(.adapterUp, now: at(4))
        #expect(watchdog.nextDeadline == at(9))
        _ = watchdog.handle(.deadlineReached, now: at(9))
        _ = watchdog.handle(.adapterUp, now: at(10))
        #expect(watchdog.nextDeadline == at(20), "the second attempt is later")
    }

    @Test(arguments: [
        ReceptionWatchdog.Input.poweredOn, .powerOffRefused, .controllerRemoved,
    ])
    func aCycleLastsUntilTheControllerIsOnAgainOrCannotBeSwitched(_ end: ReceptionWatchdog.Input) {
        var watchdog = watching()
        _ = watchdog.handle(.heard, now: .zero)
        _ = attempts(of: &watchdog, until: at(35))
        #expect(watchdog.isCycling)
        _ = watchdog.handle(.heard, now: at(36))
        #expect(watchdog.isCycling, "what was begun is finished")
        _ = watchdog.handle(end, now: at(36))
        #expect(!watchdog.isCycling)
    }

    @Test func anotherControllerBeginsWithoutMemoryOfWhatWasHeard() {
        var watchdog = watching()
        _ = watchdog.handle(.heard, now: .zero)
        _ = watchdog.handle(.controllerRemoved, now: at(1))
        #expect(watchdog.nextDeadline == nil)
        let outputs = watchdog.handle(.heard, now: at(2))
        #expect(outputs == [])
        #expect(watchdog.nextDeadline == at(7))
    }

    @Test func aLateOrRepeatedDeadlineIsHarmless() {
        var watchdog = watching()
        _ = watchdog.handle(.heard, now: .zero)
        let early = watchdog.handle(.deadlineReached, now: at(1))
        let late = watchdog.handle(.deadlineReached, now: at(50))
        let again = watchdog.handle(.deadlineReached, now: at(50))
        #expect(early == [])
        #expect(late == [.receptionLost, .restart])
        #expect(again == [])
        #expect(watchdog.nextDeadline == at(60))
    }
}

import NearbyCore
import Testing

@testable import NearbyBluetooth

struct PowerMachineTests {
    private func at(_ second: Int64) -> Instant { Instant.zero + .seconds(second) }

    private func isSwitchedOn(_ power: inout PowerMachine, _ now: Instant) -> Bool {
        power.handle(.switchOn, now: now) == [.send(.setPowered(true))]
    }

    @Test func itIsSwitchedOnAtOnceWhereNobodyObjected() {
        var power = PowerMachine(seed: 1)
        #expect(isSwitchedOn(&power, .zero))
        #expect(power.nextDeadline == nil)
    }

    @Test func againstOthersTheWaitsGrow() throws {
        var power = PowerMachine(seed: 1)
        var now = Instant.zero
        var waits: [Duration] = []
        for _ in 0..<5 {
            let outputs = power.handle(.switchedOff(.others), now: now)
            #expect(outputs == [.switchedOffByOthers])
            #expect(!isSwitchedOn(&power, now))
            let next = try #require(power.nextDeadline)
            waits.append(next - now)
            now = next
            #expect(isSwitchedOn(&power, now))
            _ = power.handle(.switchedOn, now: now)
        }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 }, "\(waits)")
    }

    @Test func afterAMinuteOnTheTugOfWarIsOver() throws {
        var power = PowerMachine(seed: 1)
        for _ in 0..<4 { _ = power.handle(.switchedOff(.others), now: .zero) }
        _ = power.handle(.switchedOn, now: at(100))
        _ = power.handle(.switchedOff(.others), now: at(161))
        let next = try #require(power.nextDeadline)
        #expect(next < at(168))
    }

    @Test func whatWasAskedForIsNoTugOfWar() {
        var power = PowerMachine(seed: 1)
        _ = power.handle(.switchedOff(.others), now: .zero)
        let outputs = power.handle(.switchedOff(.restartingReception), now: .zero)
        #expect(outputs == [])
        #expect(isSwitchedOn(&power, .zero))
    }

    @Test func instancesAreFreedAtOnceAndThenRarely() throws {
        var power = PowerMachine(seed: 1)
        let first = power.handle(.freeInstances, now: .zero)
        #expect(first == [.send(.setPowered(false))])
        let off = power.handle(.switchedOff(.freeingInstances), now: .zero)
        #expect(off == [])
        #expect(isSwitchedOn(&power, .zero))
        let second = power.handle(.freeInstances, now: at(59))
        #expect(second == [])
        let next = try #require(power.nextDeadline)
        #expect(next >= at(60))
        let third = power.handle(.freeInstances, now: next)
        #expect(third == [.send(.setPowered(false))])
    }

    @Test func whatWouldNotBeSwitchedOffIsAskedLaterAndLater() throws {
        var power = PowerMachine(seed: 1)
        var now = Instant.zero
        var waits: [Duration] = []
        for _ in 0..<4 {
            let asked = power.handle(.freeInstances, now: now)
            #expect(asked == [.send(.setPowered(false))])
            #expect(power.isFreeing)
            _ = power.handle(.freeingRefused, now: now)
            #expect(!power.isFreeing)
            let again = power.handle(.freeInstances, now: now)
            #expect(again == [])
            let next = try #require(power.nextDeadline)
            waits.append(next - now)
            now = next
        }
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 < $1 }, "\(waits)")
    }

    @Test func theNextControllerStartsAfresh() {
        var power = PowerMachine(seed: 1)
        _ = power.handle(.switchedOff(.others), now: .zero)
        _ = power.handle(.switchedOff(.freeingInstances), now: .zero)
        _ = power.handle(.controllerRemoved, now: .zero)
        #expect(power.nextDeadline == nil)
        #expect(isSwitchedOn(&power, .zero))
    }

    @Test func aRepeatedDeadlineIsHarmless() throws {
        var power = PowerMachine(seed: 1)
        _ = power.handle(.switchedOff(.others), now: .zero)
        _ = power.handle(.switchedOff(.freeingInstances), now: .zero)
        let first = try #require(power.nextDeadline)
        for _ in 0..<2 { _ = power.handle(.deadlineReached, now: first) }
        let second = try #require(power.nextDeadline)
        #expect(second > first)
        for _ in 0..<2 { _ = power.handle(.deadlineReached, now: second) }
        #expect(power.nextDeadline == nil)
    }
}

import NearbyCore
import Telemetry
import Testing

@testable import Sampling

struct LineMachineTests {
    private func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    private func machine(_ mode: LineMode, debounce: Duration = .zero) -> LineMachine {
        LineMachine(channel: "door", mode: mode, debounce: debounce, now: .zero)
    }

    private func counting(_ edges: LineEdges, rate: LineMode.Rate? = nil) -> LineMode {
        .count(
            edges, LineMode.Pulses(scale: DecimalValue(coefficient: 1), unit: "l", rate: rate))
    }

    @Test func theLevelIsWhatWasSeenLast() {
        var machine = machine(.level)
        #expect(machine.handle(.due, now: .zero).map(\.text) == ["door 1 null:warming-up"])
        #expect(machine.handle(.opened(true), now: .zero).isEmpty)
        #expect(machine.handle(.due, now: .zero).map(\.text) == ["door 1 1"])
        _ = machine.handle(.observed(false), now: at(5))
        #expect(machine.handle(.due, now: at(5)).map(\.text) == ["door 1 0"])
        #expect(machine.nulls(.busy).map(\.text) == ["door 1 null:busy"])
    }

    @Test func anEdgeIsAReadingAtItsOwnTime() {
        var machine = machine(.edges(.both))
        _ = machine.handle(.opened(false), now: .zero)
        let rising = machine.handle(.edge(isRising: true, number: 1, at: at(70)), now: at(75))
        #expect(rising.map(\.text) == ["door 1 1"])
        #expect(rising.first?.time == at(70))
        let falling = machine.handle(.edge(isRising: false, number: 2, at: at(90)), now: at(95))
        #expect(falling.map(\.text) == ["door 1 0"])
        #expect(falling.first?.time == at(90))
        #expect(machine.handle(.due, now: at(96)).map(\.text) == ["door 1 0"])
        #expect(machine.diagnostic == nil)
    }

    @Test func onlyWantedEdgesAreReadings() {
        var machine = machine(.edges(.falling), debounce: .milliseconds(10))
        #expect(machine.mode.edges(debouncing: true) == .both, "a debouncer needs both")
        #expect(machine.mode.edges(debouncing: false) == .falling)
        _ = machine.handle(.opened(false), now: .zero)
        var told = machine.handle(.edge(isRising: true, number: 0, at: at(20)), now: at(20))
        told += machine.handle(.edge(isRising: false, number: 0, at: at(40)), now: at(40))
        #expect(told.isEmpty)
        #expect(machine.nextDeadline == at(50))
        told = machine.handle(.deadlineReached, now: at(50))
        #expect(told.map(\.text) == ["door 1 0"])
        #expect(told.first?.time == at(40))
    }

    @Test func aBouncingLineHasTheLevelThatSettled() {
        var machine = machine(.edges(.both), debounce: .milliseconds(10))
        _ = machine.handle(.opened(false), now: .zero)
        _ = machine.handle(.edge(isRising: true, number: 0, at: at(20)), now: at(20))
        _ = machine.handle(.observed(true), now: at(25))
        #expect(machine.handle(.due, now: at(25)).map(\.text) == ["door 1 0"])
        _ = machine.handle(.deadlineReached, now: at(30))
        #expect(machine.handle(.due, now: at(31)).map(\.text) == ["door 1 1"])
    }

    @Test func pulsesAreCountedNotTold() {
        var machine = machine(
            counting(.falling, rate: LineMode.Rate(per: .seconds(1), unit: "l/s")))
        _ = machine.handle(.resumed(40), now: .zero)
        _ = machine.handle(.opened(true), now: .zero)
        for number in 1...5 {
            let time = at(Int64(number) * 100)
            let told = machine.handle(
                .edge(isRising: false, number: UInt32(number), at: time), now: time)
            #expect(told.isEmpty)
        }
        #expect(
            machine.handle(.due, now: at(500)).map(\.text) == [
                "door l 45", "door.rate l/s 10.000",
            ])
        #expect(
            machine.nulls(.absent).map(\.text) == [
                "door l null:absent", "door.rate l/s null:absent",
            ])
    }

    @Test func whatTheQueueLostIsCountedAndSaid() {
        var machine = machine(counting(.rising))
        _ = machine.handle(.opened(false), now: .zero)
        _ = machine.handle(.edge(isRising: true, number: 3, at: at(10)), now: at(10))
        _ = machine.handle(.edge(isRising: true, number: 4, at: at(20)), now: at(20))
        _ = machine.handle(.edge(isRising: true, number: 104, at: at(30)), now: at(30))
        #expect(machine.counter?.count == 104)
        #expect(machine.diagnostic?.hasPrefix("101 edges were lost") == true)
        #expect(machine.diagnostic?.hasSuffix("counted all the same") == true)
        // Numbers begin anew with the line.
        _ = machine.handle(.opened(false), now: at(40))
        _ = machine.handle(.edge(isRising: true, number: 1, at: at(50)), now: at(50))
        #expect(machine.counter?.count == 105)
    }

    @Test func lostEdgesOfABouncingLineAreOnlySaid() {
        var machine = machine(counting(.rising), debounce: .milliseconds(10))
        _ = machine.handle(.opened(false), now: .zero)
        _ = machine.handle(.edge(isRising: true, number: 9, at: at(10)), now: at(10))
        _ = machine.handle(.deadlineReached, now: at(30))
        #expect(machine.counter?.count == 1)
        #expect(machine.diagnostic?.hasPrefix("8 edges were lost") == true)
    }

    @Test func aFullQueueWithoutNumbersIsSaid() {
        var machine = machine(counting(.rising))
        _ = machine.handle(.opened(false), now: .zero)
        for number in 0..<16 {
            _ = machine.handle(
                .edge(isRising: true, number: 0, at: at(Int64(number))), now: at(20))
        }
        #expect(machine.diagnostic == nil)
        _ = machine.handle(.queueFull, now: at(20))
        #expect(machine.counter?.count == 16)
        #expect(machine.diagnostic?.contains("full once, so some may be lost") == true)
    }

    @Test(arguments: [UInt32.max, 0, 1]) func numbersThatGoBackAreNoLoss(_ number: UInt32) {
        var machine = machine(counting(.rising))
        _ = machine.handle(.opened(false), now: .zero)
        _ = machine.handle(.edge(isRising: true, number: 1, at: at(10)), now: at(10))
        _ = machine.handle(.edge(isRising: true, number: number, at: at(20)), now: at(20))
        #expect(machine.counter?.count == 2)
        #expect(machine.diagnostic == nil)
    }

    @Test func aLooseWireIsHeldBack() {
        var machine = machine(.edges(.both))
        _ = machine.handle(.opened(false), now: .zero)
        var told = 0
        for number in 0..<5_000 {
            let time = at(1_000 + Int64(number))
            told +=
                machine.handle(.edge(isRising: number % 2 == 0, number: 0, at: time), now: time)
                .count
        }
        #expect(told == 5 * Limits.edgesPerSecondMax)
        #expect(machine.diagnostic?.hasPrefix("4500 edges not told") == true)
    }
}

import NearbyCore
import NearbySimulator
import Testing

struct SimulationTests {
    @Test func twoNodesFindEachOtherAndTalk() {
        let simulator = Simulator(seed: 1, world: .flat(2))
        simulator.boot(within: .milliseconds(100))
        #expect(simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(2)))
        simulator.run(for: .seconds(5))
        #expect(simulator.invariants.failures.isEmpty)
        #expect(simulator.invariants.deliveredCount >= 9)
    }

    @Test func messagesCrossAChainOfRelays() {
        let simulator = Simulator(seed: 2, world: .chain(5))
        simulator.boot(within: .milliseconds(100))
        #expect(simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(5)))
        simulator.run(for: .seconds(5))
        #expect(simulator.invariants.failures.isEmpty)
        #expect(simulator.invariants.deliveredCount >= 20)
    }
}

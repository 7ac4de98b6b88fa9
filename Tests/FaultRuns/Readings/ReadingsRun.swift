import NearbyCore
import NearbyEngine
import NearbySimulator

/// One seed: agents measure, journals keep and stores commit in a random world with random faults.
/// Afterwards all that was held must be in a store.
public struct ReadingsRun {
    public let failures: [String]
    public let counts: ReadingCounts
    public let traceHash: UInt64

    /// - Parameter isShort: a few virtual seconds, for comparing traces.
    public init(seed: UInt64, isShort: Bool = false) {
        var generator = SeededGenerator(seed: seed &* 0x9e37_79b9 ^ 0x72_6561_6469)
        var world = World.random(&generator, hostsMax: 12)
        if Int.random(in: 0..<3, using: &generator) == 0 { world.roles[1] = .collector }
        world.addViewers(&generator)
        var faults = Faults.swarm(&generator)
        faults.returnsDatagrams = seed.isMultiple(of: 2)
        faults.crashes *= 2
        let readingFaults = ReadingFaults.swarm(&generator)
        let simulator = Simulator(seed: seed, world: world, faults: faults)
        let readings = ReadingsWorld(hosts: simulator.hosts, faults: readingFaults, seed: seed)
        simulator.measure(readings)
        simulator.boot(within: .seconds(2), faultTime: .seconds(isShort ? 2 : 20))
        if !isShort, readingFaults.restarts > 0 {
            Self.plan(readingFaults.restarts, simulator, &generator)
        }
        simulator.run(for: .seconds(isShort ? 5 : 24))
        var failures: [String] = []
        if !isShort {
            simulator.run(for: .seconds(2 * readingFaults.restarts))
            simulator.healAll()
            failures = Self.recover(simulator, readings)
        }
        self.failures = simulator.invariants.failures + failures
        counts = readings.counts
        traceHash = simulator.traceHash ^ counts.stored &* 0x9e37_79b9_7f4a_7c15
    }

    /// An agent starts again and again while all collectors are down.
    private static func plan(
        _ restarts: Int, _ simulator: Simulator, _ generator: inout SeededGenerator
    ) {
        let agents = simulator.hosts.filter { !$0.role.collects }.map(\.number)
        guard let agent = agents.randomElement(using: &generator) else { return }
        var times: [Instant] = []
        var time = simulator.now + .seconds(6)
        for _ in 0..<restarts {
            time = time + generator.duration(in: .milliseconds(300)..<Duration.seconds(3))
            times.append(time)
        }
        let collectors = simulator.hosts.filter { $0.role == .collector }.map(\.number)
        simulator.crashLoop(host: agent, down: collectors, at: times)
    }

    /// Everybody has a collector again, and no journal holds anything in the end.
    private static func recover(_ simulator: Simulator, _ readings: ReadingsWorld) -> [String] {
        guard simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(150))
        else {
            let lonely = simulator.hosts.filter { !$0.role.collects && $0.collector == nil }
            return ["without collector after 150 s: \(lonely.map(\.number))"]
        }
        simulator.run(for: .seconds(5))
        readings.stopMeasuring()
        guard simulator.run(until: { readings.isSettled }, atMost: .seconds(180)) else {
            return ["after 180 s " + readings.waiting.joined(separator: ", ")]
        }
        // What is on its way yet comes too late to change anything.
        simulator.run(for: .seconds(5))
        return readings.finalFailures
    }
}

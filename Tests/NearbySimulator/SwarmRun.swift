import NearbyCore

/// One seed: a random world with random faults, which afterwards must recover.
public struct SwarmRun {
    public let seed: UInt64
    public let failures: [String]
    public let traceHash: UInt64
    public let hostCount: Int

    /// - Parameter isShort: a few virtual seconds, for comparing traces.
    public init(seed: UInt64, isShort: Bool = false) {
        var generator = SeededGenerator(seed: seed &* 0x9e37_79b9)
        let world = World.random(&generator)
        let simulator = Simulator(seed: seed, world: world, faults: .swarm(&generator))
        self.seed = seed
        hostCount = world.hostCount
        simulator.boot(within: .seconds(2), faultTime: .seconds(isShort ? 2 : 10))
        simulator.run(for: .seconds(isShort ? 4 : 14))
        var failures: [String] = []
        if !isShort {
            simulator.healAll()
            failures = Self.recover(simulator)
        }
        self.failures = simulator.invariants.failures + failures
        traceHash = simulator.traceHash
    }

    /// Everybody has a collector again, is heard by it, and the network is quiet.
    private static func recover(_ simulator: Simulator) -> [String] {
        guard simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(150))
        else {
            let lonely = simulator.hosts.filter { $0.role != .collector && $0.collector == nil }
            return ["without collector after 150 s: \(lonely.map(\.number))"]
        }
        let before = simulator.invariants.deliveredFrom
        simulator.run(for: .seconds(5))
        guard simulator.invariants.failures.isEmpty else { return [] }
        let unheard = simulator.hosts.filter {
            $0.role != .collector
                && simulator.invariants.deliveredFrom[$0.number, default: 0]
                    == before[$0.number, default: 0]
        }
        return unheard.isEmpty ? quietness(simulator) : ["not heard: \(unheard.map(\.number))"]
    }

    /// Without traffic there are hellos and beacons, and little else.
    private static func quietness(_ simulator: Simulator) -> [String] {
        simulator.trafficInterval = nil
        simulator.run(for: .seconds(10))
        let before = simulator.datagramCount
        simulator.run(for: .seconds(10))
        let sent = simulator.datagramCount - before
        let hops = simulator.hosts.reduce(0) { $0 + ($1.node?.neighbourStatus.count ?? 0) }
        let limit = hops * 10 * 3 + simulator.hosts.count * 20
        return sent <= limit
            ? [] : ["not quiet: \(sent) datagrams in 10 s, \(limit) expected at most"]
    }
}

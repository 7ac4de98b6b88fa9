import NearbyCore
import NearbySimulator

/// One seed: a random world with random faults, in a quarter of the seeds with a member that lies;
/// afterwards it must recover.
public struct SwarmRun {
    public let seed: UInt64
    public let failures: [String]
    public let traceHash: UInt64
    public let hostCount: Int

    /// - Parameter isShort: a few virtual seconds, for comparing traces.
    public init(seed: UInt64, isShort: Bool = false) {
        var generator = SeededGenerator(seed: seed &* 0x9e37_79b9)
        var world = World.random(&generator)
        var faults = Faults.swarm(&generator)
        // Without a draw, so that a seed has the other faults that it always had.
        faults.returnsDatagrams = seed.isMultiple(of: 2)
        // Last, so that a seed has the faults that it always had.
        world.addViewers(&generator)
        var liars: [Int: Liar.Lie] = [:]
        if Int.random(in: 0..<4, using: &generator) == 0 {
            let lie = Liar.Lie.allCases.randomElement(using: &generator)
            liars[world.addMember(&generator)] = lie
        }
        let simulator = Simulator(seed: seed, world: world, faults: faults, liars: liars)
        self.seed = seed
        hostCount = world.hostCount
        simulator.boot(within: .seconds(2), faultTime: .seconds(isShort ? 2 : 10))
        simulator.run(for: .seconds(isShort ? 4 : 14))
        var failures: [String] = []
        if !isShort {
            simulator.healAll()
            for liar in liars.keys.sorted() { simulator.crash(host: liar) }
            failures = Self.recover(simulator)
        }
        self.failures = simulator.invariants.failures + failures
        traceHash = simulator.traceHash
    }

    /// Everybody has a collector and all viewers again, is heard by each of them, and the network
    /// is quiet.
    private static func recover(_ simulator: Simulator) -> [String] {
        let agents = simulator.hosts.filter { !$0.role.collects && !$0.isLiar }
        guard simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(150))
        else {
            let lonely = agents.filter { $0.collector == nil }
            return ["without collector after 150 s: \(lonely.map(\.number))"]
        }
        guard simulator.run(until: { simulator.allAgentsHaveAllViewers }, atMost: .seconds(150))
        else {
            let viewerCount = simulator.hosts.filter { $0.role == .viewer }.count
            let lonely = agents.filter { $0.viewers.count < viewerCount }
            return ["without viewer after 150 s: \(lonely.map(\.number))"]
        }
        let before = simulator.invariants
        simulator.run(for: .seconds(5))
        let after = simulator.invariants
        guard after.failures.isEmpty else { return [] }
        for receiver in simulator.hosts where receiver.role.collects {
            let unheard = agents.map(\.number).filter {
                after.deliveredCount(from: $0, to: receiver.number)
                    == before.deliveredCount(from: $0, to: receiver.number)
            }
            if !unheard.isEmpty { return ["not heard by \(receiver.number): \(unheard)"] }
        }
        return quietness(simulator)
    }

    /// Without traffic there are hellos and beacons, and little else. A full node that takes an
    /// invitation late changes everybody's routes once more: it may take a minute.
    private static func quietness(_ simulator: Simulator) -> [String] {
        simulator.trafficInterval = nil
        var failure = ""
        for _ in 0..<6 {
            simulator.run(for: .seconds(10))
            let before = simulator.datagramCount
            simulator.run(for: .seconds(10))
            let sent = simulator.datagramCount - before
            let hops = simulator.hosts.reduce(0) { $0 + ($1.node?.neighbourStatus.count ?? 0) }
            let limit = hops * 10 * 3 + simulator.hosts.count * 20
            if sent <= limit { return [] }
            failure = "not quiet: \(sent) datagrams in 10 s, \(limit) expected at most"
        }
        return [failure]
    }
}

import NearbyCore
import NearbyEngine
import NearbySimulator

/// One seed: nodes that want each other join one LAN, one after the other in random order.
///
/// Afterwards the channels must connect what the LAN connects.
public struct JoinRun {
    public let seed: UInt64
    public let failures: [String]

    public init(seed: UInt64, count: Int = 200) {
        self.seed = seed
        // No collector: one that takes everybody would connect them all by itself.
        let world = World(
            lans: [Array(0..<count)], roles: [Role](repeating: .agent, count: count))
        let simulator = Simulator(seed: seed, world: world)
        simulator.trafficInterval = nil
        simulator.invariants.checksEveryStep = false
        var generator = SeededGenerator(seed: seed)
        // Some seeds join in a rush, others at leisure.
        let spread = generator.duration(in: .milliseconds(10)..<Duration.milliseconds(400))
        for host in (0..<count).shuffled(using: &generator) {
            simulator.boot(host: host)
            simulator.run(for: generator.duration(in: .milliseconds(1)..<spread))
        }
        simulator.run(for: .seconds(20))
        simulator.invariants.checkNow(simulator)
        var failures = simulator.invariants.failures
        let parts = Self.parts(simulator)
        if parts.count != 1 { failures.append("falls into parts of \(parts.map(\.count))") }
        let most = simulator.hosts.map { $0.node?.neighbourStatus.count ?? 0 }.max() ?? 0
        if most > Limits.neighboursAccepted + Limits.neighboursWanted {
            failures.append("a node has \(most) neighbours")
        }
        self.failures = failures
    }

    /// The hosts by which of them reach each other over channels.
    private static func parts(_ simulator: Simulator) -> [Set<Int>] {
        let numbers = Dictionary(
            uniqueKeysWithValues: simulator.hosts.map { ($0.peer, $0.number) })
        var left = Set(simulator.hosts.map(\.number))
        var parts: [Set<Int>] = []
        while let first = left.min() {
            var part: Set<Int> = [first]
            var next = [first]
            while let host = next.popLast() {
                for neighbour in simulator.hosts[host].node?.neighbourStatus ?? [] {
                    guard let number = numbers[neighbour.peer], part.insert(number).inserted
                    else { continue }
                    next.append(number)
                }
            }
            left.subtract(part)
            parts.append(part)
        }
        return parts
    }
}

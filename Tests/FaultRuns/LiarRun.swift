import NearbyCore
import NearbyEngine
import NearbySimulator

/// One seed: a random world with one member more, which lies for a minute and goes; in half of the
/// seeds with two, each with a lie of its own.
///
/// Five seconds later every agent must be heard by the collector again.
public struct LiarRun {
    public let seed: UInt64
    public let lie: Liar.Lie
    public let failures: [String]

    public init(
        seed: UInt64, lie: Liar.Lie? = nil, hostsMax: Int = 14, lying: Duration = .seconds(60)
    ) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed &* 0x2545_f491)
        let lies = Liar.Lie.allCases
        self.lie = lie ?? lies[Int(seed % UInt64(lies.count))]
        var world = World.random(&generator, hostsMax: hostsMax)
        let liar = world.addMember(&generator)
        var faults = Faults()
        if Bool.random(using: &generator) {
            faults.lossPercent = 10
            faults.delay = .microseconds(100)..<Duration.milliseconds(20)
        }
        var liars = [liar: self.lie]
        if Bool.random(using: &generator) {
            liars[world.addMember(&generator)] = lies.randomElement(using: &generator)
        }
        let simulator = Simulator(seed: seed, world: world, faults: faults, liars: liars)
        simulator.boot(within: .seconds(2))
        simulator.run(for: .seconds(2) + lying)
        simulator.healAll()
        for liar in liars.keys.sorted() { simulator.crash(host: liar) }
        simulator.run(for: .seconds(5))
        failures = simulator.invariants.failures + Self.unheard(simulator)
    }

    private static func unheard(_ simulator: Simulator) -> [String] {
        let agents = simulator.hosts.filter { !$0.role.collects && !$0.isLiar }.map(\.number)
        let before = agents.map { simulator.invariants.deliveredCount(from: $0, to: 0) }
        simulator.run(for: .seconds(2))
        let after = agents.map { simulator.invariants.deliveredCount(from: $0, to: 0) }
        let unheard = agents.indices.filter { after[$0] < before[$0] + 3 }.map { agents[$0] }
        return unheard.isEmpty ? [] : ["5 s after the liar left not heard: \(unheard)"]
    }
}

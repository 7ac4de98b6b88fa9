import NearbyCore
import NearbyEngine
import NearbySimulator

/// One seed: power comes back, and 200 nodes on one LAN start at once.
///
/// In the first second none sends more than ten discovery frames; soon all have the collector.
public struct PowerReturnsRun {
    public let failures: [String]

    public init(seed: UInt64, count: Int = 200) {
        let simulator = Simulator(seed: seed, world: .flat(count))
        simulator.trafficInterval = nil
        simulator.invariants.checksEveryStep = false
        simulator.boot(within: .milliseconds(1))
        simulator.run(for: .seconds(1))
        var failures = simulator.invariants.failures
        let most = simulator.sent.discoveryFrames.max() ?? 0
        if most > 10 { failures.append("\(most) discovery frames of one node in the first second") }
        if !simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(60)) {
            let lonely = simulator.hosts.filter { !$0.role.collects && $0.collector == nil }
            failures.append("\(lonely.count) without collector after a minute")
        }
        simulator.invariants.checkNow(simulator)
        self.failures = failures + simulator.invariants.failures
    }
}

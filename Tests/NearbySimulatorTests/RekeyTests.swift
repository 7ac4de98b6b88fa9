import NearbyCore
import NearbyEngine
import NearbySimulator
import Testing

/// New keys beside the old ones, while messages flow.
struct RekeyTests {
    @Test(arguments: [0, 20])
    func keysAreRenewedAndNoReliableMessageIsLost(lossPercent: Int) throws {
        var faults = Faults()
        faults.lossPercent = lossPercent
        let simulator = Simulator(
            seed: 9, world: .chain(3), faults: faults, rekeyAfter: .seconds(5))
        simulator.boot(within: .milliseconds(100))
        #expect(simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(20)))
        var openings: Set<Instant> = []
        for _ in 0..<45 {
            simulator.run(for: .seconds(1))
            let status = try #require(simulator.hosts[2].node).peerStatus
            let collector = try #require(status.first { $0.role == .collector })
            openings.insert(collector.since)
        }
        // Every five seconds another channel, later where its handshake is lost, and never none.
        #expect(openings.count >= (lossPercent == 0 ? 6 : 3))
        #expect(simulator.invariants.failures == [])
        simulator.healAll()
        simulator.run(for: .seconds(10))
        #expect(simulator.invariants.failures == [])
        // All reliable messages of the whole run, which the invariants hold in order.
        let sent = simulator.hosts[2].messagesSent
        let arrived = simulator.invariants.deliveredCount(from: 2, to: 0)
        #expect(arrived >= Int(sent) * (100 - 3 * lossPercent) / 100)
    }
}

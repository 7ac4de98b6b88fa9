import NearbyCore
import NearbyEngine
import NearbySimulator
import NearbyWire
import Testing

/// New keys beside the old ones, while messages flow.
struct RekeyTests {
    @Test(arguments: [0, 20])
    func keysAreRenewedAndNoReliableMessageIsLost(lossPercent: Int) throws {
        let seeds: [UInt64] = lossPercent == 0 ? [9] : [1, 2, 3, 4, 5, 9]
        let counts = try seeds.map { try openingCount(seed: $0, lossPercent: lossPercent) }
        // Every five seconds another channel, later where its handshake is lost, and never none.
        #expect(counts.reduce(0, +) >= (lossPercent == 0 ? 8 : 30))
    }

    /// Channels that an agent and its collector had in 45 seconds, with new keys due every five.
    private func openingCount(seed: UInt64, lossPercent: Int) throws -> Int {
        var faults = Faults()
        faults.lossPercent = lossPercent
        let simulator = Simulator(
            seed: seed, world: .chain(3), faults: faults, rekeyAfter: .seconds(5))
        simulator.boot(within: .milliseconds(100))
        #expect(simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(20)))
        var openings: Set<Instant> = []
        for _ in 0..<45 {
            simulator.run(for: .seconds(1))
            let status = try #require(simulator.hosts[2].node).peerStatus
            let collector = try #require(status.first { $0.role == .collector })
            openings.insert(collector.since)
        }
        #expect(simulator.invariants.failures == [])
        simulator.healAll()
        simulator.run(for: .seconds(10))
        #expect(simulator.invariants.failures == [])
        // All reliable messages of the whole run, which the invariants hold in order.
        let sent = simulator.hosts[2].messagesSent
        let arrived = simulator.invariants.deliveredCount(from: 2, to: 0)
        #expect(arrived >= Int(sent) * (100 - 3 * lossPercent) / 100)
        return openings.count
    }

    @Test func keysAreRenewedByTheNumberOfFramesToo() throws {
        let simulator = Simulator(seed: 9, world: .chain(3), rekeyFrames: 20)
        simulator.boot(within: .milliseconds(100))
        #expect(simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(20)))
        var openings: Set<Instant> = []
        for _ in 0..<60 {
            simulator.run(for: .seconds(1))
            let status = try #require(simulator.hosts[2].node).peerStatus
            let collector = try #require(status.first { $0.role == .collector })
            openings.insert(collector.since)
        }
        #expect(openings.count >= 3)
        #expect(simulator.invariants.failures == [])
        for host in simulator.hosts {
            #expect(host.node?.dropCounters[.sealExhausted] == 0)
        }
    }

    /// All handshakes are lost for 21 seconds from the moment when new keys are due.
    @Test func aLostRenewalIsTriedAgainSoon() throws {
        let simulator = Simulator(seed: 9, world: .chain(2), rekeyAfter: .seconds(5))
        simulator.boot(within: .milliseconds(100))
        #expect(simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(20)))
        func opening() throws -> Instant {
            try #require(simulator.hosts[1].node?.peerStatus.first?.since)
        }
        let first = try opening()
        simulator.loses = { DatagramKind(firstByte: $0.first ?? 0) == .handshake }
        simulator.run(for: .seconds(26))
        #expect(try opening() == first)
        simulator.loses = nil
        let isRenewed = simulator.run(
            until: { (try? opening()) != first }, atMost: .milliseconds(4_500))
        #expect(isRenewed)
        #expect(simulator.hosts[1].node?.neighbourStatus.count == 1)
        #expect(simulator.invariants.failures == [])
    }
}

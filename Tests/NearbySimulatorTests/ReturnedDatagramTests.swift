import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

@testable import NearbySimulator

/// ICMP errors, over whole nodes: collector and agent with two relays between them.
struct ReturnedDatagramTests {
    private static func diamond(returns: Bool, seed: UInt64 = 5) -> Simulator {
        var faults = Faults()
        faults.returnsDatagrams = returns
        let simulator = Simulator(seed: seed, world: .diamond, faults: faults)
        simulator.trafficInterval = .milliseconds(10)
        simulator.boot(within: .milliseconds(100))
        let isUp = simulator.run(
            until: { simulator.allAgentsHaveACollector }, atMost: .seconds(20))
        #expect(isUp)
        simulator.run(for: .seconds(3))
        return simulator
    }

    private static func nextHop(_ simulator: Simulator) -> Int? {
        let agent = simulator.hosts[3]
        let hop = agent.node?.forwardingHop(
            to: simulator.hosts[0].peer, now: agent.localTime(simulator.now))
        return simulator.hosts.firstIndex { $0.peer == hop }
    }

    /// How long the agent's way leads over a relay whose process is gone.
    private static func timeToGoAround(returns: Bool, seed: UInt64) throws -> Duration {
        let simulator = diamond(returns: returns, seed: seed)
        // Who has just been lied to about a neighbour asks it again after `challengeInterval`.
        simulator.healAll()
        simulator.run(for: .milliseconds(300))
        let relay = try #require(nextHop(simulator))
        simulator.crash(host: relay)
        let start = simulator.now
        let isAround = simulator.run(
            until: { nextHop(simulator) != relay && nextHop(simulator) != nil },
            atMost: .seconds(5))
        #expect(isAround)
        #expect(simulator.invariants.failures.isEmpty)
        return simulator.now - start
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func whereTheProcessIsGoneTheWayLeadsAroundItAtOnce(seed: UInt64) throws {
        let returned = try Self.timeToGoAround(returns: true, seed: seed)
        #expect(returned < .milliseconds(25))
        // Without them it is silence that shows it: 75 to 95 ms, as its answers came.
        let silent = try Self.timeToGoAround(returns: false, seed: seed)
        #expect(silent > returned * 2)
        #expect(silent < .milliseconds(150))
    }

    /// A datagram that was seen on its way, quoted as if it had come back, a thousand times.
    @Test func forgedErrorsCostAQuestionAndNoRoute() throws {
        let simulator = Self.diamond(returns: false)
        let relay = try #require(Self.nextHop(simulator))
        var seen: [[UInt8]] = []
        simulator.tap = { bytes, receiver in
            if receiver == relay { seen.append(bytes) }
        }
        simulator.run(for: .milliseconds(100))
        let quotes = seen
        let lan = try #require(
            simulator.world.lans.firstIndex { $0.contains(relay) && $0.contains(3) })
        let there = Endpoint(link: Host.link(lan), address: .simulated(UInt64(relay)))
        seen = []
        let before = simulator.hosts[3].routesVersion
        for round in 0..<1_000 {
            simulator.tell(.returned(quotes[round % quotes.count], of: there), to: 3)
            if round.isMultiple(of: 10) { simulator.run(for: .milliseconds(10)) }
        }
        #expect(simulator.hosts[3].routesVersion == before)
        #expect(Self.nextHop(simulator) == relay)
        // A second has passed.
        let questions = simulator.hosts[3].node?.dropCounters[.datagramReturned] ?? 0
        #expect(questions >= 990)
        #expect(simulator.invariants.failures.isEmpty)
    }

    @Test func errorsAboutStrangersAreCounted() {
        let simulator = Self.diamond(returns: false)
        let nobody = Endpoint(link: LinkID(value: 0), address: .simulated(77))
        simulator.tell(.returned([1, 2, 3], of: nobody), to: 3)
        #expect(simulator.hosts[3].node?.dropCounters[.datagramReturned] == 1)
    }
}

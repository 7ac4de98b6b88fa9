import NearbyCore
import NearbyEngine
import NearbySimulator
import Testing

/// A viewer gets copies from everybody and is nobody's collector.
struct ViewerTests {
    @Test func agentsOnALANKeepTheirCollectorAndServeTheViewer() {
        let simulator = started(.lan([.collector, .viewer] + agents(6)))
        for host in simulator.hosts.dropFirst(2) {
            #expect(host.collector == simulator.hosts[0].peer)
            #expect(host.viewers == [simulator.hosts[1].peer])
        }
        expectTraffic(simulator, to: [0, 1])
    }

    @Test func aViewerBehindARelayGetsWhatAgentsSend() {
        // collector – relay – relay – agent, with the viewer on the LAN of the first relay
        let simulator = started(
            World(
                lans: [[0, 1, 4], [1, 2], [2, 3]],
                roles: [.collector, .relay, .relay, .agent, .viewer]))
        #expect(simulator.hosts[3].node?.neighbourStatus.count == 1)
        #expect(simulator.hosts[3].node?.role(of: simulator.hosts[4].peer) == .viewer)
        #expect(simulator.hosts[3].node?.role(of: simulator.hosts[0].peer) == .collector)
        expectTraffic(simulator, to: [0, 4])
    }

    @Test func withoutACollectorThereIsNoneForTheViewerIsNot() {
        let simulator = Simulator(seed: 4, world: .lan([.viewer] + agents(5)))
        simulator.boot(within: .milliseconds(500))
        #expect(simulator.run(until: { simulator.allAgentsHaveAllViewers }, atMost: .seconds(10)))
        expectTraffic(simulator, to: [0])
        for host in simulator.hosts {
            #expect(host.collector == nil)
            #expect(host.node?.routes.contains { $0.kind == .collector } == false)
        }
    }

    @Test func aViewerMayGoAndComeBack() {
        let simulator = started(.lan([.collector, .viewer] + agents(4)))
        simulator.crash(host: 1)
        simulator.run(for: .seconds(10))
        for host in simulator.hosts.dropFirst(2) {
            #expect(host.viewers == [])
            #expect(host.collector == simulator.hosts[0].peer)
        }
        simulator.boot(host: 1)
        #expect(simulator.run(until: { simulator.allAgentsHaveAllViewers }, atMost: .seconds(20)))
        expectTraffic(simulator, to: [0, 1])
    }

    /// On the LAN, and over a relay, where nobody hears of the restart but through routing.
    @Test(arguments: [
        World.lan([.collector, .viewer, .agent, .agent, .agent]),
        World(lans: [[0, 2, 1], [2, 3]], roles: [.collector, .viewer, .relay, .agent]),
    ])
    func aViewerThatRestartsAtOnceIsServedAgain(world: World) {
        let simulator = started(world)
        for _ in 0..<3 {
            simulator.crash(host: 1)
            simulator.boot(host: 1, after: .milliseconds(200))
            simulator.run(for: .seconds(15))
            #expect(simulator.allAgentsHaveAllViewers)
            #expect(simulator.allAgentsHaveACollector)
            expectTraffic(simulator, to: [0, 1])
        }
    }

    @Test func ofNineViewersSevenAreServedAndTheOthersTakeFreePlaces() throws {
        let viewers = [Role](repeating: .viewer, count: 9)
        let simulator = started(.lan([.collector] + viewers + [.agent]), waitsForViewers: false)
        simulator.run(for: .seconds(20))
        let agent = simulator.hosts[10]
        let served = agent.viewers
        #expect(served.count == Limits.viewersMax)
        #expect(served == served.sorted())
        // Who is served stays so.
        simulator.run(for: .seconds(60))
        #expect(agent.viewers == served)
        let gone = try #require(simulator.hosts.first { $0.peer == served[0] })
        simulator.crash(host: gone.number)
        simulator.run(for: .seconds(20))
        #expect(agent.viewers.count == Limits.viewersMax)
        #expect(agent.viewers.filter(served.contains).count == Limits.viewersMax - 1)
        #expect(simulator.invariants.failures == [])
    }

    /// More nodes than a viewer takes as neighbours: the rest reach it over the mesh, and their
    /// channels with it last.
    @Test func aViewerOnACrowdedLANKeepsItsChannels() {
        let simulator = started(.lan([.collector, .viewer] + agents(16)))
        let neighbours = simulator.hosts[1].node?.neighbourStatus.count ?? 0
        #expect(neighbours <= Limits.neighboursAccepted + Limits.neighboursWanted)
        simulator.trafficInterval = nil
        simulator.run(for: .seconds(10))
        let before = opened(simulator)
        #expect(before.count == 16)
        simulator.run(for: .seconds(100))
        let after = opened(simulator)
        #expect(after == before)
        #expect(simulator.allAgentsHaveAllViewers)
        #expect(simulator.invariants.failures == [])
    }

    /// When each agent's channel with host 1 was opened.
    private func opened(_ simulator: Simulator) -> [Int: Instant] {
        var times: [Int: Instant] = [:]
        for host in simulator.hosts where !host.role.collects {
            let status = host.node?.peerStatus.first { $0.peer == simulator.hosts[1].peer }
            times[host.number] = status?.since
        }
        return times
    }

    private func agents(_ count: Int) -> [Role] { [Role](repeating: .agent, count: count) }

    private func started(_ world: World, waitsForViewers: Bool = true) -> Simulator {
        let simulator = Simulator(seed: 3, world: world)
        simulator.boot(within: .milliseconds(500))
        #expect(simulator.run(until: { simulator.allAgentsHaveACollector }, atMost: .seconds(10)))
        if waitsForViewers {
            #expect(
                simulator.run(until: { simulator.allAgentsHaveAllViewers }, atMost: .seconds(10)))
        }
        return simulator
    }

    /// Everything that agents send in five seconds arrives at these hosts.
    private func expectTraffic(_ simulator: Simulator, to receivers: [Int]) {
        let before = simulator.invariants
        simulator.run(for: .seconds(5))
        let after = simulator.invariants
        #expect(after.failures == [])
        for host in simulator.hosts where !host.role.collects {
            for receiver in receivers {
                let count =
                    after.deliveredCount(from: host.number, to: receiver)
                    - before.deliveredCount(from: host.number, to: receiver)
                #expect(count >= 11, "\(count) of host \(host.number) at \(receiver)")
            }
        }
    }
}

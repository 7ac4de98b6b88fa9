import FaultRuns
import NearbyCore
import NearbyEngine
import NearbySimulator
import Testing

/// A member that lies: what `simulate liar` runs by the hundred.
struct LiarTests {
    @Test(arguments: [.halfACircle] as [Liar.Lie])
    func fiveSecondsAfterALiarLeftAllIsWhole(_ lie: Liar.Lie) {
        #expect(LiarRun(seed: 3, lie: lie, hostsMax: 5, lying: .seconds(15)).failures == [])
    }

    /// A relay calls itself a collector, and is the nearest.
    @Test func readingsGoOnlyToWhoWasAdmittedAsACollector() throws {
        let simulator = Simulator(
            seed: 1, world: World(lans: [[0, 1], [1, 2]], roles: [.collector, .relay, .agent]),
            liars: [1: .promoted])
        simulator.boot(within: .milliseconds(100))
        simulator.run(for: .seconds(10))
        #expect(simulator.hosts[2].collector == simulator.hosts[0].peer)
        #expect(simulator.invariants.failures == [])
        let node = try #require(simulator.hosts[2].node)
        #expect(node.dropCounters[.roleNotAdmitted] > 0)
    }

    @Test func onlyThoseNamedAreCollectors() throws {
        let world = World.lan([.collector, .collector, .agent])
        let simulator = Simulator(seed: 2, world: world)
        simulator.hosts[2].collectors = [simulator.hosts[1].peer]
        simulator.boot(within: .milliseconds(100))
        simulator.run(for: .seconds(10))
        #expect(simulator.hosts[2].collector == simulator.hosts[1].peer)
        simulator.crash(host: 1)
        simulator.run(for: .seconds(10))
        #expect(simulator.hosts[2].collector == nil)
        let node = try #require(simulator.hosts[2].node)
        #expect(node.dropCounters[.roleNotAdmitted] > 0)
    }

    /// Callers of which nothing is heard any more, though there is a way to them.
    @Test func callersThatAreSilentExpire() throws {
        var lans = [[0, 1]]
        var roles: [Role] = [.collector, .relay]
        for ghost in 2..<20 {
            lans.append([1, ghost])
            roles.append(.agent)
        }
        let simulator = Simulator(
            seed: 3, world: World(lans: lans, roles: roles), liars: [1: .nearest])
        (simulator.hosts[1].liar as? Liar)?.isLying = false
        simulator.trafficInterval = nil
        simulator.boot(within: .milliseconds(100))
        simulator.run(for: .seconds(20))
        func peers() -> Int { simulator.hosts[0].node?.peerStatus.count ?? 0 }
        let before = peers()
        #expect(before > 5)
        // Idle channels that answer stay.
        simulator.run(for: .seconds(200))
        #expect(peers() == before)
        // From now on nothing passes the relay, but it still names ways to all.
        (simulator.hosts[1].liar as? Liar)?.isLying = true
        simulator.run(for: .seconds(200))
        #expect(peers() == 1)
        #expect(simulator.invariants.failures == [])
    }

    /// An agent calls another that its relay names a collector.
    @Test func agentsTakeNoInvitationsOverTheMesh() throws {
        let world = World(lans: [[0, 1], [1, 2]], roles: [.agent, .relay, .agent])
        let simulator = Simulator(seed: 4, world: world, liars: [1: .appointing])
        simulator.boot(within: .milliseconds(100))
        simulator.run(for: .seconds(10))
        #expect(simulator.hosts[0].collector == nil)
        #expect(simulator.hosts[2].collector == nil)
        let node = try #require(simulator.hosts[0].node)
        #expect(node.dropCounters[.invitationOverMesh] > 0)
        #expect(node.peerStatus.count == 1)
    }
}

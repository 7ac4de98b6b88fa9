import NearbyCore
import NearbyEngine
import NearbySimulator
import NearbyWire
import Testing

/// Nodes that serve sessions of applications: they call each other, and see each other's names.
struct ApplicationTests {
    private func started(_ world: World, seed: UInt64 = 1) -> Simulator {
        let simulator = Simulator(seed: seed, world: world)
        simulator.trafficInterval = nil
        for host in simulator.hosts { host.application = ApplicationTerms() }
        simulator.boot(within: .milliseconds(500))
        simulator.run(for: .seconds(10))
        return simulator
    }

    private static let row = World(lans: [[0, 1], [1, 2]], roles: [.relay, .relay, .relay])

    private func channelRuns(_ simulator: Simulator, at host: Int, with peer: Int) -> [RunID] {
        simulator.hosts[host].told.compactMap { event in
            guard case .channel(let id, let run, _) = event, id == simulator.hosts[peer].peer
            else { return nil }
            return run
        }
    }

    private func hasChannel(_ simulator: Simulator, _ host: Int, _ peer: Int) -> Bool {
        simulator.hosts[host].node?.peerStatus.contains {
            $0.peer == simulator.hosts[peer].peer
        } == true
    }

    private func dial(_ simulator: Simulator, _ host: Int, _ peer: Int) {
        simulator.tell(.application(.dial(simulator.hosts[peer].peer)), to: host)
    }

    @Test func onePeerCallsAnotherOverTheMesh() {
        let simulator = started(Self.row)
        #expect(!hasChannel(simulator, 0, 2))
        dial(simulator, 0, 2)
        simulator.run(for: .seconds(3))
        #expect(hasChannel(simulator, 0, 2))
        #expect(channelRuns(simulator, at: 0, with: 2) == [simulator.hosts[2].run])
        #expect(channelRuns(simulator, at: 2, with: 0) == [simulator.hosts[0].run])
        simulator.tell(.application(.release(simulator.hosts[2].peer)), to: 0)
        simulator.run(for: .seconds(3))
        #expect(!hasChannel(simulator, 0, 2))
        #expect(!hasChannel(simulator, 2, 0))
    }

    /// Whatever crosses on the way, both end with one channel, and keep it.
    @Test(arguments: 1...30) func bothMayCallAtOnce(seed: UInt64) {
        let simulator = started(Self.row, seed: seed)
        dial(simulator, 0, 2)
        if seed.isMultiple(of: 3) { simulator.run(for: .milliseconds(Int64(seed))) }
        dial(simulator, 2, 0)
        simulator.run(for: .seconds(8))
        let before = [(0, 2), (2, 0)].map { channelRuns(simulator, at: $0, with: $1).count }
        #expect(before.allSatisfy { (1...2).contains($0) })
        let unknown = simulator.hosts.map { $0.node?.dropCounters[.frameUnknownChannel] }
        for (host, peer) in [(0, 2), (2, 0)] {
            simulator.tell(
                .sendReliable([1, 2, 3], to: simulator.hosts[peer].peer), to: host)
        }
        simulator.run(for: .seconds(20))
        #expect(simulator.hosts.map { $0.node?.dropCounters[.frameUnknownChannel] } == unknown)
        for (host, peer) in [(0, 2), (2, 0)] {
            let (node, id) = (simulator.hosts[host].node, simulator.hosts[peer].peer)
            #expect(node.map { $0.queuedReliableBytes(for: id) } == 0)
            #expect(hasChannel(simulator, host, peer))
        }
        let after = [(0, 2), (2, 0)].map { channelRuns(simulator, at: $0, with: $1).count }
        #expect(after == before)
    }

    /// Programs choose by the info whom they invite.
    @Test func aCrowdIsSeenWithWhatItSaysOfItself() throws {
        let count = 24
        let simulator = Simulator(
            seed: 1, world: World.lan([Role](repeating: .relay, count: count)))
        simulator.trafficInterval = nil
        for host in simulator.hosts { host.application = ApplicationTerms() }
        simulator.boot(within: .milliseconds(200))
        simulator.run(for: .milliseconds(200))
        let info = try DiscoveryInfo([(key: "room", value: "kitchen")])
        for host in 0..<count { simulator.tell(.application(.advertise(info)), to: host) }
        simulator.run(for: .seconds(7))
        let seen = simulator.hosts[0].told.compactMap { event -> Sighting? in
            guard case .sighted(let sighting) = event, !sighting.flags.contains(.hidden) else {
                return nil
            }
            return sighting
        }
        #expect(Set(seen.map(\.peer)).count == count - 1)
        #expect(seen.allSatisfy { $0.info == info })
    }

    @Test func aCallStandsUntilThePeerComes() {
        let simulator = started(Self.row)
        simulator.crash(host: 2)
        simulator.run(for: .seconds(20))
        dial(simulator, 0, 2)
        simulator.run(for: .seconds(60))
        simulator.boot(host: 2)
        simulator.run(for: .seconds(15))
        #expect(hasChannel(simulator, 0, 2))
    }

    @Test func aRestartIsTold() {
        let simulator = started(Self.row)
        dial(simulator, 0, 2)
        simulator.run(for: .seconds(3))
        let first = simulator.hosts[2].run
        simulator.crash(host: 2)
        simulator.boot(host: 2)
        simulator.run(for: .seconds(20))
        let runs = channelRuns(simulator, at: 0, with: 2)
        #expect(runs.first == first)
        #expect(runs.last == simulator.hosts[2].run)
        #expect(first != simulator.hosts[2].run)
    }

    @Test func whoIsCalledBecomesANeighbourHoweverManyThereAre() {
        let simulator = started(.lan(Array(repeating: Role.relay, count: 14)))
        for peer in 1..<14 { dial(simulator, 0, peer) }
        simulator.run(for: .seconds(10))
        #expect(simulator.hosts[0].node?.neighbourStatus.count == 13)
    }

    @Test func agentsAreNotCalled() {
        let simulator = Simulator(seed: 3, world: Self.row)
        simulator.trafficInterval = nil
        simulator.hosts[0].application = ApplicationTerms()
        simulator.boot(within: .milliseconds(500))
        simulator.run(for: .seconds(10))
        dial(simulator, 0, 2)
        simulator.run(for: .seconds(10))
        #expect(!hasChannel(simulator, 0, 2))
        #expect(simulator.hosts[2].node?.dropCounters[.invitationOverMesh] ?? 0 > 0)
        #expect(simulator.hosts[1].told.isEmpty)
    }

    @Test func namesAndInfoAreSeenOnceTheyAreAdvertised() throws {
        let simulator = started(.lan([.relay, .relay]))
        func sighting() -> Sighting? {
            simulator.hosts[0].told.reversed().lazy.compactMap { event in
                if case .sighted(let sighting) = event { sighting } else { nil }
            }.first
        }
        #expect(sighting()?.name == "host1")
        #expect(sighting()?.flags.contains(.hidden) == true)
        let info = try DiscoveryInfo([("room", "kitchen")])
        simulator.tell(.application(.advertise(info)), to: 1)
        simulator.run(for: .seconds(5))
        #expect(sighting()?.flags.contains(.hidden) == false)
        #expect(sighting()?.info == info)
        simulator.tell(.application(.advertise(nil)), to: 1)
        simulator.run(for: .seconds(5))
        #expect(sighting()?.flags.contains(.hidden) == true)
        #expect(sighting()?.info == .empty)
    }

    /// Sooner than an agent forgets: people look at the list.
    @Test(arguments: [3, 12]) func whoIsGoneVanishesWithinSeconds(count: Int) {
        let simulator = started(.lan(Array(repeating: Role.relay, count: count)))
        let gone = simulator.hosts[2].peer
        simulator.crash(host: 2)
        simulator.run(for: .seconds(count > 3 ? 25 : 12))
        for host in simulator.hosts where host.number != 2 {
            let vanished = host.told.contains { event in
                if case .vanished(gone) = event { true } else { false }
            }
            #expect(vanished)
            #expect(!hasChannel(simulator, host.number, 2))
        }
    }
}

import NearbyCore
import Testing

@testable import NearbyEngine
@testable import NearbySimulator

/// A node that was next to the collector lost that way, and one of its beacons from before is
/// played back (here: what the beacon makes of the sighting): for twelve others with good ways of
/// their own it seems to be a shortcut, and is none. Nothing else changes.
struct FoughtOverHubTests {
    @Test(arguments: [true, false])
    func aHubIsNotFoughtOver(_ isReplayed: Bool) {
        let rivals = Array(6..<24)
        let world = World(
            lans: [[0, 1], [0, 2], [2, 3], [3, 4], [4, 5], [1, 5] + rivals],
            roles: [.collector] + [Role](repeating: .agent, count: 23))
        let simulator = Simulator(seed: 1, world: world)
        simulator.trafficInterval = nil
        simulator.boot(within: .seconds(1))
        simulator.run(for: .seconds(30))
        simulator.cut(lan: 0)
        simulator.run(for: .seconds(60))
        let hub = simulator.hosts[1].peer
        var changes = 0
        var last: Set<PeerID> = []
        for step in 0..<600 {
            if isReplayed {
                for rival in rivals {
                    let node = simulator.hosts[rival].node!
                    guard let seen = node.rendezvous.discovery.sighting(of: hub) else { continue }
                    node.tellRendezvous(
                        .invitation(
                            .sighted(
                                hub,
                                .init(
                                    run: seen.run, role: .agent, costToCollector: 96, linkCost: 96,
                                    links: seen.endpoints.map(\.link)))), simulator.now)
                }
            }
            simulator.run(for: .milliseconds(100))
            let node = simulator.hosts[1].node!
            let now = Set(node.rendezvous.invitation.connectedPeers)
            if step > 0 { changes += now.symmetricDifference(last).count }
            last = now
        }
        #expect(changes < 20, "\(changes)")
    }
}

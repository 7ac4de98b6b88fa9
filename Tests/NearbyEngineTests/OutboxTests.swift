import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

/// What leaves the third node of a quiet network, with the collector (0) behind others or beside
/// it.
struct OutboxTests {
    private let far = RoutingNetwork.peer(0)
    private let hop: PeerID

    init() throws {
        var network = RoutingNetwork.random(seed: 3)
        network.raiseAll()
        network.run(for: .seconds(10))
        hop = try #require(network.machines[2].nextHop(to: far.short))
    }

    private func outbox(forwards: Bool = true) -> Outbox {
        var configuration = NodeConfiguration(
            name: "", role: .relay, networkTag: NetworkTag(value: 1), run: RunID(value: 1), seed: 1)
        configuration.forwards = forwards
        return Outbox(configuration, own: RoutingNetwork.peer(2))
    }

    /// The next hop is a neighbour with keys.
    private func view() throws -> Outbox.View {
        let cryptography = SimulatedCryptography(peer: hop, seed: 1)
        let keys = try #require(ChannelKeys((0..<128).map { UInt8($0) }, cryptography))
        let peers = Peers()
        let association = Association.fresh(with: hop)
        association.channel.seal = FrameSeal(keys, isClient: true)
        peers.add(association)
        let machine = HopMachine(
            path: LinkChoiceTests.wifi, decides: true, seed: 1, now: .zero)
        peers.add(Neighbour(peer: hop, name: "", hop: machine, timers: NodeTimers()))
        return Outbox.View(peers: peers, hop: peers.neighbour(hop))
    }

    /// Datagrams that leave for the neighbours now.
    private func flush(_ outbox: inout Outbox, _ view: Outbox.View) -> Int {
        while let neighbour = outbox.nextWaiting(among: view.peers) {
            while outbox.sendNext(to: neighbour, among: view.peers, now: .zero) != nil {}
        }
        return outbox.takeOutputs().count
    }

    @Test func framesForOneNeighbourLeaveTogether() throws {
        var outbox = outbox()
        let view = try view()
        for byte in [1, 2, 3] as [UInt8] {
            outbox.enqueue(
                [FrameKind.message.rawValue, byte], to: hop, .fresh, seeing: view, now: .zero)
        }
        #expect(outbox.takeOutputs().isEmpty)
        #expect(flush(&outbox, view) == 1)
        #expect(flush(&outbox, view) == 0)
    }

    @Test func whoIsNoPeerGetsNothing() throws {
        var outbox = outbox()
        let stranger = PeerID(high: 77, low: 1)
        outbox.enqueue([0xa0], to: stranger, .fresh, seeing: try view(), now: .zero)
        #expect(outbox.drops[.packetNoRoute] == 1)
    }

    @Test func packetsOfOthersGoOnWhereThatIsAllowed() throws {
        let view = try view()
        var packet = MeshPacket(
            priority: .fresh, source: ShortID(value: 7), destination: far.short, inside: [1, 2])
        var relay = outbox()
        relay.forward(packet, to: view.hop)
        #expect(flush(&relay, view) == 1)
        var end = outbox(forwards: false)
        end.forward(packet, to: view.hop)
        #expect(flush(&end, view) == 0)
        #expect(end.drops[.packetNoRoute] == 1)
        packet.hopLimit = 1
        relay.forward(packet, to: view.hop)
        #expect(relay.drops[.packetHopLimit] == 1)
    }

    @Test func whatWaitsForANeighbourThatIsGoneIsForgotten() throws {
        var outbox = outbox()
        let view = try view()
        outbox.enqueue([0xa0, 1], to: hop, .fresh, seeing: view, now: .zero)
        let nobody = Outbox.View(peers: Peers(), hop: nil)
        #expect(flush(&outbox, nobody) == 0)
        #expect(flush(&outbox, view) == 0)
    }
}

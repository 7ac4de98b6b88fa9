import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

/// Two nodes on one link, one of which cannot read the other's reliable messages any further.
struct BrokenSessionTests {
    private static let link = LinkID(value: 1)

    private var nodes: [Node] = (0..<2).map { number in
        var configuration = NodeConfiguration(
            name: "node\(number)", role: number == 0 ? .agent : .collector,
            networkTag: NetworkTag(value: 1), run: RunID(value: UInt64(number) + 1),
            seed: UInt64(number))
        configuration.secrets = [[UInt8](repeating: 7, count: 16)]
        return Node(
            configuration,
            cryptography: SimulatedCryptography(peer: Self.peer(number), seed: UInt64(number)))
    }
    private var now = Instant.zero

    private static func peer(_ number: Int) -> PeerID { PeerID(high: UInt64(number) + 1, low: 0) }

    init() {
        for index in nodes.indices {
            nodes[index].handle(.start, now: now)
            nodes[index].handle(.linkUp(Self.link, .ethernet), now: now)
        }
    }

    private mutating func run(for time: Duration) {
        let end = now + time
        while now < end {
            for index in nodes.indices { pass(nodes[index].flush(now: now), from: index) }
            now = now + .milliseconds(5)
            for index in nodes.indices where nodes[index].nextDeadline ?? .distantFuture <= now {
                nodes[index].handle(.deadlineReached, now: now)
            }
        }
    }

    private mutating func pass(_ outputs: [Node.Output], from index: Int) {
        let source = Endpoint(link: Self.link, address: .simulated(UInt64(index)))
        for output in outputs {
            switch output {
            case .transmit(.multicast(let bytes, _)):
                nodes[1 - index].handle(
                    .datagram(bytes, from: source, isMulticast: true), now: now)
            case .transmit(.unicast(let bytes, _)):
                nodes[1 - index].handle(
                    .datagram(bytes, from: source, isMulticast: false), now: now)
            default: break
            }
        }
    }

    @Test func itsPlaceIsGivenBackAndTheNextChannelIsOpened() throws {
        var world = self
        world.run(for: .seconds(10))
        let opened = try #require(world.nodes[0].peerStatus.first?.since)
        #expect(world.nodes[0].rendezvous.invitation.connectedCount == 1)
        let association = try #require(world.nodes[0].peers[Self.peer(1)])
        world.nodes[0].perform(
            .peers(.close(association.channel, .dropped)), world.now)
        world.nodes[0].settle(world.now)
        #expect(world.nodes[0].neighbourStatus.isEmpty)
        #expect(world.nodes[0].rendezvous.invitation.connectedCount == 0)
        world.run(for: .seconds(20))
        let again = try #require(world.nodes[0].peerStatus.first?.since)
        #expect(again > opened)
        #expect(world.nodes[0].neighbourStatus.count == 1)
        #expect(world.nodes[0].rendezvous.invitation.connectedCount == 1)
    }

    /// Its channel may have left the table before the peer is given up.
    @Test func aPeerWhoseChannelIsGoneIsGivenUpAllTheSame() throws {
        var world = self
        world.run(for: .seconds(10))
        let association = try #require(world.nodes[0].peers[Self.peer(1)])
        let node = world.nodes[0]
        var channels = node.channels
        channels.remove(association.channel)
        let outputs = channels.handle(
            .close(association.channel, .leaving), peers: node.peers,
            discovery: node.rendezvous.discovery, routing: node.mesh.routing, hasRoute: false,
            now: world.now)
        for output in outputs { node.perform(.channel(output), world.now) }
        node.settle(world.now)
        #expect(world.nodes[0].peers[Self.peer(1)] == nil)
        #expect(world.nodes[0].peerStatus.isEmpty)
        #expect(world.nodes[0].neighbourStatus.isEmpty)
    }
}

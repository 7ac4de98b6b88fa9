import NearbyCore
import NearbyEngine
import NearbySimulator
import NearbyWire
import Testing

/// Two nodes on one link. One of them seems to have two addresses; what is sent to the one that was
/// heard first goes nowhere, as with an address that two hosts have.
struct DeadAddressTests {
    private static let link = LinkID(value: 1)
    private static let dead = Endpoint(link: link, address: .simulated(99))

    private static func endpoint(_ node: Int) -> Endpoint {
        Endpoint(link: link, address: .simulated(UInt64(node)))
    }

    private static func node(_ number: Int) -> Node {
        var configuration = NodeConfiguration(
            name: "node\(number)", role: number == 0 ? .agent : .collector,
            networkTag: NetworkTag(value: 1), run: RunID(value: UInt64(number)),
            seed: UInt64(number))
        configuration.secrets = [[UInt8](repeating: 7, count: 16)]
        let peer = PeerID(high: UInt64(number) + 1, low: 0)
        return Node(
            configuration, cryptography: SimulatedCryptography(peer: peer, seed: UInt64(number)))
    }

    @Test func anAddressThatLeadsNowhereCostsLittle() throws {
        let nodes = [Self.node(0), Self.node(1)]
        var now = Instant.zero
        var connectedAt: Instant?
        var sentToDead = 0
        for index in nodes.indices {
            nodes[index].handle(.start, now: now)
            nodes[index].handle(.linkUp(Self.link, .ethernet), now: now)
        }
        while now < Instant.zero + .seconds(10), connectedAt == nil {
            for index in nodes.indices {
                for output in nodes[index].flush(now: now) {
                    let other = 1 - index
                    switch output {
                    case .transmit(.multicast(let bytes, _)):
                        let sources = index == 1 ? [Self.dead] : []
                        for source in sources + [Self.endpoint(index)] {
                            nodes[other].handle(
                                .datagram(bytes, from: source, isMulticast: true), now: now)
                        }
                    case .transmit(.unicast(_, Self.dead)): sentToDead += 1
                    case .transmit(.unicast(let bytes, _)):
                        nodes[other].handle(
                            .datagram(bytes, from: Self.endpoint(index), isMulticast: false),
                            now: now)
                    case .event(.peer(_, .connected)): connectedAt = connectedAt ?? now
                    default: break
                    }
                }
            }
            now = now + .milliseconds(1)
            for index in nodes.indices
            where nodes[index].nextDeadline ?? .distantFuture <= now {
                nodes[index].handle(.deadlineReached, now: now)
            }
        }
        #expect(sentToDead > 0, "the dead address was not tried: nothing is tested")
        let time = try #require(connectedAt)
        #expect(time < Instant.zero + .seconds(1), "\(time.nanoseconds / 1_000_000) ms")
    }
}

import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// An agent whose only neighbour is a collector.
struct MeshMachineTests {
    private static let own = PeerID(high: 2, low: 1)
    private static let collector = PeerID(high: 1, low: 1)

    private var neighbour = RoutingMachine(own: Self.collector, kind: .collector)
    private var mesh: MeshMachine
    private var said: [MeshMachine.Output] = []

    init() {
        let configuration = NodeConfiguration(
            name: "", role: .agent, networkTag: NetworkTag(value: 1), run: RunID(value: 1), seed: 1)
        var random = SeededGenerator(seed: 1)
        mesh = MeshMachine(configuration, own: Self.own, random: &random)
    }

    /// Both have each other, and what one says the other hears at once.
    private mutating func connect() {
        tell(.routing(.neighbourUp(Self.collector, cost: 96)), .zero)
        pass(neighbour.handle(.neighbourUp(Self.own, cost: 96), now: .zero), .zero)
        var now = Instant.zero
        while now < .zero + .seconds(5) {
            now = now + .milliseconds(10)
            if neighbour.nextDeadline ?? .distantFuture <= now {
                pass(neighbour.handle(.deadlineReached, now: now), now)
            }
            if mesh.nextDeadline ?? .distantFuture <= now { tell(.deadlineReached, now) }
        }
    }

    private mutating func tell(_ input: MeshMachine.Input, _ now: Instant) {
        let outputs = mesh.handle(input, peers: Peers(), heardSince: { _ in nil }, now: now)
        for output in outputs {
            said.append(output)
            guard case .send(let message, _) = output else { continue }
            pass(
                neighbour.handle(
                    .received(message, from: Self.own, isOvertaken: false), now: now), now)
        }
    }

    private mutating func pass(_ outputs: [RoutingMachine.Output], _ now: Instant) {
        for case .send(let message, _) in outputs {
            tell(.routing(.received(message, from: Self.collector, isOvertaken: false)), now)
        }
    }

    private var costs: [UInt16?] {
        said.compactMap { if case .costToCollector(let cost) = $0 { .some(cost) } else { nil } }
    }

    @Test func aCollectorInReachIsCalledAndSaidToBeInReach() {
        var world = self
        world.connect()
        #expect(world.costs.last == .some(96))
        #expect(world.mesh.costToCollector == 96)
        #expect(world.said.contains { if case .dial(Self.collector) = $0 { true } else { false } })
    }

    @Test func itsLossIsSaidAndTheBookKeepsIt() {
        var world = self
        world.connect()
        world.tell(.routing(.neighbourDown(Self.collector)), .zero + .seconds(5))
        #expect(world.costs.last == .some(nil))
        #expect(world.mesh.book[Self.collector]?.isReachable == false)
    }

    @Test func howFarMessagesCameIsInTheBook() {
        var world = self
        world.connect()
        world.tell(.heard(Self.collector, hops: 3), .zero)
        #expect(world.mesh.book[Self.collector]?.hops == 3)
    }
}

import NearbyCore
import NearbyEngine
import NearbySimulator
import Testing

/// Somebody on the LAN who has heard everything and can send anything, against whole nodes: nothing
/// established is harmed, nothing is kept, every refusal has its name.
struct AdversaryTests {
    private let simulator: Simulator
    private let heard: [[UInt8]]
    private let stranger = Endpoint(link: Host.link(0), address: .simulated(77))
    private let known = Endpoint(link: Host.link(0), address: .simulated(1))

    /// A collector and two agents that talked for a while; what the collector was sent was heard.
    init() {
        simulator = Simulator(seed: 5, world: .flat(3))
        let log = Log()
        simulator.tap = { bytes, receiver in if receiver == 0 { log.datagrams.append(bytes) } }
        simulator.boot(within: .milliseconds(100))
        simulator.run(for: .seconds(5))
        heard = log.datagrams
        simulator.tap = nil
    }

    private final class Log { var datagrams: [[UInt8]] = [] }

    @Test func replayedDatagramsAreDroppedAndCounted() throws {
        let before = try state()
        for bytes in heard {
            simulator.inject(bytes, to: 0, from: known)
            simulator.inject(bytes, to: 0, from: stranger)
        }
        simulator.run(for: .milliseconds(100))
        let after = try state()
        #expect(after.drops(.frameReplayed) > before.drops(.frameReplayed))
        try expectUnharmed(before)
    }

    @Test func mutilatedDatagramsAreDroppedAndCounted() throws {
        let before = try state()
        var random = SeededGenerator(seed: 1)
        for bytes in heard.prefix(60) {
            for count in 0..<bytes.count {
                simulator.inject(Array(bytes.prefix(count)), to: 0, from: known)
            }
            for _ in 0..<64 {
                var flipped = bytes
                let bit = Int.random(in: 0..<bytes.count * 8, using: &random)
                flipped[bit / 8] ^= 1 << (bit % 8)
                let source = Bool.random(using: &random) ? known : stranger
                simulator.inject(flipped, to: 0, from: source)
            }
        }
        simulator.run(for: .milliseconds(100))
        let after = try state()
        #expect(after.drops(.frameForged) > before.drops(.frameForged))
        try expectUnharmed(before)
    }

    @Test func garbageIsDroppedAndCounted() throws {
        let before = try state()
        var random = SeededGenerator(seed: 2)
        for _ in 0..<10_000 {
            let count = Int.random(in: 0...1_300, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            // Half of it begins like something that we know.
            if let first = heard.randomElement(using: &random)?.first, !bytes.isEmpty,
                Bool.random(using: &random)
            {
                bytes[0] = first
            }
            simulator.inject(bytes, to: 0, from: stranger)
        }
        simulator.run(for: .milliseconds(100))
        let after = try state()
        #expect(after.dropCount >= before.dropCount + 9_000)
        try expectUnharmed(before)
    }

    // MARK: What is looked at

    private struct State {
        var connectedSince: [PeerID: Instant]
        var counters: DropCounters
        var sizes: [String: Int]

        func drops(_ reason: DropReason) -> UInt64 {
            counters.all.first { $0.reason == reason }?.count ?? 0
        }

        var dropCount: UInt64 { counters.all.reduce(0) { $0 + $1.count } }
    }

    private func state() throws -> State {
        let node = try #require(simulator.hosts[0].node)
        let sizes = node.tableSizes.map { ($0.name, $0.count) }
        return State(
            connectedSince: Dictionary(
                uniqueKeysWithValues: node.peerStatus.map { ($0.peer, $0.since) }),
            counters: node.dropCounters, sizes: Dictionary(uniqueKeysWithValues: sizes))
    }

    /// The same channels as before carry messages on, and no table has grown.
    private func expectUnharmed(_ before: State) throws {
        #expect(before.connectedSince.count == 2)
        simulator.run(for: .seconds(25))
        let delivered = simulator.invariants.deliveredCount
        simulator.run(for: .seconds(5))
        #expect(simulator.invariants.deliveredCount >= delivered + 18)
        #expect(simulator.invariants.failures == [])
        let after = try state()
        #expect(after.connectedSince == before.connectedSince)
        #expect(after.sizes == before.sizes)
    }
}

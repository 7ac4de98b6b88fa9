import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

/// Nodes in reach that cannot be neighbours are told once, with the cause.
struct RefusedNodesTests {
    private static let link = LinkID(value: 1)

    private static func endpoint(_ number: UInt64) -> Endpoint {
        Endpoint(link: link, address: .simulated(number))
    }

    private static func peer(_ number: UInt64) -> PeerID { PeerID(high: number, low: 0) }

    // MARK: The table

    @Test func isToldOnceAndAgainAfterHours() {
        var refused = RefusedNodes()
        var now = Instant.zero
        var told: [Instant] = []
        let end = Instant.zero + Limits.refusalRepeatInterval
        while now <= end {
            if refused.record(Self.peer(1), at: Self.endpoint(1), .otherSecret, now: now) {
                told.append(now)
            }
            now = now + .seconds(60)
        }
        #expect(told == [.zero, end])
    }

    @Test func anotherCauseIsToldAfterAMinute() {
        var refused = RefusedNodes()
        #expect(
            refused.record(Self.peer(1), at: Self.endpoint(1), .otherNetwork, now: .zero) == true)
        let soon = Instant.zero + .seconds(1)
        #expect(
            refused.record(Self.peer(1), at: Self.endpoint(1), .otherSecret, now: soon) == false)
        #expect(refused[Self.peer(1)]?.cause == .otherNetwork)
        let later = Instant.zero + .seconds(61)
        #expect(
            refused.record(Self.peer(1), at: Self.endpoint(1), .otherSecret, now: later) == true)
        #expect(refused[Self.peer(1)]?.cause == .otherSecret)
    }

    @Test func oneAddressCannotFillTheTable() {
        var refused = RefusedNodes()
        let told = (1...1_000).filter { number in
            refused.record(
                Self.peer(UInt64(number)), at: Self.endpoint(7), .otherSecret, now: .zero)
        }
        #expect(told.count == Limits.refusedNodesPerAddress)
        #expect(refused.omittedCount == 1_000 - Limits.refusedNodesPerAddress)
        #expect(
            refused.record(Self.peer(2_000), at: Self.endpoint(8), .otherSecret, now: .zero) == true
        )
    }

    @Test func aFullTableGivesThePlaceOfWhoFellSilent() {
        var refused = RefusedNodes()
        for number in 1...UInt64(Limits.refusedNodesMax) {
            #expect(
                refused.record(
                    Self.peer(number), at: Self.endpoint(number), .otherSecret, now: .zero) == true)
        }
        #expect(
            refused.record(Self.peer(99), at: Self.endpoint(99), .otherSecret, now: .zero) == false)
        let later = Instant.zero + Limits.refusalMemory
        #expect(
            refused.record(Self.peer(99), at: Self.endpoint(99), .otherSecret, now: later) == true)
        #expect(refused.recent(now: later).map(\.peer) == [Self.peer(99)])
    }

    // MARK: Two nodes

    /// What the first of two nodes on one link tells within so many seconds.
    private func diagnostics(
        seconds: Int, _ changeFirst: (inout NodeConfiguration) -> Void = { _ in },
        _ changeSecond: (inout NodeConfiguration) -> Void
    ) -> (first: [Node.Diagnostic], second: [Node.Diagnostic], nodes: [Node], end: Instant) {
        let nodes = [Self.node(0, changeFirst), Self.node(1, changeSecond)]
        var diagnostics: [[Node.Diagnostic]] = [[], []]
        var now = Instant.zero
        for index in nodes.indices {
            nodes[index].handle(.start, now: now)
            nodes[index].handle(.linkUp(Self.link, .ethernet), now: now)
        }
        while now < Instant.zero + .seconds(Int64(seconds)) {
            for index in nodes.indices {
                for output in nodes[index].flush(now: now) {
                    let from = Self.endpoint(UInt64(index))
                    switch output {
                    case .transmit(.multicast(let bytes, _)):
                        nodes[1 - index].handle(
                            .datagram(bytes, from: from, isMulticast: true), now: now)
                    case .transmit(.unicast(let bytes, _)):
                        nodes[1 - index].handle(
                            .datagram(bytes, from: from, isMulticast: false), now: now)
                    case .event(.diagnostic(let diagnostic)): diagnostics[index].append(diagnostic)
                    default: break
                    }
                }
            }
            now = now + .milliseconds(5)
            for index in nodes.indices
            where nodes[index].nextDeadline ?? .distantFuture <= now {
                nodes[index].handle(.deadlineReached, now: now)
            }
        }
        return (diagnostics[0], diagnostics[1], nodes, now)
    }

    private static func node(_ number: Int, _ change: (inout NodeConfiguration) -> Void) -> Node {
        var configuration = NodeConfiguration(
            name: "node\(number)", role: number == 0 ? .agent : .collector,
            networkTag: NetworkTag(value: 1), run: RunID(value: UInt64(number)),
            seed: UInt64(number))
        configuration.secrets = [[UInt8](repeating: 7, count: 16)]
        configuration.software = "9.8.7"
        change(&configuration)
        return Node(
            configuration,
            cryptography: SimulatedCryptography(
                peer: peer(UInt64(number) + 1), seed: UInt64(number)))
    }

    private func causes(_ diagnostics: [Node.Diagnostic]) -> [RefusedNode.Cause] {
        diagnostics.compactMap { if case .nodeRefused(let node) = $0 { node.cause } else { nil } }
    }

    @Test func aNodeWithAnotherSecretIsToldOnce() throws {
        let world = diagnostics(seconds: 60) { $0.secrets = [[UInt8](repeating: 8, count: 16)] }
        #expect(causes(world.first) == [.otherSecret])
        #expect(causes(world.second) == [.otherSecret])
        let refused = try #require(world.nodes[0].refusedNodes(now: world.end).first)
        #expect(refused.peer == Self.peer(2))
        #expect(refused.endpoint == Self.endpoint(1))
    }

    @Test func aNodeOfAnotherNetworkIsToldOnce() {
        let world = diagnostics(seconds: 60) { $0.networkTag = NetworkTag(value: 2) }
        #expect(causes(world.first) == [.otherNetwork])
    }

    @Test func aNodeWithoutASecretIsToldAsSuch() {
        let world = diagnostics(seconds: 60) { $0.secrets = [] }
        #expect(causes(world.first).first == .noSecret)
    }

    @Test func aPreferenceThatRefusesOursIsTheCause() {
        let world = diagnostics(seconds: 60) { $0.preference = .none }
        #expect(causes(world.first) == [.encryption])
        #expect(causes(world.second) == [.encryption])
        #expect(world.nodes[0].refusal(of: Self.peer(2))?.cause == .encryption)
    }

    @Test func whoIsAdmittedIsKnownWithNameAndVersionAndNotRefused() throws {
        let world = diagnostics(seconds: 5) { _ in }
        #expect(causes(world.first) == [])
        #expect(world.nodes[0].refusedNodes(now: world.end) == [])
        let known = try #require(world.nodes[0].knownNode(Self.peer(2)))
        #expect(known.name == "node1")
        #expect(known.role == .collector)
        #expect(known.software == "9.8.7")
        #expect(known.isReachable)
        #expect(known.nextHop == Self.peer(2))
    }

    @Test func aBeaconInTheNameOfAConnectedPeerRefusesNobody() {
        let world = diagnostics(seconds: 5) { _ in }
        let forged = DiscoveryFrame(
            versions: 1...1, network: NetworkTag(value: 1), peer: Self.peer(2),
            run: RunID(value: 1), body: .nudge(attempt: 0), proof: 1)
        world.nodes[0].handle(
            .datagram(forged.bytes, from: Self.endpoint(9), isMulticast: false), now: world.end)
        #expect(world.nodes[0].dropCounters[.beaconBadProof] == 1)
        #expect(world.nodes[0].refusedNodes(now: world.end) == [])
    }
}

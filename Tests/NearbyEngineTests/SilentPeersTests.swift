import NearbyCore
import Testing

@testable import NearbyEngine

/// Who answers a handshake and then falls silent, again and again, keeps no others out.
struct SilentPeersTests {
    private struct World {
        var machine = InvitationMachine(own: PeerID(high: 1, low: 1), role: .agent, seed: 1)
        var begun: [PeerID: Int] = [:]
        var ends: [(at: Instant, peer: PeerID, attempt: UInt16)] = []

        mutating func feed(_ input: InvitationMachine.Input, _ now: Instant) {
            var inputs = [input]
            while let input = inputs.popLast() {
                for case .invite(let peer, let attempt) in machine.handle(input, now: now) {
                    begun[peer, default: 0] += 1
                    ends.append((now + .seconds(3), peer, attempt))
                    inputs.append(.progress(peer, attempt))
                }
            }
        }

        /// All of them answer once, and fall silent.
        mutating func run(until end: Instant, _ isDone: (World) -> Bool = { _ in false }) {
            var now = Instant.zero
            while !isDone(self) {
                let due = ends.indices.min { ends[$0].at < ends[$1].at }
                let next = min(
                    due.map { ends[$0].at } ?? .distantFuture,
                    machine.nextDeadline ?? .distantFuture)
                guard next <= end else { return }
                now = max(now, next)
                if let due, ends[due].at <= now {
                    let ended = ends.remove(at: due)
                    feed(.fellSilent(ended.peer, ended.attempt), now)
                } else {
                    feed(.deadlineReached, now)
                }
            }
        }
    }

    private static let honest = PeerID(high: 1 << 60, low: 7)

    @Test(arguments: [4, 8, 16, 32]) func anHonestCollectorIsInvitedSoon(_ count: Int) {
        var world = World()
        for number in 0..<count {
            world.feed(
                .sighted(
                    PeerID(high: 1_000 + UInt64(number), low: 1), run: RunID(value: 1),
                    role: .collector, costToCollector: 0), .zero)
        }
        for number in 0..<count / 2 {
            world.feed(
                .sighted(
                    PeerID(high: 1 << 61 + UInt64(number), low: 9), run: RunID(value: 1),
                    role: .agent, costToCollector: nil), .zero)
        }
        world.feed(
            .sighted(Self.honest, run: RunID(value: 1), role: .collector, costToCollector: 0),
            .zero)
        world.run(until: .zero + .seconds(120)) { $0.begun[Self.honest] != nil }
        #expect(world.begun[Self.honest] == 1)
    }

    @Test func itIsAskedAgainSoonAtFirstAndThenMoreRarely() throws {
        var world = World()
        world.feed(
            .sighted(Self.honest, run: RunID(value: 1), role: .collector, costToCollector: 0),
            .zero)
        world.run(until: .zero + .seconds(10))
        #expect(try #require(world.begun[Self.honest]) >= 3)
        world.run(until: .zero + .seconds(3_600))
        #expect(try #require(world.begun[Self.honest]) <= 3_600 / 10)
    }
}

import NearbyCore
import Testing

@testable import NearbyTransfers

@Suite struct CongestionTests {
    /// What a resource without end makes of a link.
    private struct Use {
        /// Bytes that arrive in a time, as a part of what the link can carry.
        var share: Double
        /// The longest that the queue took in that time.
        var wait: Duration
        var world: TransferWorld
    }

    private func use(
        of terms: SimulatedLink.Terms, after warmUp: Duration, over time: Duration
    ) -> Use {
        let world = TransferWorld(terms)
        let id = world.offer(1 << 40, at: 0)
        world.run(for: warmUp)
        world.links[0].resetBacklog()
        let start = completed(id, 0, world)
        world.run(for: time)
        let bytes = Double(completed(id, 0, world) - start)
        return Use(
            share: bytes / (Double(time.nanoseconds) / 1e9 * terms.rate),
            wait: .nanoseconds(Int64(Double(world.links[0].backlogMost) / terms.rate * 1e9)),
            world: world)
    }

    private func completed(_ id: ResourceID, _ index: Int, _ world: TransferWorld) -> Int64 {
        world.machines[index].progress(of: id)?.completed ?? 0
    }

    @Test func aCleanLinkIsUsedAndItsQueueStaysShort() {
        let use = use(of: .init(rate: 5_000_000), after: .seconds(2), over: .seconds(4))
        #expect(use.share >= 0.9)
        #expect(use.wait < .milliseconds(16))
        #expect(use.world.links[0].droppedCount == 0)
        #expect(use.world.drops.isEmpty)
        // One acknowledgement serves two packets at least.
        let sent = use.world.sentCount
        #expect(sent[.control] ?? 0 <= (sent[.bulk] ?? 0) / 2 + 100)
    }

    @Test func aFastLinkIsUsedAndItsQueueStaysShort() {
        let terms = SimulatedLink.Terms(delay: .microseconds(100))
        let use = use(of: terms, after: .milliseconds(200), over: .seconds(1))
        #expect(use.share >= 0.9)
        #expect(use.wait < .milliseconds(2))
    }

    /// While messages pass, and for a moment after; the link is used all the same.
    @Test func besideMessagesBurstsAreSmall() {
        let world = TransferWorld(.init(rate: 60_000_000, delay: .microseconds(100)))
        let id = world.offer(1 << 40, at: 0)
        world.run(for: .milliseconds(60))
        let alone = phase(of: id, hasMessages: false, world)
        #expect(alone.burst > 10)
        let beside = phase(of: id, hasMessages: true, world)
        #expect(beside.burst <= 3)
        #expect(beside.bytes >= alone.bytes / 10 * 9)
        world.run(for: Limits.messageMemory)
        #expect(phase(of: id, hasMessages: false, world).burst > 10)
    }

    /// In 50 ms, with or without messages: bytes that arrived, and the most packets at once.
    private func phase(
        of id: ResourceID, hasMessages: Bool, _ world: TransferWorld
    ) -> (bytes: Int64, burst: Int) {
        let start = completed(id, 0, world)
        if hasMessages { world.give(.messagePassed, at: 0) }
        world.bulkBurstMost = 0
        for _ in 0..<5 {
            if hasMessages { world.give(.messagePassed, at: 0) }
            world.run(for: .milliseconds(10))
        }
        return (completed(id, 0, world) - start, world.bulkBurstMost)
    }

    @Test func aSlowLinkIsUsed() {
        let terms = SimulatedLink.Terms(rate: 20_000, delay: .milliseconds(200))
        let use = use(of: terms, after: .seconds(20), over: .seconds(60))
        #expect(use.share >= 0.9)
        #expect(use.wait < .milliseconds(1_000))
    }

    /// Also where the network lets later packets overtake, and where a radio holds them up.
    @Test(arguments: [5, 20, 60], [false, true]) func jitterIsNoQueue(
        _ milliseconds: Int, _ keepsOrder: Bool
    ) {
        var terms = SimulatedLink.Terms(rate: 2_500_000)
        terms.jitter = .milliseconds(milliseconds)
        terms.keepsOrder = keepsOrder
        let use = use(of: terms, after: .seconds(4), over: .seconds(8))
        // The harshest of them leaves less: eight in sequence are all as late as the latest.
        #expect(use.share >= (keepsOrder && milliseconds == 60 ? 0.5 : 0.9))
    }

    /// A queue that only loss can tell of: it is as short as the brake's tolerance.
    @Test func aShortQueueIsUsed() {
        var terms = SimulatedLink.Terms(rate: 2_500_000)
        terms.queueLimit = 15_000
        let use = use(of: terms, after: .seconds(2), over: .seconds(6))
        #expect(use.share >= 0.75)
        #expect(use.world.links[0].droppedCount > 0)
    }

    @Test func twoShareABottleneckFairly() {
        let world = TransferWorld(pairs: 2, .init(rate: 2_500_000), isShared: true)
        let first = world.offer(1 << 40, at: 0)
        world.run(for: .seconds(3))
        let second = world.offer(1 << 40, at: 2)
        world.run(for: .seconds(10))
        let before = (completed(first, 0, world), completed(second, 2, world))
        world.links[0].resetBacklog()
        world.run(for: .seconds(15))
        let left = Double(completed(first, 0, world) - before.0)
        let right = Double(completed(second, 2, world) - before.1)
        #expect((0.4...0.6).contains(left / (left + right)), "\(left), \(right)")
        #expect((left + right) / 15 >= 0.95 * 2_500_000)
        // Neither takes the other's part of the queue for a delay of the path.
        #expect(Double(world.links[0].backlogMost) < 0.030 * 2_500_000)
        #expect(world.links[0].droppedCount == 0)
    }

    @Test func aPathThatBecomesSlowerIsLearnt() {
        let world = TransferWorld(.init(rate: 1_250_000))
        let id = world.offer(1 << 40, at: 0)
        world.run(for: .seconds(3))
        for link in world.links { link.terms.delay = .milliseconds(60) }
        world.run(for: .seconds(25))
        let start = completed(id, 0, world)
        world.run(for: .seconds(5))
        #expect(Double(completed(id, 0, world) - start) / 5 >= 0.95 * 1_250_000)
    }

    @Test func aThirdOfLossIsSurvived() {
        var terms = SimulatedLink.Terms()
        terms.loss = 0.3
        let world = TransferWorld(terms)
        let id = world.offer(300_000, at: 0)
        #expect(world.run(for: .seconds(60)) { world.programs[0].outcomes[id] == .success })
    }

    @Test func aSilentPathIsAskedMoreAndMoreRarely() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        world.pour(100_000, into: id, at: 0)
        world.run(for: .milliseconds(30))
        for link in world.links { link.terms.loss = 1 }
        world.run(for: .seconds(1))
        let start = world.sentCount[.reliable] ?? 0
        world.run(for: .seconds(600))
        // Two packets each 10 s at most.
        #expect((world.sentCount[.reliable] ?? 0) - start <= 140)
        for link in world.links { link.terms.loss = 0 }
        world.run(for: .seconds(25))
        #expect(world.programs[0].ends[id] == .some(nil))
    }
}

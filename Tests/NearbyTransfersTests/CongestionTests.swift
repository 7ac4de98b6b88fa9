import NearbyCore
import Testing

@testable import NearbyTransfers

@Suite struct CongestionTests {
    /// Bytes that a resource without end brings over in a time, after a while to begin, as a part
    /// of what the link can.
    private func use(
        of terms: SimulatedLink.Terms, after warmUp: Duration, over time: Duration,
        seed: UInt64 = 1
    ) -> (share: Double, world: TransferWorld) {
        let world = TransferWorld(terms, seed: seed)
        let id = world.offer(1 << 40, at: 0)
        world.run(for: warmUp)
        world.links[0].resetBacklog()
        let start = world.machines[0].progress(of: id)?.completed ?? 0
        world.run(for: time)
        let end = world.machines[0].progress(of: id)?.completed ?? 0
        let share = Double(end - start) / (Double(time.nanoseconds) / 1e9 * terms.rate)
        print("use \(share), backlog \(world.links[0].backlogMost), window \(world.machines[0].windowBytes), rtt \(world.machines[0].roundTrip), drops \(world.links[0].droppedCount), \(world.drops), sent \(world.sentCount)")
        return (share, world)
    }

    @Test func aCleanLinkIsUsed() {
        let (share, world) = use(of: .init(), after: .seconds(1), over: .seconds(3))
        #expect(share >= 0.9)
        #expect(world.links[0].backlogMost < 150_000)
    }

    @Test func aFastLinkIsUsed() {
        let terms = SimulatedLink.Terms(delay: .microseconds(100))
        let (share, world) = use(of: terms, after: .milliseconds(200), over: .seconds(1))
        #expect(share >= 0.9)
        #expect(world.links[0].backlogMost < 32_000)
    }

    @Test(arguments: [5, 20, 60], [false, true]) func jitterDoesNotSlowItDown(
        _ milliseconds: Int, _ keepsOrder: Bool
    ) {
        var terms = SimulatedLink.Terms(rate: 2_500_000)
        terms.jitter = .milliseconds(milliseconds)
        terms.keepsOrder = keepsOrder
        let (share, _) = use(of: terms, after: .seconds(2), over: .seconds(3))
        print(milliseconds, keepsOrder, share)
        #expect(share >= 0.6)
    }

    @Test func twoShareABottleneck() {
        let world = TransferWorld(pairs: 2, .init(), isShared: true)
        let first = world.offer(1 << 40, at: 0)
        world.run(for: .seconds(5))
        let second = world.offer(1 << 40, at: 2)
        for step in 0..<6 {
        let start = (world.machines[0].progress(of: first)!.completed, world.machines[2].progress(of: second)?.completed ?? 0)
        world.run(for: .seconds(5))
        let end = (world.machines[0].progress(of: first)!.completed, world.machines[2].progress(of: second)?.completed ?? 0)
        let l = Double(end.0 - start.0), r = Double(end.1 - start.1)
        print("shares", step, l / (l + r), "use", (l + r) / 5 / 12_500_000, world.links[0].backlogMost, world.links[0].droppedCount)
        world.links[0].resetBacklog()
        }
    }

    @Test func lossIsSurvived() {
        var terms = SimulatedLink.Terms()
        terms.loss = 0.3
        let world = TransferWorld(terms)
        let id = world.offer(300_000, at: 0)
        #expect(world.run(for: .seconds(120)) { world.programs[0].outcomes[id] == .success })
        print("30 % loss: 300 kB in \(world.now)", world.drops)
    }
}

import NearbyCore
import Testing

@testable import NearbyEngine

/// The property of the tie-break, over every ordering of messages, with single losses and restarts.
struct TieBreakSearchTests {
    static let worlds: [(roles: [Role], beacons: Int)] = [
        ([.agent, .agent], 1), ([.agent, .agent], 2), ([.collector, .agent], 1),
        ([.agent, .collector], 1), ([.collector, .agent], 2), ([.agent, .collector], 2),
    ]

    @Test(arguments: worlds.indices) func inTheEndOneChannelIsInUse(_ index: Int) {
        let (roles, beacons) = Self.worlds[index]
        var search = Search()
        search.explore(TieBreakWorld(roles: roles, faults: 1, beacons: beacons))
        print("\(roles), \(beacons) beacons: \(search.visited.count) states")
        #expect(search.failures.isEmpty, "\(search.failures.prefix(3))")
        #expect(search.visited.count > 50)
    }

    private struct Search {
        var visited: Set<TieBreakWorld> = []
        var failures: [String] = []

        mutating func explore(_ start: TieBreakWorld) {
            var stack = [start]
            while let world = stack.popLast() {
                guard failures.count < 3, visited.insert(world).inserted else { continue }
                if world.idleSteps >= 4 {
                    judge(world)
                    continue
                }
                stack += successors(of: world)
            }
        }

        private func successors(of world: TieBreakWorld) -> [TieBreakWorld] {
            var next: [TieBreakWorld] = []
            for event in Set(world.pending) {
                var happened = world
                happened.happen(event)
                next.append(happened)
                var lost = world
                if world.faultsLeft > 0, lost.lose(event) { next.append(lost) }
            }
            if world.faultsLeft > 0 {
                for side in 0...1 {
                    var restarted = world
                    restarted.restart(side)
                    next.append(restarted)
                }
            }
            // Messages may also be slower than a time-out.
            if world.pending.isEmpty || world.idleSteps < 1 {
                var later = world
                later.wait()
                next.append(later)
            }
            return next
        }

        /// From here on all messages arrive, in order, for 400 steps.
        private mutating func judge(_ world: TieBreakWorld) {
            var world = world
            for _ in 0..<400 {
                if let event = world.pending.first { world.happen(event) } else { world.wait() }
            }
            if world.agreedChannel == nil { failures.append("no agreed channel: \(world.summary)") }
        }
    }
}

import NearbyCore
import NearbyEngine
import Testing

@testable import NearbySimulator

/// The shapes of planned sites, and who hears whom in them.
struct SiteWorldTests {
    private func world(_ shape: SiteShape, _ nodes: Int, collectors: Int = 1) -> World {
        var plan = SitePlan()
        plan.shape = shape
        plan.nodes = nodes
        plan.collectors = collectors
        return World(plan)
    }

    private func collectors(_ world: World) -> [Int] {
        world.roles.indices.filter { world.roles[$0] == .collector }
    }

    @Test func aLineHasItsCollectorInTheMiddle() {
        let line = world(.line, 5)
        #expect(line.lans == [[0, 1], [1, 2], [2, 3], [3, 4]])
        #expect(collectors(line) == [2])
        #expect(collectors(world(.line, 8, collectors: 2)) == [2, 6])
    }

    @Test func aRingIsClosed() {
        #expect(world(.ring, 4).lans == [[0, 1], [1, 2], [2, 3], [0, 3]])
    }

    @Test func aGridMayEndInAShorterRow() {
        let grid = world(.grid, 8)
        #expect(grid.lans.count == 7 + 3)
        #expect(grid.lans.contains([5, 6]) == false)
        #expect(grid.lans.contains([4, 7]))
        #expect(collectors(grid) == [4])
    }

    @Test func oneLANHoldsAll() {
        let lan = world(.lan, 200, collectors: 2)
        #expect(lan.lans == [Array(0..<200)])
        #expect(collectors(lan) == [50, 150])
    }

    /// Each LAN below the first is joined to the one above it over two pairs of nodes of their own.
    @Test func sitesAreJoinedTwice() {
        let sites = world(.sites, 200)
        let lans = sites.lans.prefix(4)
        #expect(lans.flatMap { $0 } == Array(0..<200))
        let bridges = sites.lans.dropFirst(4)
        #expect(bridges.count == 6)
        #expect(Set(bridges.flatMap { $0 }).count == 12)
        #expect(sites.kinds.prefix(4).allSatisfy { $0 == .ethernet })
        #expect(sites.kinds.dropFirst(4).allSatisfy { $0 == .wifi })
    }

    @Test(arguments: SiteShape.allCases) func everybodyCanReachACollector(_ shape: SiteShape) {
        let world = world(shape, 300, collectors: 3)
        let simulator = Simulator(seed: 1, world: world)
        simulator.boot(within: .milliseconds(1))
        simulator.run(for: .milliseconds(1))
        let distances = TrueGraph(simulator).distances(from: collectors(world))
        #expect(collectors(world).count == 3)
        #expect(distances.allSatisfy { $0 != nil })
    }

    @Test func onePlanMakesOneWorld() {
        let (one, other) = (world(.random, 60), world(.random, 60))
        #expect(one.field?.positions == other.field?.positions)
        #expect(one.field?.hearers == other.field?.hearers)
        #expect(one.roles == other.roles)
    }

    @Test func whatCannotBeIsSaid() {
        var plan = SitePlan()
        #expect(plan.fault == nil)
        plan.movingPercent = 10
        plan.shape = .lan
        #expect(plan.fault == .onlyOverTheAir("moving"))
        plan.movingPercent = 0
        plan.collectors = 0
        #expect(plan.fault == .collectors(max: 16))
        plan.collectors = 1
        plan.nodes = 10_001
        #expect(plan.fault == .nodes(.lan, 2...10_000))
        plan.nodes = 10
        plan.shape = .sites
        #expect(plan.fault == .nodes(.sites, 16...10_000))
        plan.nodes = 16
        plan.lossPercent = 51
        #expect(plan.fault == .loss)
        plan.lossPercent = 50
        plan.sleepingPercent = 101
        #expect(plan.fault == .percent("sleeping"))
    }
}

struct RadioFieldTests {
    private func row(_ places: [Double], weak: Set<Int> = []) -> RadioField {
        RadioField(places.map { .init(x: $0, y: 0) }, weak: weak, seed: 1)
    }

    @Test func moreIsLostFartherAway() throws {
        let field = row([0, 0.3, 0.8, 3])
        let near = try #require(field.hearing(of: 0, at: 1))
        let far = try #require(field.hearing(of: 0, at: 2))
        #expect(near.frameLoss < 0.02)
        #expect(far.frameLoss > near.frameLoss)
        #expect(far.datagramLoss < far.frameLoss)
        #expect(field.hearing(of: 0, at: 3) == nil)
    }

    @Test func aWeakNodeHearsMoreThanHearIt() {
        let field = row([0, 0.85], weak: [0])
        #expect(field.hearing(of: 0, at: 1) == nil)
        #expect(field.hearing(of: 1, at: 0) != nil)
    }

    @Test func whoMovedIsHeardElsewhere() {
        var field = row([0, 0.5, 5, 5.5])
        #expect(field.hearers[0].map(\.host) == [1])
        field.move([(host: 0, to: .init(x: 5.2, y: 0))])
        #expect(field.hearers[0].map(\.host) == [2, 3])
        #expect(field.hearers[1].isEmpty)
    }
}

struct TrueGraphTests {
    private func graph(_ world: World) -> TrueGraph {
        let simulator = Simulator(seed: 1, world: world)
        simulator.boot(within: .milliseconds(1))
        simulator.run(for: .milliseconds(1))
        return TrueGraph(simulator)
    }

    @Test func theCheapestPathIsFound() {
        // Host 2 is one radio link away, or two wires.
        var world = World(lans: [[0, 1], [1, 2], [0, 2]], roles: [.collector, .agent, .agent])
        world.kinds[2] = .wifi
        let graph = graph(world)
        #expect(graph.distances(from: [0])[2]?.cost == 192)
        #expect(graph.distances(from: [0])[2]?.hops == 2)
        #expect(graph.distances(from: [0], without: 1)[2]?.cost == 256)
        #expect(graph.cost(0, 2) == 256)
    }

    @Test func anyTwoOnALANAreOneLinkApart() {
        let graph = graph(.flat(50))
        #expect(graph.distances(from: [7])[31]?.cost == 96)
        #expect(graph.distances(from: [7])[31]?.hops == 1)
        #expect(graph.cost(7, 31) == 96)
    }
}

struct EventHeapTests {
    @Test func eventsComeByTimeAndThenInTheOrderOfInsertion() {
        var heap = EventHeap<Int>()
        var random = SeededGenerator(seed: 3)
        var expected: [(time: Int64, number: Int)] = []
        var taken: [Int] = []
        for number in 0..<2_000 {
            let time = Int64.random(in: 0..<50, using: &random)
            heap.insert(number, at: Instant(nanoseconds: time))
            expected.append((time, number))
        }
        while let next = heap.removeFirst() { taken.append(next.event) }
        #expect(taken == expected.sorted { $0 < $1 }.map(\.number))
        #expect(heap.nextTime == nil)
    }
}

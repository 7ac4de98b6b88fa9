import NearbyCore
import Testing

@testable import NearbyTransfers

@Suite struct FaultTests {
    private let stream = StreamID(isOwn: false, number: 0)
    private let resource = ResourceID(isOwn: false, number: 0)
    private let key = [UInt8](repeating: 1, count: 16)

    @Test func bothGoOnAfterABreak() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        world.pour(5_000_000, into: id, at: 0)
        let file = world.offer(5_000_000, at: 0)
        for _ in 0..<5 {
            world.run(for: .milliseconds(120))
            world.part(0)
            world.run(for: .seconds(30))
            #expect(world.machines.allSatisfy { $0.nextDeadline == nil })
            world.join(0)
        }
        world.run(for: .seconds(20))
        #expect(world.programs[1].taken[stream] == 5_000_000)
        #expect(world.programs[0].ends[id] == .some(nil))
        #expect(world.programs[0].outcomes[file] == .success)
        #expect(world.programs[0].accepted[file] == 0)
    }

    @Test func bothGoOnOverAnotherPath() {
        let world = TransferWorld()
        let file = world.offer(5_000_000, at: 0)
        world.run(for: .milliseconds(300))
        for index in [0, 1] {
            world.links[index].terms.delay = .milliseconds(80)
            world.links[index].terms.rate = 1_000_000
            world.give(.pathChanged, at: index)
        }
        world.run(for: .seconds(30))
        #expect(world.programs[0].outcomes[file] == .success)
    }

    @Test func aRestartOfTheReceiverResumesResourcesAndEndsStreams() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        let back = world.open(at: 1)
        world.write(100, to: back, at: 1)
        world.pour(50_000_000, into: id, at: 0)
        let file = world.offer(4_000_000, at: 0)
        world.run(for: .seconds(2))
        world.restart(1)
        #expect(world.programs[0].ends[id] == .some(.restarted))
        #expect(world.programs[0].ends[stream] == .some(.restarted))
        #expect(world.machines[0].room(of: id) == nil)
        world.run(for: .seconds(20))
        #expect(world.programs[0].interruptions == 1)
        #expect(world.programs[0].accepted[file] ?? 0 > 0)
        #expect(world.programs[0].outcomes[file] == .success)
        #expect(world.programs[1].disk[key] == 4_000_000)
        // Numbers are not used again.
        let next = world.open("after", at: 0)
        #expect(next != id)
        world.pour(1_000, into: next, at: 0)
        let again = world.open("back", at: 1)
        world.pour(1_000, into: again, at: 1)
        world.run(for: .seconds(1))
        #expect(world.programs[0].ends[next] == .some(nil))
        #expect(world.programs[0].taken[StreamID(isOwn: false, number: 1)] == 1_000)
    }

    @Test func aRestartOfTheSenderIsResumedByTheSameKey() {
        let world = TransferWorld()
        _ = world.offer(4_000_000, at: 0)
        world.run(for: .milliseconds(300))
        world.restart(0)
        #expect(world.programs[1].outcomes[resource] == .failure(.restarted))
        let start = world.programs[1].disk[key] ?? 0
        #expect(start > 0 && start < 4_000_000)
        world.run(for: .seconds(1))
        let file = world.offer(4_000_000, at: 0)
        world.run(for: .seconds(10))
        #expect(world.programs[0].accepted[file] == Int64(start))
        #expect(world.programs[0].outcomes[file] == .success)
    }

    @Test func whoIsGivenUpEndsEverything() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        world.pour(5_000_000, into: id, at: 0)
        let file = world.offer(5_000_000, at: 0)
        world.run(for: .milliseconds(400))
        world.part(0)
        for index in [0, 1] { world.give(.abandoned, at: index) }
        #expect(world.programs[0].ends[id] == .some(.abandoned))
        #expect(world.programs[1].ends[stream] == .some(.abandoned))
        #expect(world.programs[0].outcomes[file] == .failure(.abandoned))
        #expect(world.programs[1].outcomes[resource] == .failure(.abandoned))
    }

    /// One side has nothing to do with the other any more, and then again; the other notices at
    /// once, later or not at all. What was on its way meanwhile, and every end, comes into what
    /// begins anew.
    @Test(arguments: [nil, 0, 5, 40] as [Int64?], [0, 0.1])
    func whatBeginsAfterTheEndOfEverythingArrives(delay: Int64?, loss: Double) {
        var terms = SimulatedLink.Terms()
        terms.loss = loss
        let world = TransferWorld(terms)
        let ended = [0, 1].map { world.open(at: $0) }
        for index in [0, 1] {
            world.pour(50_000_000, into: ended[index], at: index)
            _ = world.offer(50_000_000, at: index)
        }
        world.run(for: .milliseconds(300))
        world.give(.endAll, at: 0)
        #expect(world.programs[0].ends[ended[0]] == .some(.abandoned))
        #expect(world.programs[0].ends[stream] == .some(.abandoned))
        #expect(world.programs[0].outcomes[resource] == .failure(.abandoned))
        if let delay {
            world.run(for: .milliseconds(delay))
            world.give(.endAll, at: 1)
        }
        let after = [0, 1].map { world.open("after", at: $0) }
        let files = [0, 1].map { world.offer(400_000, key: 9, at: $0) }
        for index in [0, 1] { world.pour(400_000, into: after[index], at: index) }
        #expect(world.run(for: .seconds(60)) { world.isQuiet })
        for index in [0, 1] {
            let theirs = StreamID(isOwn: false, number: after[index].number)
            #expect(world.programs[index].ends[after[index]] == .some(nil))
            #expect(world.programs[index ^ 1].taken[theirs] == 400_000)
            #expect(world.programs[index].outcomes[files[index]] == .success)
        }
        #expect(world.drops[.acknowledgementUnsent] == nil)
    }

    @Test func theEndOfEverythingWaitsForAChannel() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        world.pour(5_000_000, into: id, at: 0)
        world.run(for: .milliseconds(300))
        world.part(0)
        world.give(.endAll, at: 0)
        #expect(world.machines[0].nextDeadline == nil)
        #expect(world.programs[1].ends[stream] == nil)
        world.join(0)
        #expect(world.run(for: .seconds(10)) { world.isQuiet })
        #expect(world.programs[1].ends[stream] == .some(.abandoned))
    }

    /// Random worlds: everything that is written arrives in order and once, or both sides are told
    /// why not. The programs check each byte.
    @Test(arguments: 0..<60) func everythingArrivesOrAnErrorIsTold(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed &* 7_919 &+ 1)
        var terms = SimulatedLink.Terms()
        terms.rate = [125_000, 1_250_000, 12_500_000][Int(seed % 3)]
        terms.delay = random.duration(in: .zero..<Duration.milliseconds(60))
        if seed % 2 == 1 {
            terms.jitter = random.duration(in: .zero..<Duration.milliseconds(40))
        }
        terms.keepsOrder = seed % 4 == 1
        terms.loss = [0, 0, 0.01, 0.1, 0.3][Int(seed % 5)]
        terms.duplication = seed % 7 == 0 ? 0.1 : 0
        terms.queueLimit = 20_000 << Int(seed % 4)
        let world = TransferWorld(terms, seed: seed)
        world.programDelay = random.duration(in: .zero..<Duration.milliseconds(20))
        let size = Int(terms.rate / 10)
        var ids: [[StreamID]] = [[], []]
        var files: [[ResourceID]] = [[], []]
        var isParted = false
        for step in 0..<30 {
            let index = Int.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0...3:
                let id = world.open("\(step)", at: index)
                ids[index].append(id)
                world.pour(Int.random(in: 0..<size, using: &random), into: id, at: index)
            case 4...5:
                let count = Int.random(in: 0..<4 * size, using: &random)
                files[index].append(world.offer(count, key: UInt8(step), at: index))
            case 6:
                if let id = ids[index].randomElement(using: &random) {
                    world.programs[index].pouring[id] = nil
                    world.give(.reset(id, .cancelled), at: index)
                }
            case 7:
                if let id = files[index].randomElement(using: &random) {
                    world.give(.cancel(id, .cancelled), at: index)
                }
            case 8:
                if isParted { world.join(0) } else { world.part(0) }
                isParted.toggle()
            default: world.give(.pathChanged, at: index)
            }
            world.run(for: random.duration(in: .zero..<Duration.milliseconds(400)))
        }
        if isParted { world.join(0) }
        for index in [0, 1] {
            world.links[index].terms.loss = min(terms.loss, 0.05)
        }
        #expect(world.run(for: .seconds(600)) { world.isQuiet }, "seed \(seed)")
        world.checkEnds()
    }
}

extension TransferWorld {
    /// Nothing is on its way any more.
    var isQuiet: Bool {
        machines.allSatisfy { machine in
            machine.nextDeadline == nil
                && machine.tableSizes.allSatisfy { $0.name == "sent packets" || $0.count == 0 }
        }
    }

    /// What one side knows as whole, the other one knows as whole.
    func checkEnds() {
        for index in machines.indices {
            let peer = programs[index ^ 1]
            for (id, end) in programs[index].ends where id.isOwn {
                let theirs = StreamID(isOwn: false, number: id.number)
                #expect(peer.ends[theirs] == .some(end), "\(id) ends as \(String(describing: end))")
                guard end == nil else { continue }
                #expect(peer.taken[theirs] ?? 0 == programs[index].written[id] ?? 0)
            }
            for (id, outcome) in programs[index].outcomes where id.isOwn && outcome == .success {
                guard let key = programs[index].offers[id]?.key else { continue }
                #expect(peer.disk[key] ?? 0 == Int(programs[index].offers[id]?.byteCount ?? -1))
            }
            for (id, name) in programs[index].names {
                #expect(programs[index].ends[id] != nil, "\(id) (\(name)) has no end")
            }
        }
    }
}

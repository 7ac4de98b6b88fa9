import NearbyCore
import Testing

@testable import NearbyTransfers

@Suite struct StreamTests {
    private let theirs = StreamID(isOwn: false, number: 0)

    @Test func aStreamArrivesWithItsNameAndItsEnd() {
        let world = TransferWorld()
        let id = world.open("log", at: 0)
        world.pour(100_000, into: id, at: 0)
        world.run(for: .seconds(5))
        #expect(world.programs[1].names[theirs] == "log")
        #expect(world.programs[1].taken[theirs] == 100_000)
        #expect(world.programs[1].ends[theirs] == .some(nil))
        #expect(world.programs[0].ends[id] == .some(nil))
        #expect(world.drops.isEmpty)
        #expect(world.sentCount[.bulk] == nil)
        #expect(world.machines.allSatisfy { $0.nextDeadline == nil })
    }

    @Test func anEmptyStreamEndsToo() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        world.give(.finish(id), at: 0)
        world.run(for: .seconds(1))
        #expect(world.programs[1].names[theirs] == "stream")
        #expect(world.programs[1].ends[theirs] == .some(nil))
        #expect(world.programs[0].ends[id] == .some(nil))
    }

    @Test func bothSidesOpenStreamsAtOnce() {
        let world = TransferWorld()
        let ids = [0, 1].map { world.open("from \($0)", at: $0) }
        for index in [0, 1] { world.pour(300_000, into: ids[index], at: index) }
        world.run(for: .seconds(5))
        for index in [0, 1] {
            #expect(world.programs[index].taken[theirs] == 300_000)
            #expect(world.programs[index].names[theirs] == "from \(1 - index)")
        }
    }

    @Test func halfAStreamStaysOpen() {
        let world = TransferWorld()
        let ask = world.open("question", at: 0)
        world.write(10, to: ask, at: 0)
        world.give(.finish(ask), at: 0)
        world.run(for: .seconds(1))
        // The other direction is a stream of its own, and goes on.
        let answer = world.open("answer", at: 1)
        world.pour(2_000_000, into: answer, at: 1)
        world.run(for: .seconds(5))
        #expect(world.programs[0].taken[theirs] == 2_000_000)
        #expect(world.programs[0].ends[theirs] == .some(nil))
    }

    @Test func writingStopsWhereTheBufferIsFull() {
        let world = TransferWorld()
        world.programs[1].stalled = { _ in true }
        let id = world.open(at: 0)
        world.pour(3_000_000, into: id, at: 0)
        #expect(world.machines[0].room(of: id) == 0)
        world.run(for: .seconds(10))
        // What the reader let in, and what waits here.
        #expect(world.programs[1].taken[theirs] == Limits.streamWindowBytes)
        let written = Limits.streamWindowBytes + Limits.streamSendBytesMax
        #expect(world.programs[0].written[id] ?? 0 <= written)
        #expect(world.machines[0].nextDeadline == nil)
        world.programs[1].stalled = { _ in false }
        world.give(.consumed(theirs, Limits.streamWindowBytes), at: 1)
        world.run(for: .seconds(10))
        #expect(world.programs[1].taken[theirs] == 3_000_000)
        #expect(world.programs[0].ends[id] == .some(nil))
    }

    @Test func aWriteThatDoesNotFitSaysHowMuchDid() {
        var machine = TransferMachine()
        let id = machine.nextStream
        _ = machine.handle(.openStream(name: "s", group: 1), now: .zero)
        let most = Limits.streamSendBytesMax
        let outputs = machine.handle(
            .write(id, [UInt8](repeating: 1, count: most + 5)), now: .zero)
        #expect(outputs.contains(.wrote(id, most)))
        #expect(machine.room(of: id) == 0)
        #expect(machine.room(of: StreamID(isOwn: true, number: 9)) == nil)
    }

    @Test func aResetOfTheWriterReachesTheReader() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        world.write(200_000, to: id, at: 0)
        world.run(for: .milliseconds(25))
        world.give(.reset(id, .cancelled), at: 0)
        world.run(for: .seconds(1))
        #expect(world.programs[1].ends[theirs] == .some(.cancelled))
        #expect(world.programs[0].ends[id] == nil)
        #expect(world.machines[0].room(of: id) == nil)
    }

    @Test func aReaderThatStopsEndsTheWriter() {
        let world = TransferWorld()
        let id = world.open(at: 0)
        world.pour(10_000_000, into: id, at: 0)
        world.run(for: .milliseconds(60))
        world.give(.stop(theirs, .unknownGroup), at: 1)
        world.run(for: .seconds(1))
        #expect(world.programs[0].ends[id] == .some(.unknownGroup))
        #expect(world.programs[1].ends[theirs] == nil)
        for index in [0, 1] {
            let sizes = world.machines[index].tableSizes
            #expect(sizes.allSatisfy { $0.name == "sent packets" || $0.count == 0 }, "\(sizes)")
        }
    }

    @Test func twoHundredStreamsAreNotBlockedByOneThatStalls() {
        let world = TransferWorld()
        let stalledID = StreamID(isOwn: false, number: 100)
        world.programs[1].stalled = { $0 == stalledID }
        let ids = (0..<200).map { world.open("\($0)", at: 0) }
        for id in ids { world.pour(400_000, into: id, at: 0) }
        world.run(for: .seconds(60))
        for number in 0..<200 where number != 100 {
            let id = StreamID(isOwn: false, number: UInt64(number))
            #expect(world.programs[1].taken[id] == 400_000)
            #expect(world.programs[1].ends[id] == .some(nil))
        }
        #expect(world.programs[1].taken[stalledID] == Limits.streamWindowBytes)
    }

    @Test func allStreamsGetTheirTurn() {
        let world = TransferWorld()
        let ids = (0..<4).map { world.open("\($0)", at: 0) }
        for id in ids { world.pour(3_000_000, into: id, at: 0) }
        world.run(for: .milliseconds(500))
        let counts = (0..<4).map {
            world.programs[1].taken[StreamID(isOwn: false, number: $0)] ?? 0
        }
        #expect((counts.min() ?? 0) * 2 > counts.max() ?? 1, "\(counts)")
    }

    @Test func thousandStreamsComeOneAfterTheOther() {
        let world = TransferWorld()
        for number in 0..<1_000 {
            let id = world.open("\(number)", at: 0)
            world.pour(100, into: id, at: 0)
            world.run(for: .milliseconds(number % 3))
        }
        world.run(for: .seconds(5))
        #expect(world.programs[1].names.count == 1_000)
        #expect(world.programs[0].ends.count == 1_000)
        #expect(world.drops.isEmpty)
    }

    @Test func moreStreamsThanThereIsPlaceAreRefused() {
        var machine = TransferMachine()
        for _ in 0..<Limits.streamsMax {
            #expect(!machine.handle(.openStream(name: "", group: 0), now: .zero).hasReset)
        }
        let id = machine.nextStream
        let outputs = machine.handle(.openStream(name: "", group: 0), now: .zero)
        #expect(outputs.contains(.wasReset(id, .full)))
        #expect(machine.nextStream != id)
    }

    @Test func streamsGoBeforeResources() {
        let world = TransferWorld()
        _ = world.offer(1 << 30, at: 0)
        world.run(for: .seconds(2))
        let id = world.open(at: 0)
        let start = world.now
        world.pour(2_000_000, into: id, at: 0)
        #expect(world.run(for: .seconds(10)) { world.programs[1].ends[theirs] != nil })
        // Alone it would take 160 ms; a sixteenth goes to the resource.
        #expect(world.now - start < .milliseconds(400), "\(world.now - start)")
    }

    @Test func whatIsDoneToStreamsThatAreNotThereIsNothing() {
        var machine = TransferMachine()
        for id in [StreamID(isOwn: true, number: 3), StreamID(isOwn: false, number: 3)] {
            for input: TransferInput in [
                .write(id, [1]), .finish(id), .reset(id, .cancelled), .stop(id, .cancelled),
                .consumed(id, 5), .consumed(id, -1),
            ] {
                #expect(machine.handle(input, now: .zero).isEmpty)
            }
        }
    }
}

extension [TransferOutput] {
    fileprivate var hasReset: Bool {
        contains { if case .wasReset = $0 { true } else { false } }
    }
}

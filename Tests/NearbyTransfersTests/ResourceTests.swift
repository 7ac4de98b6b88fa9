import NearbyCore
import Testing

@testable import NearbyTransfers

@Suite struct ResourceTests {
    private let theirs = ResourceID(isOwn: false, number: 0)
    private let key = [UInt8](repeating: 1, count: 16)

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 3_000_000]) func aResourceArrivesWhole(
        _ byteCount: Int
    ) {
        let world = TransferWorld()
        let id = world.offer(byteCount, name: "../etc", at: 0)
        world.run(for: .seconds(5))
        #expect(world.programs[0].outcomes[id] == .success)
        #expect(world.programs[1].outcomes[theirs] == .success)
        #expect(world.programs[1].disk[key] ?? 0 == byteCount)
        #expect(world.programs[1].offers[theirs]?.name == "../etc")
        #expect(world.drops.isEmpty)
        #expect(world.machines.allSatisfy { $0.nextDeadline == nil && $0.progress(of: id) == nil })
    }

    /// However many there are at once: what the peer may send of all together must not lie with us
    /// in pieces that are too small to be written.
    @Test(arguments: [41, 50, 56, 60, 63, 64], [200_000, 1_000_000])
    func manyAtOnceArriveWhole(_ count: Int, _ byteCount: Int) {
        let world = TransferWorld()
        let ids = (0..<count).map { world.offer(byteCount, key: UInt8($0), at: 0) }
        world.run(for: .seconds(60))
        #expect(ids.allSatisfy { world.programs[0].outcomes[$0] == .success })
    }

    /// The receiver had it when its sender took the end of it for lost.
    @Test(arguments: 0..<20) func manyAtOnceArriveOverABadLink(_ seed: UInt64) {
        let terms = SimulatedLink.Terms(jitter: .milliseconds(30), loss: 0.05)
        let world = TransferWorld(terms, seed: seed)
        let ids = (0..<60).map { world.offer(100_000, key: UInt8($0), at: 0) }
        world.run(for: .seconds(120))
        #expect(ids.allSatisfy { world.programs[0].outcomes[$0] == .success })
    }

    @Test func itIsResumedFromWhatIsThere() {
        let world = TransferWorld()
        world.programs[1].disk[key] = 1_999_000
        let id = world.offer(2_000_000, at: 0)
        world.run(for: .seconds(5))
        #expect(world.programs[0].accepted[id] == 1_999_000)
        #expect(world.programs[0].outcomes[id] == .success)
        #expect(world.programs[0].readCount == 1)
    }

    @Test func whatIsThereAsAWholeIsOnlyVerified() {
        let world = TransferWorld()
        world.programs[1].disk[key] = 2_000_000
        let id = world.offer(2_000_000, at: 0)
        world.run(for: .seconds(5))
        #expect(world.programs[0].outcomes[id] == .success)
        #expect(world.programs[1].outcomes[theirs] == .success)
    }

    @Test func aRefusalSaysWhy() {
        let world = TransferWorld()
        world.programs[1].refusal = { _ in .unknownGroup }
        let id = world.offer(2_000_000, at: 0)
        world.run(for: .seconds(5))
        #expect(world.programs[0].outcomes[id] == .failure(.unknownGroup))
        #expect(world.programs[0].readCount == 0)
        let sizes = world.machines[1].tableSizes
        #expect(sizes.allSatisfy { $0.name == "sent packets" || $0.count == 0 }, "\(sizes)")
    }

    @Test func anotherHashFailsOnBothSides() {
        let world = TransferWorld()
        world.programs[0].hash = { _ in [UInt8](repeating: 0, count: 32) }
        let id = world.offer(200_000, at: 0)
        world.run(for: .seconds(5))
        #expect(world.programs[0].outcomes[id] == .failure(.digestMismatch))
        #expect(world.programs[1].outcomes[theirs] == .failure(.digestMismatch))
    }

    @Test(arguments: 0..<20) func eitherSideCancelsAtAnyMoment(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let world = TransferWorld(seed: seed)
        let id = world.offer(4_000_000, at: 0)
        world.run(for: random.duration(in: .zero..<Duration.milliseconds(500)))
        let isSender = seed % 2 == 0
        if isSender {
            world.give(.cancel(id, .cancelled), at: 0)
        } else {
            world.give(.cancel(theirs, .writeFailed), at: 1)
        }
        let wasThere = world.programs[1].offers[theirs] != nil
        let wasDone = world.programs[1].outcomes[theirs] != nil
        world.run(for: .seconds(20))
        if isSender, wasThere, !wasDone {
            #expect(world.programs[1].outcomes[theirs] == .failure(.cancelled))
            #expect(world.programs[0].outcomes[id] == nil)
        }
        if !isSender, wasThere, !wasDone {
            #expect(world.programs[0].outcomes[id] == .failure(.writeFailed))
            #expect(world.programs[1].outcomes[theirs] == nil)
        }
        let held = world.machines.flatMap(\.tableSizes)
            .filter { !$0.name.hasPrefix("sent") && $0.count > 0 }
        #expect(held.isEmpty, "\(held)")
    }

    @Test func aFileThatVanishesFailsOnBothSides() {
        let world = TransferWorld()
        world.programs[0].offers = [:]
        let id = world.offer(4_000_000, at: 0)
        world.programs[0].offers = [:]
        world.run(for: .milliseconds(60))
        world.give(.readFailed(id), at: 0)
        world.run(for: .seconds(5))
        #expect(world.programs[0].outcomes[id] == .failure(.readFailed))
        #expect(world.programs[1].outcomes[theirs] == .failure(.readFailed))
    }

    @Test func aFileThatBecameShorterFails() {
        var machine = accepted(byteCount: 100_000)
        let id = ResourceID(isOwn: true, number: 0)
        let outputs = machine.handle(.data(id, [1, 2, 3], sha256: nil), now: .zero)
        #expect(outputs.contains(.finished(id, .failure(.readFailed))))
    }

    @Test func aHashThatIsNoneFails() {
        var machine = accepted(byteCount: 3)
        let id = ResourceID(isOwn: true, number: 0)
        let outputs = machine.handle(.data(id, [1, 2, 3], sha256: [1]), now: .zero)
        #expect(outputs.contains(.finished(id, .failure(.readFailed))))
    }

    @Test func aDiskThatIsFullFailsOnBothSides() {
        let world = TransferWorld()
        world.programDelay = .milliseconds(100)
        let id = world.offer(4_000_000, at: 0)
        world.run(for: .milliseconds(400))
        world.give(.writeFailed(theirs), at: 1)
        world.run(for: .seconds(5))
        #expect(world.programs[0].outcomes[id] == .failure(.writeFailed))
        #expect(world.programs[1].outcomes[theirs] == .failure(.writeFailed))
    }

    @Test func memoryStaysBoundedWithASlowDisk() {
        let world = TransferWorld()
        world.programDelay = .milliseconds(200)
        let id = world.offer(20_000_000, at: 0)
        for _ in 0..<40 {
            world.run(for: .milliseconds(100))
            for machine in world.machines {
                for (name, count, _) in machine.tableSizes where name.hasPrefix("bytes") {
                    #expect(count <= Limits.resourceWindowBytes, "\(name)")
                }
            }
        }
        let progress = world.machines[0].progress(of: id)
        #expect(progress?.total == 20_000_000 && progress?.completed ?? 0 > 1_000_000)
    }

    @Test func severalShareTheWay() {
        let world = TransferWorld()
        let ids = (0..<70).map { world.offer(100_000, key: UInt8($0), at: 0) }
        world.run(for: .seconds(20))
        let outcomes = ids.map { world.programs[0].outcomes[$0] }
        #expect(outcomes.filter { $0 == .success }.count == Limits.resourcesMax)
        #expect(outcomes.filter { $0 == .failure(.full) }.count == 70 - Limits.resourcesMax)
        let id = world.offer(5, key: 200, at: 0)
        world.run(for: .seconds(1))
        #expect(world.programs[0].outcomes[id] == .success)
    }

    @Test func anOfferThatIsNoneIsRefusedAtHome() {
        var machine = TransferMachine()
        let long = String(repeating: "n", count: 256)
        for offer in [
            ResourceOffer(name: "", group: 0, byteCount: -1, key: key),
            ResourceOffer(name: "", group: 0, byteCount: 1, key: []),
            ResourceOffer(name: long, group: 0, byteCount: 1, key: key),
        ] {
            let id = machine.nextResource
            let outputs = machine.handle(.offer(offer), now: .zero)
            #expect(outputs == [.finished(id, .failure(.violation))])
        }
    }

    /// A machine whose offer was accepted from the beginning.
    private func accepted(byteCount: Int64) -> TransferMachine {
        var machine = TransferMachine()
        let offer = ResourceOffer(name: "f", group: 1, byteCount: byteCount, key: key)
        _ = machine.handle(.offer(offer), now: .zero)
        let frame = TransferFrame.accept(number: 0, offset: 0, limit: 500_000)
        let packet = TransferPacket(lane: .reliable, number: 0, frames: [frame])
        _ = machine.handle(.received(packet.bytes), now: .zero)
        return machine
    }
}

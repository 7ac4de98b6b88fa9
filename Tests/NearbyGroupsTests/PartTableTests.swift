import NearbyCore
import Testing

@testable import NearbyGroups

@Suite struct PartTableTests {
    /// One member has brought the other hostile ones, and together they leave too little room. They
    /// go on with a byte now and then, so that their messages look as if they were on their way.
    @Test func whoFillsTheRoomIsPartedWithAndNotWhoNeedsIt() throws {
        let (honest, hostile) = (1, Array(2...10))
        let world = GroupWorld(11)
        for guest in [honest] + hostile { world.invite(guest, by: 0) }
        world.run(for: .seconds(30))
        try #require(world.areAGroup(Array(0...10)))
        var numbers: [Int: UInt16] = [:]
        for index in [honest] + hostile {
            numbers[index] = world.machines[index].status.theirNumber(
                of: GroupWorld.peer(0), in: GroupWorld.session)
        }
        func send(_ bytes: ArraySlice<UInt8>, isLast: Bool = false, by index: Int) {
            guard let number = numbers[index], world.state(of: index, at: 0) == .connected else {
                return
            }
            let message: GroupMessage =
                isLast ? .data(number: number, bytes) : .part(number: number, bytes)
            let peer = GroupWorld.peer(index)
            world.give(.received(message.bytes, from: peer, isReliable: true), at: 0)
        }
        let part = [UInt8](repeating: 1, count: Limits.groupPartBytesMax)
        for index in hostile {
            for _ in 0..<13 { send(part[...], by: index) }
            send(part[..<400_000], by: index)
        }
        for _ in 0..<13 {
            world.run(for: .milliseconds(20))
            for index in hostile { send([1], by: index) }
            world.run(for: .milliseconds(20))
            send(part[...], by: honest)
        }
        send([2], isLast: true, by: honest)
        let received = world.events[0].compactMap { event in
            if case .message(let bytes, _, _, true) = event { bytes } else { nil }
        }
        #expect(received.map(\.count) == [13 * part.count + 1])
        // No more of them than had to make room.
        #expect(hostile.count { world.state(of: $0, at: 0) != .connected } == 1)
        #expect(world.state(of: honest, at: 0) == .connected)
        #expect(world.drops[.groupTableFull] == 1)
    }

    @Test func theOneThatHasNotGrownForLongestIsTheStalest() {
        var table = PartTable()
        let part = [UInt8](repeating: 1, count: Limits.groupPartBytesMax)
        for number in UInt16(1)...3 {
            table.add(part[...], to: number, .zero + .seconds(Int64(number)))
        }
        #expect(table.stalest == 1)
        table.add([1], to: 1, .zero + .seconds(9))
        #expect(table.stalest == 1)
        table.add(part[...], to: 1, .zero + .seconds(9))
        #expect(table.stalest == 2)
        #expect(table.take(2, endingWith: [5]) == part + [5])
        #expect(table.stalest == 3)
        for number in [UInt16(1), 3] { table.forget(number) }
        #expect(table.stalest == nil)
        #expect(table.hasRoom(for: part[...]))
    }
}

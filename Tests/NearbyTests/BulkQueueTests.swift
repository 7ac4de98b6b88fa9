import NearbyCore
import NearbyEngine
import Testing

@testable import Nearby

@Suite struct BulkQueueTests {
    private func datagram(_ number: Int) -> Node.Input {
        .datagram(
            [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)],
            from: Endpoint(link: LinkID(value: 1), address: .ipv4(address: 1, port: 1)),
            isMulticast: false)
    }

    private func number(_ input: Node.Input) -> Int? {
        guard case .datagram(let bytes, _, _) = input else { return nil }
        return Int(bytes[0]) | Int(bytes[1]) << 8
    }

    @Test func allLeaveInOrderAFewAtATimeBesideMessages() {
        var queue = BulkQueue()
        for number in 0..<200 where !queue.add(datagram(number)) { Issue.record("\(number)") }
        var taken: [Int?] = []
        var sizes: [Int] = []
        while !queue.isEmpty {
            // Messages begin to pass when some have left.
            queue.isShared = sizes.count >= 2
            let quantum = queue.takeQuantum()
            sizes.append(quantum.count)
            taken += quantum.map(number)
        }
        #expect(taken == Array(0..<200))
        #expect(sizes.prefix(2).allSatisfy { $0 == Limits.bulkQuantumMax })
        #expect(sizes.dropFirst(2).allSatisfy { $0 <= Limits.bulkQuantum })
        let rest = queue.takeQuantum()
        #expect(rest.isEmpty)
    }

    @Test func whatHasNoRoomIsRefusedUntilSomeLeave() {
        var queue = BulkQueue()
        for number in 0..<Limits.bulkQueueMax where !queue.add(datagram(number)) {
            Issue.record("\(number)")
        }
        let isRefused = !queue.add(datagram(0))
        let count = queue.takeQuantum().count
        let isTaken = queue.add(datagram(7))
        #expect(isRefused && count == Limits.bulkQuantumMax && isTaken)
        queue.removeAll()
        #expect(queue.isEmpty)
    }
}

import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

struct ArrivalQueueTests {
    private var queue = ArrivalQueue()

    /// As the head of a frame of this priority on this channel has it.
    private func rank(_ priority: Priority, of sender: UInt32 = 1) -> ArrivalRank {
        var head = ByteWriter(reserving: SealedHeader.byteCount)
        SealedHeader(priority: priority, isPlaintext: false, index: sender, counter: 7)
            .emit(into: &head)
        return ArrivalRank(firstByte: head.bytes[0], index: sender) { _ in true }
    }

    @discardableResult
    private mutating func push(
        _ number: Int, _ rank: ArrivalRank, byteCount: Int = 150
    ) -> Bool {
        guard queue.makesRoom(for: rank, byteCount: byteCount) else {
            return false
        }
        let source = Endpoint(
            link: LinkID(value: 1), address: .simulated(UInt64(bitPattern: Int64(number))))
        queue.append(
            .datagram([], from: source, isMulticast: false), byteCount: byteCount, rank)
        return true
    }

    private mutating func pop() -> Int? {
        guard case .datagram(_, let source, _) = queue.popFirst(),
            case .simulated(let number) = source.address
        else { return nil }
        return Int(Int64(bitPattern: number))
    }

    private var dropCount: Int {
        DropReason.allCases.reduce(0) { $0 + Int(queue.drops[$1]) }
    }

    private mutating func popAll() -> [Int] {
        var all: [Int] = []
        while let next = pop() { all.append(next) }
        return all
    }

    @Test func theHeadTellsTheRank() {
        #expect(Priority.allCases.map { rank($0).lane } == [.control, .fresh, .reliable, .bulk])
        #expect(rank(.fresh, of: 5).sender == 5)
        for firstByte in UInt8.min...UInt8.max {
            let ofStranger = ArrivalRank(firstByte: firstByte, index: 5) { _ in false }
            #expect(ofStranger == .stranger)
            guard DatagramKind(firstByte: firstByte) != .sealed else { continue }
            #expect(ArrivalRank(firstByte: firstByte, index: 5) { _ in true } == .stranger)
        }
    }

    @Test mutating func whatMattersMostComesFirstAndInTheOrderOfItsArrival() {
        for (number, priority) in [
            (1, .bulk), (2, .fresh), (3, .reliable), (4, .control), (5, .fresh), (6, .bulk),
        ] as [(Int, Priority)] {
            push(number, rank(priority))
        }
        push(7, .stranger)
        #expect(queue.count == 7)
        let order = popAll()
        #expect(order == [4, 2, 5, 3, 7, 1, 6])
        #expect(queue.isEmpty)
    }

    @Test mutating func channelsTakeTurns() {
        for number in 0..<5 { push(number, rank(.fresh, of: 1)) }
        push(10, rank(.fresh, of: 2))
        push(20, rank(.fresh, of: 3))
        push(11, rank(.fresh, of: 2))
        let order = popAll()
        #expect(order == [0, 10, 20, 1, 11, 2, 3, 4])
    }

    @Test mutating func nothingStarves() {
        push(-1, rank(.bulk))
        push(-2, .stranger)
        var order: [Int] = []
        for number in 0..<20 {
            push(number, rank(.fresh))
            if let next = pop() { order.append(next) }
        }
        #expect(order.firstIndex(of: -2) == Limits.queueSkipsMax)
        #expect(order.firstIndex(of: -1) == Limits.queueSkipsMax + 1)
    }

    @Test(arguments: Priority.allCases)
    mutating func aFullLaneLosesFromItsLongestLine(_ priority: Priority) throws {
        let reasons: [DropReason] = [
            .arrivalsFullControl, .arrivalsFullFresh, .arrivalsFullReliable, .arrivalsFullBulk,
        ]
        let reason = reasons[Int(priority.rawValue)]
        for number in 0..<3 { push(-number - 1, rank(priority, of: 9)) }
        var pushed = 0
        while queue.drops[reason] < 10 {
            push(pushed, rank(priority, of: 1))
            pushed += 1
            try #require(pushed < 10_000)
        }
        // Newcomers of another channel find room at the expense of the flood.
        let isTaken = push(-4, rank(priority, of: 9))
        #expect(isTaken)
        #expect(queue.drops[reason] == 11)
        let left = popAll()
        #expect(left.filter { $0 < 0 } == [-1, -2, -3, -4])
        #expect(left.filter { $0 >= 0 } == Array(0..<pushed - 11))
    }

    @Test mutating func strangersHaveALaneOfTheirOwn() {
        for number in 0..<5_000 { push(number, .stranger, byteCount: 1_200) }
        #expect(queue.drops[.arrivalsFullUnsealed] > 4_000)
        for priority in Priority.allCases {
            let isTaken = push(-1, rank(priority))
            #expect(isTaken)
        }
        #expect(Int(queue.drops[.arrivalsFullUnsealed]) == dropCount)
    }

    /// One floods, and forty others send now and then: nothing of theirs is lost, and all of it
    /// comes in order.
    @Test mutating func manyHaveALineOfTheirOwn() throws {
        for number in 0..<4_000 { push(-1 - number, rank(.fresh, of: 0)) }
        for number in 0..<3 {
            for channel in 1...40 as ClosedRange<UInt32> {
                let isTaken = push(Int(channel) * 10 + number, rank(.fresh, of: channel))
                try #require(isTaken)
            }
        }
        let others = popAll().filter { $0 >= 0 }
        #expect(others == (0..<3).flatMap { number in (1...40).map { $0 * 10 + number } })
    }

    /// Where everybody has one datagram in line, nobody loses it to a newcomer.
    @Test mutating func aLaneFullOfChannelsTakesNoMore() {
        var channel: UInt32 = 1
        while push(Int(channel), rank(.control, of: channel)) { channel += 1 }
        #expect(channel > 900)
        let all = popAll()
        #expect(all == Array(1..<Int(channel)))
        #expect(queue.laneByteCounts == [0, 0, 0, 0, 0])
    }

    /// Ten times what can be opened comes from one channel, or from strangers, and now and then a
    /// reading from another.
    @Test(arguments: [nil, .control, .fresh, .reliable, .bulk] as [Priority?])
    mutating func aReadingWaitsForAFewOthersWhateverFloods(_ flood: Priority?) throws {
        let flooding = flood.map { rank($0, of: 1) } ?? .stranger
        var sentAt: [Int: Int] = [:]
        var waits: [Int] = []
        for step in 0..<20_000 {
            for _ in 0..<9 { push(-1, flooding) }
            if step % 20 == 0 {
                sentAt[step] = step
                let isTaken = push(step, rank(.fresh, of: 2))
                try #require(isTaken)
            }
            let next = pop()
            let opened = try #require(next)
            if let sent = sentAt.removeValue(forKey: opened) { waits.append(step - sent) }
        }
        #expect(sentAt.count <= 1)
        #expect(waits.count >= 999)
        #expect(waits.max() ?? .max <= Limits.queueSkipsMax + 1)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    mutating func whatCameIsOpenedOrCountedAndMemoryIsBounded(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var came = 0
        var opened = 0
        for _ in 0..<20_000 {
            if Int.random(in: 0..<10, using: &generator) < 7 {
                let channel = UInt32.random(in: 0..<40, using: &generator)
                let priority = Priority(rawValue: .random(in: 0...3, using: &generator))
                let byteCount = Int.random(in: 0...1_200, using: &generator)
                push(
                    came, priority.map { rank($0, of: channel) } ?? .stranger,
                    byteCount: byteCount)
                came += 1
            } else if pop() != nil {
                opened += 1
            }
            try #require(opened + queue.count + dropCount == came)
            let fullest = queue.laneByteCounts.max()
            try #require(fullest ?? 0 <= Limits.arrivalLaneBytesMax)
        }
        let left = popAll()
        #expect(left.count == Set(left).count)
        #expect(dropCount > 0)
    }
}

import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

struct SendQueueTests {
    private var queue = SendQueue()
    private var drops = DropCounters()

    private mutating func push(_ frame: [UInt8], _ priority: Priority) {
        queue.push(frame, priority: priority, counting: &drops)
    }

    /// The frames that leave next, each on its own, and the priority that they leave with.
    private mutating func pop(
        byteBudget: Int = Limits.frameBytesMax
    ) throws -> (frames: [[UInt8]], priority: Priority)? {
        guard let frame = queue.popFrame(byteBudget: byteBudget) else { return nil }
        guard frame.payload.first == FrameKind.bundle.rawValue else {
            return ([frame.payload], frame.priority)
        }
        let bundle = try FrameBundle(parsing: frame.payload.dropFirst())
        return (bundle.frames.map { Array($0) }, frame.priority)
    }

    private mutating func take(
        byteBudget: Int = Limits.frameBytesMax
    ) throws -> (frames: [[UInt8]], priority: Priority) {
        let popped = try pop(byteBudget: byteBudget)
        return try #require(popped)
    }

    private func frame(_ byte: UInt8, count: Int = 4) -> [UInt8] {
        [FrameKind.message.rawValue] + [UInt8](repeating: byte, count: count - 1)
    }

    @Test mutating func aFrameOnAnIdleLinkLeavesAloneAndUnwrapped() {
        for priority in Priority.allCases {
            push(frame(1), priority)
            let popped = queue.popFrame(byteBudget: 1_000)
            #expect(popped?.payload == frame(1))
            #expect(popped?.priority == priority)
        }
        #expect(queue.isEmpty)
        let none = queue.popFrame(byteBudget: 1_000)
        #expect(none == nil)
    }

    @Test mutating func whatWaitsLeavesTogetherByPriorityThenAge() throws {
        push(frame(1), .bulk)
        push(frame(2), .reliable)
        push(frame(3), .fresh)
        push(frame(4), .control)
        push(frame(5), .fresh)
        let popped = try take()
        #expect(popped.frames == [4, 3, 5, 2, 1].map { frame($0) })
        #expect(popped.priority == .control)
        #expect(queue.isEmpty)
    }

    @Test mutating func aBundleFillsItsBudgetAndNeverMore() throws {
        // Kind, count, then each frame of 4 bytes behind a length of one.
        for byte in 0..<4 as Range<UInt8> { push(frame(byte), .fresh) }
        let exact = queue.popFrame(byteBudget: 2 + 3 * 5)
        #expect(exact?.payload.count == 17)
        #expect(queue.count(at: .fresh) == 1)
        push(frame(9), .fresh)
        let alone = try take(byteBudget: 2 + 2 * 5 - 1)
        #expect(alone.frames == [frame(3)])
        #expect(queue.count(at: .fresh) == 1)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    mutating func noFrameIsLostDoubledOrOvertakenWithinItsPriority(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var sent = [[[UInt8]]](repeating: [], count: 4)
        var left = sent
        for step in 0..<400 {
            let lane = Int.random(in: 0..<4, using: &generator)
            let count = Int.random(in: 4...Limits.frameBytesMax, using: &generator)
            // The kind, the lane, and a number to tell them apart.
            var frame = frame(UInt8(lane), count: count)
            frame[2] = UInt8(truncatingIfNeeded: step >> 8)
            frame[3] = UInt8(truncatingIfNeeded: step)
            push(frame, Priority.allCases[lane])
            sent[lane].append(frame)
            let budget = Int.random(in: 500...Limits.frameBytesMax, using: &generator)
            guard step.isMultiple(of: 2), let next = queue.popFrame(byteBudget: budget) else {
                continue
            }
            guard next.payload[0] == FrameKind.bundle.rawValue else {
                left[Int(next.payload[1])].append(next.payload)
                continue
            }
            #expect(next.payload.count <= budget)
            for frame in try FrameBundle(parsing: next.payload.dropFirst()).frames {
                left[Int(frame[frame.startIndex + 1])].append(Array(frame))
            }
        }
        while let popped = try pop() {
            for frame in popped.frames { left[Int(frame[1])].append(frame) }
        }
        #expect(left == sent, "seed \(seed)")
    }

    @Test mutating func aFrameThatDoesNotFitLetsASmallerOneOfLowerPriorityRideAlong() throws {
        push(frame(1, count: 600), .control)
        push(frame(2, count: 600), .control)
        push(frame(3), .bulk)
        let popped = try take(byteBudget: 1_000)
        #expect(popped.frames == [frame(1, count: 600), frame(3)])
        #expect(queue.count(at: .control) == 1)
    }

    @Test mutating func aFrameOverTheBudgetLeavesAlone() throws {
        push(frame(1, count: 900), .fresh)
        push(frame(2), .fresh)
        let popped = try take(byteBudget: 500)
        #expect(popped.frames == [frame(1, count: 900)])
    }

    @Test mutating func aBundleHoldsNoMoreFramesThanItsLimit() throws {
        for _ in 0..<100 { push(frame(1, count: 2), .fresh) }
        let popped = try take()
        #expect(popped.frames.count == Limits.bundleFramesMax)
    }

    @Test mutating func ofFreshFramesTheOldestGoesAndOfOthersTheNewest() throws {
        let reasons: [DropReason] = [
            .queueFullControl, .queueFullFresh, .queueFullReliable, .queueFullBulk,
        ]
        for (priority, reason) in zip(Priority.allCases, reasons) {
            queue = SendQueue()
            for number in 0...Limits.queueFramesMax {
                push([0xa0, UInt8(number >> 8), UInt8(number & 0xff)], priority)
            }
            #expect(drops[reason] == 1)
            #expect(queue.count(at: priority) == Limits.queueFramesMax)
            let first = try take(byteBudget: 1)
            #expect(first.frames == [[0xa0, 0, priority == .fresh ? 1 : 0]])
        }
    }

    @Test mutating func eachFrameThatGivesWayIsCounted() {
        let large = frame(0, count: Limits.frameBytesMax)
        let small = frame(1, count: 100)
        // Small ones are the oldest; several of them give way for a large one.
        for _ in 0..<100 { push(small, .fresh) }
        var pushed = 100
        while drops[.queueFullFresh] == 0 {
            push(large, .fresh)
            pushed += 1
        }
        #expect(drops[.queueFullFresh] > 1)
        #expect(queue.count(at: .fresh) + Int(drops[.queueFullFresh]) == pushed)
    }

    @Test mutating func memoryHasALimitAtEachPriority() {
        for priority in Priority.allCases {
            for _ in 0..<2_000 { push(frame(1, count: Limits.frameBytesMax), priority) }
            let byteCount = queue.count(at: priority) * Limits.frameBytesMax
            #expect(byteCount <= Limits.queueBytesMax)
            #expect(byteCount > Limits.queueBytesMax - Limits.frameBytesMax)
        }
    }

    @Test mutating func aFrameThatNoDatagramHoldsIsRefused() {
        let tooLong = frame(1, count: Limits.datagramBytesMax + 1)
        for priority in Priority.allCases { push(tooLong, priority) }
        #expect(drops[.messageTooLong] == 4)
        #expect(queue.isEmpty)
    }

    @Test mutating func noPriorityStarvesWhateverElseWaits() throws {
        // Each fills a datagram, so that nothing rides along; all four are always there.
        var counts = [0, 0, 0, 0]
        for _ in 0..<1_000 {
            for priority in Priority.allCases where queue.count(at: priority) < 2 {
                push(frame(priority.rawValue, count: 1_000), priority)
            }
            let popped = try take(byteBudget: 1_000)
            counts[Int(popped.priority.rawValue)] += 1
        }
        let share = 1_000 / (Limits.queueSkipsMax + 4)
        for lane in 1..<4 { #expect(counts[lane] >= share, "\(counts)") }
        #expect(counts[0] > 500, "\(counts)")
    }

    @Test mutating func urgentFramesWaitForOneOverdueFrameAtMost() throws {
        for _ in 0..<40 { push(frame(3, count: 1_000), .bulk) }
        var longest = 0
        var inARow = 0
        for _ in 0..<200 {
            push(frame(0, count: 1_000), .control)
            let popped = try take(byteBudget: 1_000)
            inARow = popped.priority == .bulk ? inARow + 1 : 0
            longest = max(longest, inARow)
        }
        #expect(longest == 1)
    }
}

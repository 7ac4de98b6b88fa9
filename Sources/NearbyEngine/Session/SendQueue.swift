import NearbyCore
import NearbyWire

/// Frames that wait for one next hop: four priorities, each bounded; what waits together leaves together.
///
/// Strictly by priority, except that every eighth frame taken is the oldest of the lowest priority waiting,
/// so that bulk is slow but never starves. Full: of fresh readings the oldest goes, otherwise the newest.
public struct SendQueue: Sendable {
    /// A frame ready to be sealed; `priority` is the highest of what it holds.
    public struct Frame: Equatable, Sendable {
        public var payload: [UInt8]
        public var priority: Priority
    }

    private var lanes = [Lane](repeating: Lane(), count: Priority.allCases.count)
    private var taken = 0

    private struct Lane: Sendable {
        var frames: [[UInt8]] = []
        var head = 0
        var byteCount = 0

        var isEmpty: Bool { head == frames.count }
        var count: Int { frames.count - head }
        var first: [UInt8]? { isEmpty ? nil : frames[head] }

        mutating func removeFirst() -> [UInt8] {
            let frame = frames[head]
            frames[head] = []
            head += 1
            byteCount -= frame.count
            if head > 32, head * 2 > frames.count {
                frames.removeFirst(head)
                head = 0
            }
            return frame
        }

        mutating func append(_ frame: [UInt8]) {
            frames.append(frame)
            byteCount += frame.count
        }
    }

    public init() {}

    /// Takes a frame that begins with its kind; the reason, if this or an older one was dropped.
    public mutating func push(_ frame: [UInt8], priority: Priority) -> DropReason? {
        let slot = Int(priority.rawValue)
        guard isFull(lanes[slot], adding: frame.count) else {
            lanes[slot].append(frame)
            return nil
        }
        if priority == .fresh {
            while isFull(lanes[slot], adding: frame.count), !lanes[slot].isEmpty {
                _ = lanes[slot].removeFirst()
            }
            lanes[slot].append(frame)
        }
        return switch priority {
        case .control: .queueFullControl
        case .fresh: .queueFullFresh
        case .reliable: .queueFullReliable
        case .bulk: .queueFullBulk
        }
    }

    /// The next frame to seal, of at most `byteBudget` bytes: several as a bundle where they fit.
    public mutating func popFrame(byteBudget: Int) -> Frame? {
        guard let slot = nextSlot() else { return nil }
        let priority = Priority.allCases[slot]
        taken += 1
        let first = lanes[slot].removeFirst()
        var frames = [first[...]]
        // Kind, count, and each frame's length of up to two bytes.
        var size = first.count + 4
        while frames.count < Limits.bundleFramesMax, let next = lanes[slot].first,
            size + next.count + 2 <= byteBudget
        {
            size += next.count + 2
            frames.append(lanes[slot].removeFirst()[...])
        }
        guard frames.count > 1 else { return Frame(payload: first, priority: priority) }
        return Frame(payload: FrameBundle(frames: frames).bytes, priority: priority)
    }

    public var isEmpty: Bool { lanes.allSatisfy(\.isEmpty) }

    /// Frames waiting at a priority.
    public func count(at priority: Priority) -> Int { lanes[Int(priority.rawValue)].count }

    private func isFull(_ lane: Lane, adding byteCount: Int) -> Bool {
        lane.count >= Limits.queueFramesMax || lane.byteCount + byteCount > Limits.queueBytesMax
    }

    private func nextSlot() -> Int? {
        let waiting = lanes.indices.filter { !lanes[$0].isEmpty }
        return taken % 8 == 7 ? waiting.last : waiting.first
    }
}

extension Limits {
    /// Frames waiting for one next hop at one priority.
    public static let queueFramesMax = 512
    /// Bytes waiting for one next hop at one priority.
    public static let queueBytesMax = 256 * 1_024
}

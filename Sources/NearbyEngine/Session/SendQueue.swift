import NearbyCore
import NearbyWire

/// Frames that wait for one next hop: four priorities, each bounded; what waits together leaves
/// together.
///
/// Strictly by priority, with one exception: a priority that `Limits.queueSkipsMax` frames or
/// bundles in a row have passed over begins the next one with its oldest frame. So bulk is slow but
/// nothing starves. Full: of fresh readings the oldest go, of others the newest.
public struct SendQueue: Sendable {
    /// A frame ready to be sealed; `priority` is the highest of what it holds.
    public struct QueuedFrame: Equatable, Sendable {
        public var payload: [UInt8]
        public var priority: Priority
    }

    private struct Lane: Sendable {
        var frames = Deque<[UInt8]>()
        var byteCount = 0

        func isFull(adding count: Int) -> Bool {
            frames.count >= Limits.queueFramesMax || byteCount + count > Limits.queueBytesMax
        }

        mutating func append(_ frame: [UInt8]) {
            frames.append(frame)
            byteCount += frame.count
        }

        mutating func takeFirst() -> [UInt8]? {
            guard let frame = frames.first else { return nil }
            frames.removeFirst()
            byteCount -= frame.count
            return frame
        }
    }

    /// One for each priority, in order.
    private var lanes = [Lane](repeating: Lane(), count: Priority.allCases.count)
    /// The lanes in which something waits, as bits.
    private var waiting: UInt8 = 0
    private var turns = LaneTurns(laneCount: Priority.allCases.count)

    public init() {}

    /// Takes a frame that begins with its kind and is no bundle; each one dropped, this or older
    /// ones, is counted.
    public mutating func push(
        _ frame: [UInt8], priority: Priority, counting drops: inout DropCounters
    ) {
        guard frame.count <= Limits.datagramBytesMax else { return drops.count(.messageTooLong) }
        let slot = Int(priority.rawValue)
        while lanes[slot].isFull(adding: frame.count) {
            drops.count(Self.fullReason(priority))
            guard priority == .fresh, takeFirst(of: slot) != nil else { return }
        }
        lanes[slot].append(frame)
        waiting |= 1 << slot
    }

    /// The next frame to seal: several as a bundle of at most `byteBudget` bytes where they fit.
    /// One that is larger leaves alone.
    public mutating func popFrame(byteBudget: Int) -> QueuedFrame? {
        guard let slot = turns.next(of: waiting), let first = takeFirst(of: slot) else {
            return nil
        }
        var highest = slot
        var taken: UInt8 = 1 << slot
        var frames: [ArraySlice<UInt8>] = []
        var size = Self.bundleHeadByteCount + Self.bundledByteCount(first)
        for slot in lanes.indices {
            while frames.count < Limits.bundleFramesMax, let next = lanes[slot].frames.first,
                size + Self.bundledByteCount(next) <= byteBudget
            {
                if frames.isEmpty { frames.append(first[...]) }
                frames.append(next[...])
                _ = takeFirst(of: slot)
                size += Self.bundledByteCount(next)
                highest = min(highest, slot)
                taken |= 1 << slot
            }
        }
        turns.took(taken, waiting: waiting)
        return QueuedFrame(
            payload: frames.isEmpty ? first : FrameBundle(frames: frames).bytes,
            priority: Priority.allCases[highest])
    }

    public var isEmpty: Bool { waiting == 0 }

    /// Frames waiting at a priority.
    public func count(at priority: Priority) -> Int { lanes[Int(priority.rawValue)].frames.count }

    private mutating func takeFirst(of slot: Int) -> [UInt8]? {
        let frame = lanes[slot].takeFirst()
        if lanes[slot].frames.isEmpty { waiting &= ~(1 << slot) }
        return frame
    }

    /// Kind and count.
    private static let bundleHeadByteCount =
        1 + ByteWriter.varintByteCount(UInt64(Limits.bundleFramesMax))

    private static func bundledByteCount(_ frame: [UInt8]) -> Int {
        ByteWriter.varintByteCount(UInt64(frame.count)) + frame.count
    }

    private static func fullReason(_ priority: Priority) -> DropReason {
        switch priority {
        case .control: .queueFullControl
        case .fresh: .queueFullFresh
        case .reliable: .queueFullReliable
        case .bulk: .queueFullBulk
        }
    }
}

extension Limits {
    /// Frames waiting for one next hop at one priority.
    public static let queueFramesMax = 512
    /// Bytes waiting for one next hop at one priority.
    public static let queueBytesMax = 256 * 1_024
    /// Frames and bundles that may pass a waiting priority over before it is its turn.
    public static let queueSkipsMax = 7
}

import NearbyCore
import NearbyWire

/// What a datagram that waits to be opened is, as far as its head tells.
public struct ArrivalRank: Hashable, Sendable {
    enum Lane: Int, CaseIterable, Sendable {
        case control
        case fresh
        case reliable
        /// Handshakes, answers to beacons, and frames of channels that there are not.
        case unsealed
        case bulk

        var fullReason: DropReason {
            switch self {
            case .control: .arrivalsFullControl
            case .fresh: .arrivalsFullFresh
            case .reliable: .arrivalsFullReliable
            case .unsealed: .arrivalsFullUnsealed
            case .bulk: .arrivalsFullBulk
            }
        }
    }

    let lane: Lane
    /// The channel; 0 for what is not of one.
    let sender: UInt32

    /// What is not of an open channel.
    public static let stranger = ArrivalRank(firstByte: 0, index: 0) { _ in false }

    /// - Parameters:
    ///   - firstByte: of the datagram.
    ///   - index: the four bytes behind it, where a sealed frame names the channel.
    ///   - isOpen: whether there is such a channel.
    public init(firstByte: UInt8, index: UInt32, isOpen: (UInt32) -> Bool) {
        guard let priority = SealedHeader.priority(ofFirstByte: firstByte), isOpen(index) else {
            (lane, sender) = (.unsealed, 0)
            return
        }
        sender = index
        lane =
            switch priority {
            case .control: .control
            case .fresh: .fresh
            case .reliable: .reliable
            case .bulk: .bulk
            }
    }

}

/// Datagrams of which more come in than can be opened: what matters most has its turn first, and
/// among what matters alike everybody who sent some of it.
///
/// There is a lane for each priority and one for strangers. One that `Limits.queueSkipsMax` others
/// have passed over has the next turn, so that nothing starves. In a lane each channel has a line,
/// and the lines take turns. A full lane loses the newest of its longest line. So who floods loses
/// his own, mostly before it was copied out of the socket's buffers, and those, which know neither
/// priorities nor senders, stay empty.
public struct ArrivalQueue: Sendable {
    fileprivate struct Entry: Sendable {
        var datagram: NodeInput
        var byteCount: Int
    }

    fileprivate struct Line: Sendable {
        let sender: UInt32
        var entries = Deque<Entry>()
        /// About what the entries take in memory.
        var byteCount = 0
    }

    fileprivate struct Lane: Sendable {
        /// Those with something in them, at most `Limits.arrivalLinesMax`.
        var lines: [Line] = []
        /// Whose turn it is.
        var turn = 0
        var byteCount = 0
        /// Datagrams of other lanes that were taken in a row while one of these waited.
        var skips = 0
        /// Datagrams for which there was no room.
        var dropCount: UInt64 = 0
    }

    private var lanes = [Lane](repeating: Lane(), count: ArrivalRank.Lane.allCases.count)
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    /// Whether there is room for a datagram, perhaps at the expense of others.
    public mutating func makesRoom(for rank: ArrivalRank, byteCount: Int) -> Bool {
        let (slot, cost) = (rank.lane.rawValue, byteCount + Self.entryByteCount)
        while lanes[slot].byteCount + cost > Limits.arrivalLaneBytesMax {
            lanes[slot].dropCount &+= 1
            guard lanes[slot].shortenLongest(unlessOf: rank.sender) else { return false }
            count -= 1
        }
        return true
    }

    /// Those that were lost, this or others.
    public var drops: DropCounters {
        var drops = DropCounters()
        for lane in ArrivalRank.Lane.allCases {
            drops.count(lane.fullReason, lanes[lane.rawValue].dropCount)
        }
        return drops
    }

    /// After `makesRoom` has said so.
    public mutating func append(_ datagram: NodeInput, byteCount: Int, _ rank: ArrivalRank) {
        let cost = byteCount + Self.entryByteCount
        lanes[rank.lane.rawValue].append(
            Entry(datagram: datagram, byteCount: cost), of: rank.sender)
        count += 1
    }

    /// The next one to be opened.
    public mutating func popFirst() -> NodeInput? {
        guard let slot = nextSlot, let entry = lanes[slot].popFirst() else { return nil }
        count -= 1
        for other in lanes.indices {
            let waits = other != slot && !lanes[other].lines.isEmpty
            lanes[other].skips = waits ? lanes[other].skips + 1 : 0
        }
        return entry.datagram
    }

    /// The lane passed over most often if that is too often, else the first in which one waits.
    private var nextSlot: Int? {
        var overdue: Int?
        var highest: Int?
        for slot in lanes.indices where !lanes[slot].lines.isEmpty {
            highest = highest ?? slot
            guard lanes[slot].skips >= Limits.queueSkipsMax else { continue }
            if lanes[slot].skips > overdue.map({ lanes[$0].skips }) ?? 0 { overdue = slot }
        }
        return overdue ?? highest
    }

    /// What an empty datagram takes in memory, about.
    private static var entryByteCount: Int { 128 }
}

extension ArrivalQueue.Lane {
    /// Channels beyond the number of lines share one.
    private func line(of sender: UInt32) -> Int? {
        if let line = lines.firstIndex(where: { $0.sender == sender }) { return line }
        return lines.count < Limits.arrivalLinesMax ? nil : Int(sender) % lines.count
    }

    fileprivate mutating func append(_ entry: ArrivalQueue.Entry, of sender: UInt32) {
        let position = line(of: sender) ?? lines.count
        if position == lines.count { lines.append(.init(sender: sender)) }
        lines[position].entries.append(entry)
        lines[position].byteCount += entry.byteCount
        byteCount += entry.byteCount
    }

    fileprivate mutating func popFirst() -> ArrivalQueue.Entry? {
        if turn >= lines.count { turn = 0 }
        guard turn < lines.count, let entry = lines[turn].entries.first else { return nil }
        let taken = turn
        turn += 1
        remove(fromFront: true, ofLine: taken)
        return entry
    }

    /// - Parameter sender: if the longest line is this one's, nothing is removed.
    fileprivate mutating func shortenLongest(unlessOf sender: UInt32) -> Bool {
        var longest = 0
        for line in lines.indices where lines[line].byteCount > lines[longest].byteCount {
            longest = line
        }
        guard !lines.isEmpty, line(of: sender) != longest else { return false }
        remove(fromFront: false, ofLine: longest)
        return true
    }

    private mutating func remove(fromFront: Bool, ofLine position: Int) {
        let gone = fromFront ? lines[position].entries.first : lines[position].entries.last
        guard let entry = gone else { return }
        if fromFront {
            lines[position].entries.removeFirst()
        } else {
            lines[position].entries.removeLast()
        }
        lines[position].byteCount -= entry.byteCount
        byteCount -= entry.byteCount
        guard lines[position].entries.isEmpty else { return }
        lines.remove(at: position)
        if position < turn { turn -= 1 }
    }
}

extension Limits {
    /// Bytes of memory for datagrams that wait to be opened, in each lane.
    public static let arrivalLaneBytesMax = 256 * 1_024
    /// Channels that have a line of their own in a lane.
    public static let arrivalLinesMax = 16
    /// Datagrams that are opened before the sockets are looked at again.
    public static let arrivalsPerTurn = 4
    /// Datagrams that are taken from a socket at once while others wait.
    public static let arrivalsTakenMax = 1_024
}

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

    /// What is not of an admitted channel.
    public static let stranger = ArrivalRank(firstByte: 0, index: 0) { _ in false }

    /// - Parameters:
    ///   - firstByte: of the datagram.
    ///   - index: the four bytes behind it, where a sealed frame names the channel.
    ///   - isAdmitted: whether such a channel is of a peer that was let in.
    public init(firstByte: UInt8, index: UInt32, isAdmitted: (UInt32) -> Bool) {
        guard let priority = SealedHeader.priority(ofFirstByte: firstByte), isAdmitted(index) else {
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
        var entries = Deque<Entry>()
        /// About what the entries take in memory.
        var byteCount = 0
    }

    fileprivate struct Lane: Sendable {
        /// By channel; those with something in them.
        var lines: [UInt32: Line] = [:]
        /// Their channels, in the order of their turns.
        var turns = Deque<UInt32>()
        var byteCount = 0
        /// Datagrams for which there was no room.
        var dropCount: UInt64 = 0
    }

    private var lanes = [Lane](repeating: Lane(), count: ArrivalRank.Lane.allCases.count)
    private var turns = LaneTurns(laneCount: ArrivalRank.Lane.allCases.count)
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
        guard let slot = turns.next(of: waiting), let entry = lanes[slot].popFirst() else {
            return nil
        }
        count -= 1
        turns.took(1 << slot, waiting: waiting)
        return entry.datagram
    }

    private var waiting: UInt8 {
        lanes.indices.reduce(0) { lanes[$1].lines.isEmpty ? $0 : $0 | 1 << $1 }
    }

    /// What an empty datagram takes in memory, about.
    static var entryByteCount: Int { 128 }

    /// About what the datagrams of each lane take in memory.
    var laneByteCounts: [Int] { lanes.map(\.byteCount) }
}

extension ArrivalQueue.Lane {
    fileprivate mutating func append(_ entry: ArrivalQueue.Entry, of sender: UInt32) {
        if lines[sender] == nil { turns.append(sender) }
        lines[sender, default: .init()].entries.append(entry)
        lines[sender]?.byteCount += entry.byteCount
        byteCount += entry.byteCount
    }

    fileprivate mutating func popFirst() -> ArrivalQueue.Entry? {
        guard let sender = turns.popFirst(), let entry = lines[sender]?.entries.first else {
            return nil
        }
        lines[sender]?.entries.removeFirst()
        took(entry, of: sender)
        if lines[sender]?.entries.isEmpty == true {
            lines[sender] = nil
        } else {
            turns.append(sender)
        }
        return entry
    }

    /// - Parameter sender: if the longest line is this one's, nothing is removed; nor if nobody has
    ///   more than one datagram in his.
    fileprivate mutating func shortenLongest(unlessOf sender: UInt32) -> Bool {
        var longest: (channel: UInt32, byteCount: Int)?
        // Of channels with as much in line as each other any may lose.
        for (channel, line) in lines where line.byteCount > longest?.byteCount ?? 0 {
            longest = (channel, line.byteCount)
        }
        guard let loser = longest?.channel, loser != sender, lines[loser]?.entries.count ?? 0 > 1,
            let entry = lines[loser]?.entries.last
        else { return false }
        lines[loser]?.entries.removeLast()
        took(entry, of: loser)
        return true
    }

    private mutating func took(_ entry: ArrivalQueue.Entry, of sender: UInt32) {
        byteCount -= entry.byteCount
        lines[sender]?.byteCount -= entry.byteCount
        // A line that was long and is short does not keep its places.
        lines[sender]?.entries.shrink()
    }
}

extension Limits {
    /// Bytes of memory for datagrams that wait to be opened, in each lane.
    public static let arrivalLaneBytesMax = 256 * 1_024
    /// Datagrams that are opened at least before the sockets are looked at again.
    public static let arrivalsPerTurn = 4
    /// One more is opened for so many that were taken from a socket, so that taking does not take
    /// all the time there is.
    public static let arrivalsTakenPerOpened = 32
    /// Datagrams that are taken from a socket at once while others wait.
    public static let arrivalsTakenMax = 1_024
}

import Collector
import Fleet
import NearbyCore
import Telemetry

/// What is wanted of a store.
public struct StoreQuery: Sendable {
    public enum PeerPattern: Hashable, Sendable {
        case id(PeerID)
        /// All peers that call themselves so.
        case name(Glob)
    }

    /// Any of these; empty: all.
    public var peers: [PeerPattern] = []
    /// Names of channels, any of these; empty: all.
    public var channels: [Glob] = []
    /// UTC, nanoseconds since 1970. With bounds, readings whose time is unknown are left out.
    public var from: Int64?
    /// Excluded.
    public var to: Int64?

    public init() {}

    /// - Parameter shown: what it is called here; `node` is what it calls itself.
    func matches(_ id: PeerID, _ node: String, shown: String) -> Bool {
        peers.isEmpty
            || peers.contains {
                switch $0 {
                case .id(let wanted): id == wanted
                case .name(let wanted): wanted.matches(node) || wanted.matches(shown)
                }
            }
    }

    /// - Parameter shown: as of a node.
    func matches(channel: String, shown: String) -> Bool {
        channels.allow(channel) || channels.allow(shown)
    }
}

/// A channel of a run, with what dates its readings.
public struct StoredSeries: Equatable, Sendable {
    public var peer: PeerID
    /// What the peer calls itself now, or is called here.
    public var node: String
    /// As the run's birth has them, or as they are given here.
    public var labels: [Label]
    public var run: RunID
    public var channel: String
    public var unit: Unit
    public var scale: Int8
    /// How well the times of its boot are founded, the least of all stretches; nil while nothing
    /// is known of the boot's clock.
    public var rank: ClockRank?

    /// What has become of its values.
    var map = ValueMap()
    var runID: Int64
    var number: UInt16
    /// What its readings are dated by.
    var dating: Stretches?
    /// What its stored windows lie by; nil if there are none now, or not all.
    var layout: Stretches?
    /// The number of the first wide window that is stored; nil: all are.
    var wideFrom: Int64?

    /// The board's milliseconds between two UTC times, ascending and apart; all if there are no
    /// bounds, none if there are but no clock.
    func milliseconds(from: Int64?, to: Int64?) -> [Range<Int64>] {
        guard from != nil || to != nil else { return [0..<Int64.max] }
        return dating?.milliseconds(from: from, to: to) ?? []
    }

    /// The same, but so that in each of them UTC only rises with the board's time.
    func rising(from: Int64?, to: Int64?) -> [Range<Int64>] {
        if let dating { return dating.spans(from: from, to: to) }
        return milliseconds(from: from, to: to)
    }
}

/// A reading out of the store.
public struct StoredReading: Hashable, Sendable {
    public var sequence: UInt64
    /// UTC, nanoseconds since 1970; nil while nothing is known of the boot's clock.
    public var utc: Int64?
    /// CLOCK_BOOTTIME of the board.
    public var milliseconds: Int64
    public var outcome: Outcome
    public var hops: UInt8
}

/// A window of one channel of a run.
public struct StoredWindow: Hashable, Sendable {
    /// UTC, nanoseconds since 1970.
    public var start: Int64
    public var width: Duration
    public var statistics: Statistics
    /// The newest reading.
    public var last: Outcome
    public var hops: UInt8
    /// Sequence numbers of the run from the window's first to its last, all channels together, and
    /// how many of them are stored. Nil for windows that were computed for this query alone.
    public var expected: Int64?
    public var received: Int64?

    /// Readings of the run that should be in this window and are not stored.
    var lostCount: UInt64? {
        guard let expected, let received else { return nil }
        return UInt64(max(0, expected.subtractingSaturating(received)))
    }
}

/// Readings of a run that nobody will ever send.
public struct StoredGap: Hashable, Sendable {
    public var peer: PeerID
    public var node: String
    public var gap: Gap
    /// UTC of the last stored reading before it and of the first after it, nanoseconds since 1970;
    /// nil where there is none, or while nothing is known of the boot's clock.
    public var from: Int64?
    public var to: Int64?
}

/// A run that the store knows.
public struct StoredRunSummary: Hashable, Sendable {
    public var peer: PeerID
    public var node: String
    public var run: RunID
    public var boot: BootID
    /// As in `StoredSeries`.
    public var rank: ClockRank?
    /// UTC of the oldest and the newest reading; nil without readings or clock.
    public var first: Int64?
    public var last: Int64?
    public var channelCount: Int
    /// Sequence numbers that are stored or lost for good.
    var settledCount: UInt64
}

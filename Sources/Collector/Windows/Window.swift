import NearbyCore
import Telemetry

/// What came in during a stretch of event time.
public struct Window: Equatable, Sendable {
    /// Our clock.
    public var start: Instant
    public var width: Duration
    /// False for a look into a window that is still open.
    var isClosed: Bool
    /// By agent, then by channel number.
    public var rows: [Row]

    /// Whether any reading lies in it: a row may show only what was said before.
    public var hasReadings: Bool {
        rows.contains { $0.statistics.count + $0.statistics.nullCount > 0 }
    }

    /// One channel of one agent.
    public struct Row: Equatable, Sendable {
        public var peer: PeerID
        public var run: RunID
        public var node: NodeDescription
        public var channel: Channel
        public var statistics: Statistics
        /// Readings with a value, a second.
        public var rate: Double
        /// The window's newest reading; where it has none, the newest before it.
        public var last: Outcome
        /// How long ago that reading was measured.
        public var age: Duration
        /// Readings of this channel that came since the last window closed and belong to closed
        /// ones.
        var lateCount: Int
        /// Readings of this agent, all channels, that went missing since the last window closed.
        public var lostCount: UInt64
        public var hops: UInt8
        public var rank: ClockRank
    }
}

import NearbyCore
import Telemetry

/// What a store knows of a node that was heard before the collector started.
public struct RecalledNode: Sendable {
    /// The newest reading of one channel.
    public struct Newest: Sendable {
        public var channel: UInt16
        public var sequence: UInt64
        public var outcome: Outcome
        /// When it was measured, nanoseconds since 1970.
        public var utc: Int64
        public var hops: UInt8

        public init(
            channel: UInt16, sequence: UInt64, outcome: Outcome, utc: Int64, hops: UInt8
        ) {
            self.channel = channel
            self.sequence = sequence
            self.outcome = outcome
            self.utc = utc
            self.hops = hops
        }
    }

    public var peer: PeerID
    public var birth: Birth
    public var newest: [Newest] = []

    public init(peer: PeerID, birth: Birth) {
        self.peer = peer
        self.birth = birth
    }

    /// Of the newest of all; nil without any.
    public var utc: Int64? { newest.map(\.utc).max() }
}

import NearbyCore
import Telemetry

/// Readings of one report that are new, with what is needed to understand them.
public struct Delivery: Equatable, Sendable {
    public var peer: PeerID
    public var birth: Birth
    /// In ascending order of sequence; each comes once for (peer, run, sequence).
    public var readings: [Reading]
    /// When the report came, our clock.
    public var arrival: Instant
    /// Relays on the way, plus one.
    public var hops: UInt8
    /// Add this to a reading's time to have it on our clock.
    public var offset: Duration
    public var rank: ClockRank
    /// Sequence numbers of the run from the first that we saw to the highest.
    public var expected: UInt64
    /// How many of `expected` have not come, or not yet.
    public var missing: UInt64

    public init(
        peer: PeerID, birth: Birth, readings: [Reading], arrival: Instant, hops: UInt8 = 1,
        offset: Duration = .zero, rank: ClockRank = .none, expected: UInt64 = 0,
        missing: UInt64 = 0
    ) {
        self.peer = peer
        self.birth = birth
        self.readings = readings
        self.arrival = arrival
        self.hops = hops
        self.offset = offset
        self.rank = rank
        self.expected = expected
        self.missing = missing
    }

    /// When it was measured, on our clock.
    func eventTime(of reading: Reading) -> Instant { reading.time + offset }
}

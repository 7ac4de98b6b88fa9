import NearbyCore
import Telemetry

/// A run of an agent: with a sequence number it names a reading for ever.
public struct RunKey: Hashable, Comparable, Sendable {
    public var peer: PeerID
    public var run: RunID

    public init(peer: PeerID, run: RunID) {
        self.peer = peer
        self.run = run
    }

    /// Hashed in one step. Runs are the agents' choice: each agent can add one collision.
    public func hash(into hasher: inout Hasher) { hasher.combine(peer.high ^ run.value) }

    public func _rawHashValue(seed: Int) -> Int {
        (peer.high ^ run.value)._rawHashValue(seed: seed)
    }

    public static func < (left: RunKey, right: RunKey) -> Bool {
        (left.peer, left.run) < (right.peer, right.run)
    }
}

/// How the clock of one boot of a node relates to UTC, from some moment on. It replaces what was
/// said of that boot from that moment on; what lies before the first moment goes by the first.
public struct ClockMapping: Equatable, Sendable {
    public var boot: BootID
    public var clock: ClockReading
    /// The error is believed to be at most this, the rank's own error left out.
    public var uncertainty: Duration
    /// The boot's own clock: zero for all of the boot, later where a drift was followed.
    public var since: Instant
    /// Whether it rests on what an agent says of UTC, be it this one or another, and not on our
    /// own clock.
    public var isForeign: Bool

    public init(
        boot: BootID, clock: ClockReading, uncertainty: Duration, since: Instant = .zero,
        isForeign: Bool = false
    ) {
        self.boot = boot
        self.clock = clock
        self.uncertainty = uncertainty
        self.since = since
        self.isForeign = isForeign
    }

    /// Whether it goes by our own synchronised clock: it is above all others then, and only by it
    /// are readings deleted.
    public var isFounded: Bool { !isForeign && clock.rank >= .network }

    /// How well it is founded: our own synchronised clock, then the rank.
    var standing: (Int, ClockRank) { (isFounded ? 1 : 0, clock.rank) }

    /// Whether it may take the place of what was said of the same boot. Of mappings that are not
    /// founded the rank can fall, but never to nothing.
    public func mayReplace(_ old: ClockMapping) -> Bool {
        if standing >= old.standing { return true }
        return old.isForeign && clock.rank > .none
    }
}

/// What goes into the store in one transaction. Either all of it is durable afterwards or nothing.
public struct StoreBatch: Equatable, Sendable {
    /// New readings of one run.
    public struct Part: Hashable, Sendable {
        public var key: RunKey
        /// In any order. What is in the store already is passed over: it may come again before the
        /// collector was told what the store has.
        public var readings: [Reading]
        /// Sequence numbers of the run that are settled once this batch is committed, beside those
        /// that the store knows to be: those in it, and those that are known to be lost.
        public var settled: NumberRanges
        public var hops: UInt8

        public init(key: RunKey, readings: [Reading], settled: NumberRanges, hops: UInt8) {
            self.key = key
            self.readings = readings
            self.settled = settled
            self.hops = hops
        }
    }

    public struct PeerBirth: Equatable, Sendable {
        public var peer: PeerID
        public var birth: Birth

        public init(peer: PeerID, birth: Birth) {
            self.peer = peer
            self.birth = birth
        }
    }

    public struct PeerGap: Hashable, Sendable {
        public var peer: PeerID
        public var gap: Gap

        public init(peer: PeerID, gap: Gap) {
            self.peer = peer
            self.gap = gap
        }
    }

    /// What of a batch was left out, the rest being durable.
    public struct Refusal: Hashable, Sendable {
        public enum Reason: Hashable, Sendable {
            /// The store has no birth of this run: it lost it, and can be given it again.
            case birthMissing
            /// It is nothing that can be written; what the store says of it.
            case unwritable(String)
        }

        public var key: RunKey
        public var reason: Reason

        public init(key: RunKey, reason: Reason) {
            self.key = key
            self.reason = reason
        }
    }

    /// Every run of `parts` and `gaps` has a birth here or in an earlier batch.
    public var births: [PeerBirth] = []
    /// At most one a run.
    public var parts: [Part] = []
    public var gaps: [PeerGap] = []
    /// Mappings that are new or better.
    public var clocks: [ClockMapping] = []

    public init() {}

    public var isEmpty: Bool {
        births.isEmpty && parts.isEmpty && gaps.isEmpty && clocks.isEmpty
    }

    public var readingCount: Int { parts.reduce(0) { $0 + $1.readings.count } }
}

/// What a store knows of a run when it is opened.
public struct StoredRun: Equatable, Sendable {
    public var key: RunKey
    public var birth: Birth
    public var settled: NumberRanges

    public init(key: RunKey, birth: Birth, settled: NumberRanges) {
        self.key = key
        self.birth = birth
        self.settled = settled
    }
}

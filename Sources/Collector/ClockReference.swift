import NearbyCore
import Telemetry

extension Limits {
    /// A clock that moves further than this was set.
    public static let clockStep: Duration = .seconds(1)
    /// An agent whose clock we go by and that was silent so long can be replaced by an equal.
    public static let clockSourceAge: Duration = .seconds(200)
}

/// What our clock is against UTC by the best clock that we know of: our own, or an agent's.
///
/// A better clock is believed at once and a worse one never. Among equals ours comes first; an
/// agent's is kept while it answers. A clock that jumps by more than a second without ranking
/// higher than before is believed when its next reading says the same.
struct ClockReference: Sendable {
    enum Source: Hashable, Sendable {
        case own
        case agent(PeerID)
    }

    /// A clock that could be gone by.
    struct Candidate: Hashable, Sendable {
        var source: Source
        /// The boot whose clock was read, and the reading.
        var boot: BootID
        var clock: ClockReading
        /// UTC less our clock.
        var offset: Duration
        /// At `taken`, the clock's own error left out.
        var uncertainty: Duration
        /// Our clock.
        var taken: Instant

        func uncertainty(at now: Instant) -> Duration {
            uncertainty + ClockDrift.bound(over: now - taken)
        }

        /// The rank, with a date that cannot be below everything: 0 to 4.
        var quality: Int { isPlausible ? Int(clock.rank.rawValue) + 1 : 0 }

        private var isPlausible: Bool {
            let seconds = (taken + offset).nanoseconds / 1_000_000_000
            return Limits.plausibleUnixSeconds.contains(seconds)
        }

        /// What may be said of it to others.
        var rank: ClockRank { quality == 0 ? .none : clock.rank }
    }

    enum Change: Hashable, Sendable {
        /// It moved by as much as clocks drift and are slewed, or not at all.
        case gradual
        /// The first, or a better one.
        case improved
        /// What was believed before was wrong.
        case stepped
    }

    private(set) var current: Candidate?
    /// A jump that waits for being confirmed.
    private var pending: Candidate?

    /// Takes in the newest reading of one clock; `agents` are the newest of all agents, that one
    /// included. An unranked agent is no help to anybody. Nil: we go by what we went by.
    mutating func consider(_ reading: Candidate, agents: [Candidate], now: Instant) -> Change? {
        guard let current else {
            guard reading.source == .own || reading.quality > 1 else { return nil }
            self.current = reading
            return .improved
        }
        let chosen = Self.choice(of: reading, agents: agents, current: current, now: now)
        guard let chosen else { return nil }
        if chosen.quality > current.quality {
            self.current = chosen
            pending = nil
            return .improved
        }
        let isFar = Self.distance(chosen.offset, current.offset) > Limits.clockStep
        if !isFar {
            if pending?.source == chosen.source { pending = nil }
            self.current = chosen
            return .gradual
        }
        guard let pending, pending.source == chosen.source, pending.taken < chosen.taken,
            Self.distance(pending.offset, chosen.offset) <= Limits.clockStep
        else {
            // The reading that is pending already comes here again when another agent answers.
            if pending?.source != chosen.source || pending?.taken != chosen.taken {
                self.pending = chosen
            }
            return nil
        }
        self.current = chosen
        self.pending = nil
        return .stepped
    }

    /// What to go by; nil: as before.
    private static func choice(
        of reading: Candidate, agents: [Candidate], current: Candidate, now: Instant
    ) -> Candidate? {
        if reading.source == .own {
            return reading.quality >= current.quality ? reading : nil
        }
        let best = agents.filter { $0.quality > 1 && $0.quality >= current.quality }.min {
            let left = (-$0.quality, $0.uncertainty(at: now))
            let right = (-$1.quality, $1.uncertainty(at: now))
            return left != right ? left < right : $0.source < $1.source
        }
        guard let best, best.quality == current.quality else { return best }
        if reading.source == current.source {
            return reading.quality == current.quality ? reading : nil
        }
        return now - current.taken > Limits.clockSourceAge ? best : nil
    }

    static func distance(_ left: Duration, _ right: Duration) -> Duration {
        left < right ? right - left : left - right
    }
}

extension ClockReference.Source: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.own, .agent): true
        case (_, .own): false
        case (.agent(let left), .agent(let right)): left < right
        }
    }
}

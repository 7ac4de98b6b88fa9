import NearbyCore
import Telemetry

extension Limits {
    /// A clock that moves further than this was set.
    static let clockStep: Duration = .seconds(1)
    /// An agent whose clock we go by and that was silent so long can be replaced by an equal.
    static let clockSourceAge: Duration = .seconds(200)
    /// One foreign clock alone may lead ours no further than this from what is founded better.
    static let clockMoveMax: Duration = .seconds(60)
    /// A rank that was taken from an agent's clock lasts so long after its last answer.
    static let clockForeignAge: Duration = .seconds(86_400)
}

/// What our clock is against UTC by the best clock that we know of: our own, or an agent's.
///
/// Our own clock comes first among equals, and once it was synchronised no agent's is gone by any
/// more. Until then a better-ranked agent's clock is believed, but alone it may lead no further
/// than `Limits.clockMoveMax` from what our own clock, or several agents, said last. Beyond that
/// two or more must agree, and be more than those that do not; then their rank does not matter.
/// Only where there is no date at all is one agent enough.
///
/// What an agent's clock gave lasts as long as the agent says so: if it comes to rank lower, or
/// falls silent, another takes its place; after a day of silence the rank is gone.
///
/// A clock that jumps by more than a second without ranking higher than before is believed when
/// its next reading says the same.
struct ClockReference: Sendable {
    enum Source: Hashable, Sendable {
        case own
        case agent(PeerID)

        var agent: PeerID? {
            switch self {
            case .own: nil
            case .agent(let peer): peer
            }
        }
    }

    /// A clock that could be gone by.
    struct Candidate: Equatable, Sendable {
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

        /// No agent's clock is gone by instead.
        var isOwnSynchronised: Bool { source == .own && rank >= .network }
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
    /// The agents whose clocks agreed when we last went by one that is not ours, ascending.
    private(set) var supporters: [PeerID] = []
    /// UTC less our clock when our own clock or several agents said so last, or the first that gave
    /// a date; nil without one.
    private var anchor: (offset: Duration, at: Instant)?
    /// A jump that waits for being confirmed.
    private var pending: Candidate?

    /// Takes in the newest reading of one clock; `agents` are the newest of all agents, that one
    /// included. An unranked agent is no help to anybody. Nil: we go by what we went by.
    mutating func consider(_ reading: Candidate, agents: [Candidate], now: Instant) -> Change? {
        let isLower = lowerRank(reading, now: now)
        let change =
            reading.source == .own
            ? considerOwn(reading) : considerForeign(reading, agents, now: now)
        return change ?? (isLower ? .gradual : nil)
    }

    /// What the agent that we go by says less of now, or has not said for long.
    private mutating func lowerRank(_ reading: Candidate, now: Instant) -> Bool {
        guard let current, current.source != .own, current.clock.rank > .none else { return false }
        if now - current.taken > Limits.clockForeignAge {
            self.current?.clock.rank = .none
            anchor = nil
            return true
        }
        guard reading.source == current.source, reading.quality < current.quality else {
            return false
        }
        self.current?.clock.rank = reading.rank
        return true
    }

    private mutating func considerOwn(_ reading: Candidate) -> Change? {
        guard let current else { return adopt(reading, .improved) }
        if current.source != .own {
            if reading.rank >= .network { return adopt(reading, .stepped) }
            if reading.rank == .none { return nil }
        }
        if reading.quality > current.quality { return adopt(reading, .improved) }
        return reading.quality == current.quality ? adoptEqual(reading, current) : nil
    }

    private mutating func considerForeign(
        _ reading: Candidate, _ agents: [Candidate], now: Instant
    ) -> Change? {
        if let current, current.isOwnSynchronised { return nil }
        let ranked = agents.filter { $0.quality > 1 && now - $0.taken <= Limits.clockSourceAge }
        let votes = ClockVotes(ranked.map(\.offset))
        // What several agree on comes first, then the rank, then the uncertainty.
        let chosen =
            ranked.filter { mayReplaceCurrent($0, reading, votes, now: now) }
            .map { (votes.agree(on: $0.offset), $0) }
            .filter { isAgreed, candidate in isAgreed || isNear(candidate, now) }
            .min {
                Self.preference(isAgreed: $0.0, $0.1, now)
                    < Self.preference(isAgreed: $1.0, $1.1, now)
            }
        guard let (isAgreed, chosen) = chosen else { return nil }
        let change: Change?
        if let current, chosen.quality <= current.quality {
            let isFar = Self.distance(chosen.offset, current.offset) > Limits.clockMoveMax
            change = isAgreed && isFar ? adopt(chosen, .stepped) : adoptEqual(chosen, current)
        } else {
            change = adopt(chosen, .improved)
        }
        if change != nil {
            supporters = ranked.filter { ClockVotes.agree($0.offset, chosen.offset) }
                .compactMap(\.source.agent).sorted()
            if isAgreed { anchor = (chosen.offset, now) }
        }
        return change
    }

    /// Whether it may be gone by for what it is, wherever it leads.
    private func mayReplaceCurrent(
        _ candidate: Candidate, _ reading: Candidate, _ votes: ClockVotes, now: Instant
    ) -> Bool {
        guard let current else { return true }
        if candidate.source == current.source {
            // The same clock: by its newest reading only.
            return candidate == reading
        }
        if candidate.quality > current.quality { return true }
        let isSilent = now - current.taken > Limits.clockSourceAge
        if current.source == .own { return isSilent && candidate.quality == current.quality }
        let isFar = Self.distance(candidate.offset, current.offset) > Limits.clockMoveMax
        return isSilent || isFar && votes.agree(on: candidate.offset)
    }

    /// What our own clock may have drifted since comes on top.
    private func isNear(_ candidate: Candidate, _ now: Instant) -> Bool {
        guard let anchor else { return true }
        return Self.distance(candidate.offset, anchor.offset)
            <= Limits.clockMoveMax + ClockDrift.bound(over: now - anchor.at)
    }

    /// Lower is better.
    private static func preference(
        isAgreed: Bool, _ candidate: Candidate, _ now: Instant
    ) -> (Int, Int, Duration, Source) {
        let uncertainty = candidate.uncertainty(at: now)
        return (isAgreed ? 0 : 1, -candidate.quality, uncertainty, candidate.source)
    }

    /// Of no higher rank than what we go by: a jump must be confirmed.
    private mutating func adoptEqual(_ chosen: Candidate, _ current: Candidate) -> Change? {
        if Self.distance(chosen.offset, current.offset) <= Limits.clockStep {
            let waiting = pending?.source == chosen.source ? nil : pending
            defer { pending = waiting }
            return adopt(chosen, .gradual)
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
        return adopt(chosen, .stepped)
    }

    private mutating func adopt(_ chosen: Candidate, _ change: Change) -> Change {
        if chosen.source == .own {
            anchor = chosen.quality > 0 ? (chosen.offset, chosen.taken) : nil
            supporters = []
        } else if anchor == nil {
            anchor = (chosen.offset, chosen.taken)
        }
        current = chosen
        pending = nil
        return change
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

/// What the ranked agents that answer say of UTC, one voice each.
private struct ClockVotes {
    /// Ascending.
    private let offsets: [Duration]

    init(_ offsets: [Duration]) { self.offsets = offsets.sorted() }

    /// Whether several say so, and more than say otherwise.
    func agree(on offset: Duration) -> Bool {
        let first = count(below: offset - Limits.clockMoveMax)
        let end = count(below: offset + Limits.clockMoveMax + .nanoseconds(1))
        return end - first > 1 && (end - first) * 2 > offsets.count
    }

    static func agree(_ left: Duration, _ right: Duration) -> Bool {
        ClockReference.distance(left, right) <= Limits.clockMoveMax
    }

    private func count(below limit: Duration) -> Int {
        var (low, high) = (0, offsets.count)
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle] < limit { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

import NearbyCore
import Telemetry

extension Limits {
    /// How late the smallest delay of an arrival may be.
    static let clockArrivalUncertainty: Duration = .seconds(1)
    /// How long an agent may have been without power between two boots; longer is possible.
    static let clockGuessUncertainty: Duration = .seconds(86_400)
}

/// What the book tells, and when.
extension ClockBook {
    private struct Estimate {
        var clock: ClockReading
        var uncertainty: Duration
        var basis: BootClock.Basis
        /// As in `ClockMapping`.
        var isForeign: Bool

        func mapping(of boot: BootID, since: Instant) -> ClockMapping {
            ClockMapping(
                boot: boot, clock: clock, uncertainty: uncertainty, since: since,
                isForeign: isForeign)
        }
    }

    mutating func publishOwn(
        _ change: ClockReference.Change, now: Instant
    ) -> [Output] {
        guard let current = reference.current else { return [] }
        let estimate = Estimate(
            clock: ClockReading(rank: current.rank, unixOffset: current.offset),
            uncertainty: current.uncertainty(at: now), basis: .measured,
            isForeign: current.source != .own)
        guard let since = Self.since(estimate, after: ownPublished, change, agentNow: now)
        else { return [] }
        let mapping = estimate.mapping(of: ownBoot, since: since)
        ownPublished = BootClock.Published(mapping: mapping, basis: .measured)
        return [.mapping(mapping)]
    }

    /// What is known of the boots that an agent has ended depends on when the present one began.
    mutating func publishEnded(of peer: PeerID, now: Instant) -> [Output] {
        guard let state = peers[peer] else { return [] }
        var outputs: [Output] = []
        for boot in state.boots where boot != state.present { outputs += publish(boot, now: now) }
        return outputs
    }

    /// - Parameter change: of what our clock is against UTC, if that is why.
    mutating func publish(
        _ boot: BootID, _ change: ClockReference.Change = .gradual, now: Instant
    ) -> [Output] {
        guard let clock = clocks[boot], let estimate = estimate(of: boot, clock, now: now) else {
            return []
        }
        let agentNow = now - (clock.track.latest?.offset ?? .zero)
        guard let since = Self.since(estimate, after: clock.published, change, agentNow: agentNow)
        else {
            if let old = clock.published, old.mapping.clock.rank == estimate.clock.rank {
                clocks[boot]?.published?.basis = max(old.basis, estimate.basis)
            }
            return []
        }
        var mappings = [estimate.mapping(of: boot, since: since)]
        if since == .zero, estimate.basis == .measured, let current = reference.current,
            current.boot != boot
        {
            mappings = clock.track.segments.map { segment in
                ClockMapping(
                    boot: boot,
                    clock: ClockReading(
                        rank: estimate.clock.rank, unixOffset: current.offset + segment.offset),
                    uncertainty: segment.uncertainty + current.uncertainty(at: now),
                    since: segment.since, isForeign: estimate.isForeign)
            }
        }
        if let last = mappings.last {
            clocks[boot]?.published = BootClock.Published(mapping: last, basis: estimate.basis)
        }
        return mappings.map { .mapping($0) }
    }

    /// A time before which the boot's clock must have begun, on our clock.
    ///
    /// - Parameter depth: how many later boots may be asked; births could name each other in a
    ///   circle.
    func bound(
        of boot: BootID, _ clock: BootClock, depth: Int = Limits.clockBootsMax
    ) -> (offset: Duration, uncertainty: Duration)? {
        let arrivals = clock.arrivals?.offset
        if depth > 0, let later = successor(of: boot, clock), let next = clocks[later],
            let begun = offset(of: later, next, depth: depth - 1)
        {
            let ended = begun - (clock.newest - .zero)
            // What came while it was alive says more.
            if let arrivals, arrivals <= ended {
                return (arrivals, Limits.clockArrivalUncertainty)
            }
            return (ended, Limits.clockGuessUncertainty)
        }
        return arrivals.map { ($0, Limits.clockArrivalUncertainty) }
    }

    func offset(of boot: BootID, _ clock: BootClock, depth: Int) -> Duration? {
        if let latest = clock.track.latest { return latest.offset }
        if let announced = clock.announced, let current = reference.current {
            return announced.unixOffset - current.offset
        }
        return bound(of: boot, clock, depth: depth)?.offset
    }

    /// The boot that came next, by the runs that births name; else the present one.
    private func successor(of boot: BootID, _ clock: BootClock) -> BootID? {
        guard let state = peers[clock.peer] else { return nil }
        let next = state.boots.first { $0 != boot && clocks[$0]?.follows(clock) == true }
        return next ?? (state.present == boot ? nil : state.present)
    }

    private func estimate(of boot: BootID, _ clock: BootClock, now: Instant) -> Estimate? {
        guard let current = reference.current else { return nil }
        let spread = current.uncertainty(at: now)
        var measured: Estimate?
        if current.boot == boot {
            // Without the way over our own clock and back.
            let reading = ClockReading(rank: current.rank, unixOffset: current.clock.unixOffset)
            measured = Estimate(
                clock: reading, uncertainty: .zero, basis: .measured, isForeign: true)
        } else if let latest = clock.track.latest {
            let reading = ClockReading(
                rank: current.rank, unixOffset: current.offset + latest.offset)
            measured = Estimate(
                clock: reading, uncertainty: latest.uncertainty(at: now) + spread, basis: .measured,
                isForeign: current.source != .own)
        }
        // Measured by our own synchronised clock, its own word is not needed.
        let isFounded = measured != nil && current.isOwnSynchronised
        if let announced = clock.announced, !isFounded,
            announced.rank > measured?.clock.rank ?? ClockRank.none
        {
            return Estimate(
                clock: announced, uncertainty: .zero, basis: .announced, isForeign: true)
        }
        if let measured { return measured }
        guard let bound = bound(of: boot, clock) else { return nil }
        let reading = ClockReading(rank: .none, unixOffset: current.offset + bound.offset)
        return Estimate(
            clock: reading, uncertainty: bound.uncertainty + spread, basis: .bound,
            isForeign: current.source != .own)
    }

    /// From when on an estimate is to be told: zero for the whole boot, nil if it is no news.
    ///
    /// A clock that drifts is followed from now on; what was said of the time before stays true.
    private static func since(
        _ estimate: Estimate, after old: BootClock.Published?, _ change: ClockReference.Change,
        agentNow: Instant
    ) -> Instant? {
        guard let old else { return .zero }
        let fromNowOn = max(old.mapping.since, agentNow)
        let moved = ClockReference.distance(
            estimate.clock.unixOffset, old.mapping.clock.unixOffset)
        let new = estimate.mapping(of: old.mapping.boot, since: .zero)
        guard new.mayReplace(old.mapping) else { return nil }
        if new.standing != old.mapping.standing {
            if new.standing < old.mapping.standing { return change == .stepped ? .zero : fromNowOn }
            // Of equal rank only the word is another: what was said before stays if it was right.
            let isAsBefore = estimate.clock.rank == old.mapping.clock.rank
            return isAsBefore && moved <= Limits.clockStep ? fromNowOn : .zero
        }
        guard estimate.basis >= old.basis, moved > Self.news(estimate) else { return nil }
        let wasWrong = change == .stepped || change == .improved && new.clock.rank == .none
        if wasWrong || estimate.basis > old.basis || estimate.basis != .measured { return .zero }
        let isRefined = estimate.uncertainty * 2 <= old.mapping.uncertainty
        return isRefined ? old.mapping.since : fromNowOn
    }

    /// How far a mapping must move to be told again.
    private static func news(_ estimate: Estimate) -> Duration {
        switch estimate.basis {
        case .bound: Limits.clockArrivalUncertainty
        case .announced, .measured: max(estimate.uncertainty, Limits.clockNews)
        }
    }
}

import NearbyCore
import Telemetry

/// What the collector knows of clocks: which boot's time is when in UTC, and how well that is
/// founded.
///
/// Two steps lead from an agent's clock to UTC: the offset between its clock and ours, which
/// `ClockExchange` measures, and what ours is against UTC by the best clock that is known
/// (`ClockReference`). A boot that was never met alive is dated by its agent's own word, and if the
/// agent knew nothing, as if it had ended just before the agent's next boot began.
///
/// A mapping that is founded better always replaces one that is founded worse, never the other way
/// round (`ClockMapping.mayReplace`); of equals the new one is told only if it moved by more than
/// its uncertainty and 10 ms.
///
/// What an agent says of its own clock dates its own readings. Our clock, by which all others are
/// dated, follows it only as far as `ClockReference` allows, and where `sources` are named, only
/// theirs.
struct ClockBook: Sendable {
    enum Input: Equatable, Sendable {
        /// At the start, once a minute, and when the wall clock was set.
        case ownClock(ClockReading)
        /// Out of `ClockExchange`.
        case measured(ClockSample, from: PeerID)
        /// Any copy of a birth. One with the time of sending belongs to the agent's present boot.
        case born(Birth, from: PeerID)
        /// Readings came; `newest` is the latest time in them, `arrival` by our clock.
        case arrived(boot: BootID, newest: Instant, arrival: Instant, from: PeerID)
        /// At the start, out of the store: the latest mapping of a boot of an agent.
        case stored(ClockMapping, from: PeerID)
        /// At the start, out of the store: an agent's boot of which it has a run, and no mapping.
        case storedUndated(BootID, from: PeerID)
    }

    enum Output: Equatable, Sendable {
        /// To be stored, as `ClockMapping` says, and in this order.
        case mapping(ClockMapping)
        /// For people.
        case diagnostic(ClockDiagnostic)
        case drop(DropReason, count: Int = 1)
    }

    struct PeerClocks: Sendable {
        /// Newest first, at most `Limits.clockBootsMax`.
        var boots: [BootID] = []
        var present: BootID?
        var lastHeard: Instant
    }

    let ownBoot: BootID
    /// The only agents whose clocks ours may follow; empty: all.
    let sources: Set<PeerID>
    var reference = ClockReference()
    var ownPublished: BootClock.Published?
    /// At most `Limits.collectorPeersMax`; the one that was silent longest goes.
    var peers: [PeerID: PeerClocks] = [:]
    /// Those of all `peers`.
    var clocks: [BootID: BootClock] = [:]

    /// - Parameters:
    ///   - boot: our own.
    ///   - sources: the only agents whose clocks ours may follow; empty: all.
    init(boot: BootID, sources: Set<PeerID> = []) {
        ownBoot = boot
        self.sources = sources
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .ownClock(let reading):
            let own = ClockReference.Candidate(
                source: .own, boot: ownBoot, clock: reading, offset: reading.unixOffset,
                uncertainty: .zero, taken: now)
            return consider(own, now: now) ?? []
        case .measured(var sample, let peer):
            sample.boot = self.boot(sample.boot, of: peer)
            return receive(sample, from: peer, now: now)
        case .born(var birth, let peer):
            birth.boot = self.boot(birth.boot, of: peer)
            return receive(birth, from: peer, now: now)
        case .arrived(let boot, let newest, let arrival, let peer):
            let boot = self.boot(boot, of: peer)
            guard register(boot, of: peer, now: now), let place = clocks.index(forKey: boot)
            else { break }
            // In place: this is done for each report.
            let isMeasured = clocks.values[place].observe(newest: newest, arrival: arrival)
            if isMeasured { break }
            let published = publish(boot, now: now)
            // Its end is the beginning of what it followed.
            return published.isEmpty ? [] : published + publishEnded(of: peer, now: now)
        case .stored(let mapping, let peer):
            release(mapping.boot, to: peer)
            guard register(mapping.boot, of: peer, now: now) else { break }
            // As well founded as can be, so that what comes is added and does not replace it all.
            clocks[mapping.boot]?.published = BootClock.Published(
                mapping: mapping, basis: .measured)
        case .storedUndated(let boot, let peer):
            release(boot, to: peer)
            guard register(boot, of: peer, now: now) else { break }
            // What was told of it so far the store has not taken.
            clocks[boot]?.published = nil
            return publish(boot, now: now)
        }
        return []
    }

    // MARK: Reading

    /// The name under which the clock of an agent's boot is kept. It is the boot's own, unless
    /// another agent showed it first: what one says of its clock must not date another's readings,
    /// and nobody proves that they share a machine.
    func boot(_ boot: BootID, of peer: PeerID) -> BootID {
        guard boot != ownBoot, let known = clocks[boot], known.peer != peer else { return boot }
        return BootID(high: boot.high ^ peer.high, low: boot.low ^ peer.low)
    }

    /// The latest stretch of a boot, ours or an agent's; nil where nothing is known.
    func mapping(for boot: BootID) -> ClockMapping? {
        boot == ownBoot ? ownPublished?.mapping : clocks[boot]?.published?.mapping
    }

    /// Add this to a boot's time to have it on our clock; nil where nothing is known.
    func offset(of boot: BootID) -> Duration? {
        if boot == ownBoot { return .zero }
        guard let place = clocks.index(forKey: boot) else { return nil }
        if let measured = clocks.values[place].track.latest { return measured.offset }
        return offset(of: boot, clocks.values[place], depth: Limits.clockBootsMax)
    }

    /// How well the times of a boot are founded.
    func rank(of boot: BootID) -> ClockRank { mapping(for: boot)?.clock.rank ?? .none }

    /// The latest time that a boot's clock can have shown by now: an hour after what it shows, for
    /// our measuring can be behind, and in any case `Limits.uptimeMax`.
    func latestTime(of boot: BootID, of peer: PeerID, now: Instant) -> Instant {
        let longest = Instant.zero + Limits.uptimeMax
        let boot = self.boot(boot, of: peer)
        if boot == ownBoot { return min(longest, now + Limits.readingAheadMax) }
        guard let place = clocks.index(forKey: boot),
            let measured = clocks.values[place].track.latest
        else { return longest }
        return min(longest, now - measured.offset + Limits.readingAheadMax)
    }

    /// Boots of agents that something is known of.
    var bootCount: Int { clocks.count }

    // MARK: Taking in

    private mutating func receive(
        _ sample: ClockSample, from peer: PeerID, now: Instant
    ) -> [Output] {
        let boot = sample.boot
        guard register(boot, of: peer, now: now), var clock = clocks[boot] else { return [] }
        let isNews = clock.track.latest == nil || peers[peer]?.present != boot
        peers[peer]?.present = boot
        // One voice an agent, whatever boots it shows and births say in between.
        for other in peers[peer]?.boots ?? [] { clocks[other]?.candidate = nil }
        clock.track.record(sample, now: now)
        clock.newest = max(clock.newest, now - sample.offset)
        clock.record(announced: sample.clock)
        let candidate = ClockReference.Candidate(
            source: .agent(peer), boot: boot, clock: sample.clock,
            offset: sample.clock.unixOffset - sample.offset,
            uncertainty: sample.uncertainty(at: now), taken: now)
        let mayLead = mayLead(peer)
        clock.candidate = mayLead ? candidate : nil
        clocks[boot] = clock
        var outputs: [Output] = []
        if mayLead, let told = consider(candidate, now: now) {
            outputs = told
        } else {
            outputs = publish(boot, now: now)
            if isNews { outputs += publishEnded(of: peer, now: now) }
        }
        return outputs + reportIfOverruled(candidate, of: peer)
    }

    /// An agent's clock that is far from ours and not gone by: told once a boot.
    private mutating func reportIfOverruled(
        _ candidate: ClockReference.Candidate, of peer: PeerID
    ) -> [Output] {
        guard candidate.quality > 1, let current = reference.current,
            current.source != candidate.source
        else { return [] }
        let distance = candidate.offset - current.offset
        guard ClockReference.distance(distance, .zero) > Limits.clockMoveMax else { return [] }
        guard clocks[candidate.boot]?.isOverruledTold == false else {
            return [.drop(.clockOverruled)]
        }
        clocks[candidate.boot]?.isOverruledTold = true
        let diagnostic = ClockDiagnostic.overruled(
            peer, rank: candidate.rank, by: distance, isOursSynchronised: current.isOwnSynchronised,
            isSource: mayLead(peer))
        return [.drop(.clockOverruled), .diagnostic(diagnostic)]
    }

    private func mayLead(_ peer: PeerID) -> Bool { sources.isEmpty || sources.contains(peer) }

    private mutating func receive(_ birth: Birth, from peer: PeerID, now: Instant) -> [Output] {
        guard register(birth.boot, of: peer, now: now) else { return [] }
        clocks[birth.boot]?.record(birth)
        if let sent = birth.sent {
            peers[peer]?.present = birth.boot
            clocks[birth.boot]?.observe(newest: sent, arrival: now)
        }
        let published = publish(birth.boot, now: now)
        return published + publishEnded(of: peer, now: now)
    }

    /// All that there is to tell of a change; nil if there was none.
    private mutating func consider(
        _ candidate: ClockReference.Candidate, now: Instant
    ) -> [Output]? {
        let agents = clocks.values.compactMap(\.candidate)
        let before = reference.current
        guard let change = reference.consider(candidate, agents: agents, now: now) else {
            return nil
        }
        var outputs = reportIfMoved(from: before)
        outputs += publishOwn(change, now: now)
        for peer in peers.keys.sorted() {
            for boot in peers[peer]?.boots ?? [] { outputs += publish(boot, change, now: now) }
        }
        return outputs
    }

    /// The first date of ours that comes from agents, and each move by more than a minute.
    private func reportIfMoved(from before: ClockReference.Candidate?) -> [Output] {
        guard let current = reference.current else { return [] }
        let distance = before.map { current.offset - $0.offset } ?? .zero
        let isFirst = before == nil && current.source != .own
        guard isFirst || ClockReference.distance(distance, .zero) > Limits.clockMoveMax else {
            return []
        }
        let peers = Array(reference.supporters.prefix(Limits.clockNamesMax))
        return [.diagnostic(.moved(by: distance, rank: current.rank, says: peers))]
    }

    /// Whose boot it is, the store knows better than who showed it since.
    private mutating func release(_ boot: BootID, to peer: PeerID) {
        guard let known = clocks[boot], known.peer != peer else { return }
        clocks[boot] = nil
        peers[known.peer]?.boots.removeAll { $0 == boot }
        if peers[known.peer]?.present == boot { peers[known.peer]?.present = nil }
    }

    /// Returns whether the boot has a place in the tables and is this peer's. Ours is nobody
    /// else's: an agent on the collector's machine has the collector's clock.
    private mutating func register(_ boot: BootID, of peer: PeerID, now: Instant) -> Bool {
        guard boot != ownBoot else { return false }
        if let known = clocks[boot] {
            peers[known.peer]?.lastHeard = now
            return known.peer == peer
        }
        if peers[peer] == nil, peers.count >= Limits.collectorPeersMax {
            let oldest = peers.min { ($0.value.lastHeard, $0.key) < ($1.value.lastHeard, $1.key) }
            for boot in oldest?.value.boots ?? [] { clocks[boot] = nil }
            if let oldest { peers[oldest.key] = nil }
        }
        var state = peers[peer] ?? PeerClocks(lastHeard: now)
        state.lastHeard = now
        state.boots.insert(boot, at: 0)
        if state.boots.count > Limits.clockBootsMax,
            let index = state.boots.lastIndex(where: { $0 != state.present && $0 != boot })
        {
            clocks[state.boots.remove(at: index)] = nil
        }
        peers[peer] = state
        clocks[boot] = BootClock(peer: peer)
        return true
    }
}

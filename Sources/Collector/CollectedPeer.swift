import NearbyCore
import Telemetry

extension Limits {
    /// Runs of one agent that a collector keeps state for; that which was silent longest goes.
    static let collectorRunsMax = 16
    /// The same with those whose readings are on their way into the store, and which do not go: as
    /// many as an agent brings from its disk.
    static let collectorPendingRunsMax = 80
    /// What the births of one agent may take in memory, bytes, and those of all.
    static let birthBytesPerPeerMax = 4 << 20
    static let birthBytesMax = 64 << 20
}

/// What the collector knows of one agent.
struct CollectedPeer: Sendable {
    struct Run: Sendable {
        var birth: Birth
        var sequences = SequenceLedger()
        /// Whether the log has said that readings of it were settled elsewhere.
        var isSettledElsewhereReported = false
        /// What of it came before may have been forgotten here.
        var mayHaveBeenEvicted = false
        /// Whether what went with its end was recorded.
        var isEndRecorded = false
    }

    enum Result {
        case needsBirth
        case accepted(Accepted)
    }

    /// What a report brought.
    struct Accepted {
        var delivery: Delivery
        var duplicates = 0
        var refused = 0
        var unknownChannels = 0
        /// With times that cannot be; they are not settled, so that an agent whose clock was
        /// misread loses nothing.
        var implausible = 0
        /// Numbers that the agent holds no more and that never came here.
        var elsewhere: [Range<UInt64>] = []
    }

    /// What became of a gap.
    enum GapResult { case runUnknown, known, refused, accepted }

    /// Those that were heard of last first. Beyond `Limits.collectorRunsMax` only such as are
    /// pending, and at most `Limits.collectorPendingRunsMax`.
    private var runs: [Run] = []
    /// What the births take in memory, roughly.
    private(set) var birthByteCount = 0
    /// What of its runs is durable.
    var committed = CommittedRuns()
    /// Agents had to be forgotten before this one came, and it may be one of them.
    var mayHaveBeenEvicted = false
    var lastHeard = Instant.zero
    var lastBirthRequest: Instant?

    /// A report that was held came earlier than what released it.
    mutating func heard(_ arrival: Instant) { lastHeard = max(lastHeard, arrival) }

    // MARK: Runs

    /// Whether this is another run, or the next birth of a known one.
    ///
    /// - Parameter birth: without the time of sending, which differs between copies.
    func isNew(_ birth: Birth) -> Bool {
        guard let known = self.birth(of: birth.run) else { return true }
        return known != birth && (!known.covers(birth.reference) || known.number == birth.number)
    }

    /// A birth that is new. False if it cannot be kept, because all that is kept is in use.
    ///
    /// - Parameters:
    ///   - queued: what of the run came and is not committed yet, if it had to be forgotten.
    ///   - isPending: whether readings of a run wait for the store, which needs the birth.
    mutating func record(
        _ birth: Birth, queued: () -> NumberRanges, isPending: (RunID) -> Bool
    ) -> Bool {
        let byteCount = birth.memoryByteCount
        if let index = index(of: birth.run) {
            birthByteCount += byteCount - runs[index].birth.memoryByteCount
            runs[index].birth = birth
            moveToFront(index)
        } else {
            var run = Run(birth: birth)
            let known = queued().union(committed[birth.run] ?? NumberRanges())
            for range in known.ranges { run.sequences.settleLost(range) }
            run.mayHaveBeenEvicted = mayHaveBeenEvicted && known.ranges.isEmpty
            runs.insert(run, at: 0)
            birthByteCount += byteCount
        }
        while runs.count > Limits.collectorRunsMax
            || birthByteCount > Limits.birthBytesPerPeerMax
        {
            guard let gone = runs.lastIndex(where: { !isPending($0.birth.run) }), gone > 0
            else { break }
            forget(runs[gone].birth.run)
        }
        guard
            runs.count > Limits.collectorPendingRunsMax
                || birthByteCount > Limits.birthBytesPerPeerMax
        else { return true }
        if !isPending(birth.run) { forget(birth.run) }
        return false
    }

    /// The birth came again.
    mutating func touch(_ run: RunID) {
        if let index = index(of: run) { moveToFront(index) }
    }

    mutating func forget(_ run: RunID) {
        guard let index = index(of: run) else { return }
        birthByteCount -= runs.remove(at: index).birth.memoryByteCount
    }

    /// A run that is in the store already.
    mutating func restore(_ stored: StoredRun) {
        if index(of: stored.key.run) == nil {
            _ = record(stored.birth, queued: { NumberRanges() }, isPending: { _ in false })
        }
        committed.formUnion(stored.settled, of: stored.key.run)
        guard let index = index(of: stored.key.run) else { return }
        for range in stored.settled.ranges { runs[index].sequences.settleLost(range) }
    }

    func birth(of run: RunID) -> Birth? { index(of: run).map { runs[$0].birth } }

    /// What is settled of a run once everything that came is committed.
    func settled(of run: RunID) -> NumberRanges? {
        index(of: run).map { runs[$0].sequences.settled }
    }

    /// Whether the log is to say now that readings of a run were settled elsewhere.
    mutating func reportSettledElsewhere(of run: RunID) -> Bool {
        guard let index = index(of: run), !runs[index].isSettledElsewhereReported else {
            return false
        }
        runs[index].isSettledElsewhereReported = true
        return true
    }

    func isEndRecorded(of run: RunID) -> Bool {
        index(of: run).map { runs[$0].isEndRecorded } ?? false
    }

    /// What went with the end of a killed run: numbers that were in memory only and never came,
    /// and whatever followed the last that is known. Nothing if the run is not known, or had no
    /// channels and no readings, as a relay's.
    mutating func takeLostEnd(of previous: PreviousRun) -> [Range<UInt64>] {
        guard let index = index(of: previous.run), !runs[index].isEndRecorded,
            previous.lastSequence < Gap.openEnd - 1
        else { return [] }
        runs[index].isEndRecorded = true
        if runs[index].birth.channels.isEmpty, previous.lastSequence == 0 { return [] }
        let settled = runs[index].sequences.settled
        let first = previous.lastSequence + 1
        let end = max(first, settled.ranges.last?.upperBound ?? 0)
        guard end < Gap.openEnd else { return [] }
        let lost = settled.missing(in: first..<end)
        // These lie between numbers that are settled, so they need no more ranges.
        for range in lost { runs[index].sequences.settleLost(range) }
        return lost + [end..<Gap.openEnd]
    }

    private mutating func moveToFront(_ index: Int) {
        if index > 0 { runs.insert(runs.remove(at: index), at: 0) }
    }

    private func index(of run: RunID) -> Int? { runs.firstIndex { $0.birth.run == run } }

    // MARK: Readings

    /// Readings that nobody will send.
    mutating func apply(_ gap: Gap) -> GapResult {
        guard let index = index(of: gap.run) else { return .runUnknown }
        defer { moveToFront(index) }
        if runs[index].sequences.settled.missing(in: gap.range).isEmpty { return .known }
        return runs[index].sequences.announceLost(gap.range) ? .accepted : .refused
    }

    /// - Parameter isBounded: refuses what would leave too many holes, instead of forgetting the
    ///   oldest ones.
    /// - Parameter raisesFloor: whether numbers below the lowest that the agent holds become
    ///   settled. Not before the store has said what it has; a later report says it again.
    /// - Parameter latest: the latest time that a boot's clock can have shown.
    mutating func accept(
        _ incoming: HeldReport, from peer: PeerID, refusingAtLimit isBounded: Bool,
        raisesFloor: Bool, latest: (BootID) -> Instant
    ) -> Result {
        let report = incoming.report
        guard let index = runs.firstIndex(where: { $0.birth.covers(report.birth) })
        else {
            return .needsBirth
        }
        let birth = runs[index].birth
        var (readings, unknown) = report.readings(using: birth)
        var duplicates = 0
        var refused = 0
        var elsewhere: [Range<UInt64>] = []
        if raisesFloor {
            elsewhere = runs[index].sequences.raiseFloor(to: report.lowestHeld)
            // Nobody knows here what came before; the store does.
            if runs[index].mayHaveBeenEvicted { elsewhere = [] }
            runs[index].mayHaveBeenEvicted = false
        }
        let all = readings.count
        let latest = latest(birth.boot)
        readings.removeAll { $0.time > latest || $0.time < .zero }
        let implausible = all - readings.count
        readings.removeAll { reading in
            switch runs[index].sequences.accept(reading.sequence, refusingAtLimit: isBounded) {
            case .fresh: return false
            case .duplicate: duplicates += 1
            case .refused: refused += 1
            }
            return true
        }
        let delivery = Delivery(
            peer: peer, birth: birth, readings: readings, arrival: incoming.arrival,
            hops: incoming.hops,
            expected: runs[index].sequences.expected, missing: runs[index].sequences.missing)
        moveToFront(index)
        return .accepted(
            Accepted(
                delivery: delivery, duplicates: duplicates, refused: refused,
                unknownChannels: unknown, implausible: implausible, elsewhere: elsewhere))
    }
}

import NearbyCore
import Telemetry

/// A report with the circumstances of its arrival.
struct HeldReport: Sendable {
    var report: Report
    var arrival: Instant
    var hops: UInt8

    init(_ report: Report, arrival: Instant, hops: UInt8) {
        self.report = report
        self.arrival = arrival
        self.hops = hops
    }
}

/// What the collector knows of one agent.
struct CollectedPeer: Sendable {
    struct Run: Sendable {
        var birth: Birth
        var sequences = SequenceLedger()
    }

    enum Result {
        case needsBirth
        /// - Parameter absurd: with times that cannot be; they are not settled, so that an agent
        ///   whose clock was misread loses nothing.
        case taken(Delivery, duplicates: Int, refused: Int, unknownChannels: Int, absurd: Int)
    }

    /// Those that were heard of last first, at most `Limits.collectorRunsMax`.
    private var runs: [Run] = []
    var lastHeard = Instant.zero
    var lastAsked: Instant?
    var held: [HeldReport] = []

    /// Returns whether it is new: another run, or the next birth of a known one.
    ///
    /// - Parameters:
    ///   - birth: without the time of sending, which differs between copies.
    ///   - settled: what came of the run if it is not known, or not any more.
    mutating func take(_ birth: Birth, settled: () -> NumberRanges) -> Bool {
        if let index = index(of: birth.run) {
            let known = runs[index].birth
            defer { use(index) }
            guard known != birth,
                !known.covers(birth.reference) || known.number == birth.number
            else {
                return false
            }
            runs[index].birth = birth
            return true
        }
        var run = Run(birth: birth)
        for range in settled().ranges { run.sequences.giveUp(range) }
        runs.insert(run, at: 0)
        if runs.count > Limits.collectorRunsMax { runs.removeLast() }
        return true
    }

    /// A run that is in the store already.
    mutating func restore(_ stored: StoredRun) {
        if index(of: stored.key.run) == nil { _ = take(stored.birth) { NumberRanges() } }
        guard let index = index(of: stored.key.run) else { return }
        for range in stored.settled.ranges { runs[index].sequences.giveUp(range) }
    }

    func birth(of run: RunID) -> Birth? { index(of: run).map { runs[$0].birth } }

    /// What is settled of a run once everything that came is committed.
    func settled(of run: RunID) -> NumberRanges? {
        index(of: run).map { runs[$0].sequences.settled }
    }

    /// Readings that nobody will send. Returns whether the run is known.
    mutating func take(_ gap: Gap) -> Bool {
        guard let index = index(of: gap.run) else { return false }
        runs[index].sequences.giveUp(gap.range)
        use(index)
        return true
    }

    private mutating func use(_ index: Int) {
        if index > 0 { runs.insert(runs.remove(at: index), at: 0) }
    }

    private func index(of run: RunID) -> Int? { runs.firstIndex { $0.birth.run == run } }

    /// - Parameter isBounded: refuses what would leave too many holes, instead of forgetting the
    ///   oldest ones.
    /// - Parameter latest: the latest time that a boot's clock can have shown.
    mutating func take(
        _ incoming: HeldReport, from peer: PeerID, refusingAtLimit isBounded: Bool,
        latest: (BootID) -> Instant
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
        runs[index].sequences.raiseFloor(to: report.lowestHeld)
        let all = readings.count
        let latest = latest(birth.boot)
        readings.removeAll { $0.time > latest || $0.time < .zero }
        let absurd = all - readings.count
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
        use(index)
        return .taken(
            delivery, duplicates: duplicates, refused: refused, unknownChannels: unknown,
            absurd: absurd)
    }
}

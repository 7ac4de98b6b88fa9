import NearbyCore
import Telemetry

extension Limits {
    /// Readings that wait for the store. What comes beyond is not taken: agents keep it.
    public static let uncommittedReadingsMax = 200_000
    /// From the first reading of a batch to its commit.
    public static let commitInterval: Duration = .seconds(1)
    /// After the store refused a batch, at first and at most.
    static let commitPauses: ClosedRange<Duration> = .seconds(1)...(.seconds(30))
}

/// What is on its way into the store: one batch that gathers, and one that is being written. A
/// batch that the store refused is tried again as it is.
struct CommitLedger: Sendable {
    private enum Writing: Sendable {
        case nothing
        case batch(StoreBatch)
        case refused(StoreBatch, tryAt: Instant)
    }

    private var births: [StoreBatch.PeerBirth] = []
    private var readings: [RunKey: (readings: [Reading], hops: UInt8)] = [:]
    private var gaps: [StoreBatch.PeerGap] = []
    private var clocks: [ClockMapping] = []
    private var since: Instant?
    private var writing = Writing.nothing
    private var pause: Duration?
    private(set) var readingCount = 0
    /// Runs that shall have a receipt although nothing of them is committed.
    private var receiptsDue: Set<RunKey> = []

    /// Whether the store has fallen behind so far that nothing more is taken.
    var isFull: Bool { readingCount >= Limits.uncommittedReadingsMax }

    /// Whether the store refused the last batch.
    var isRefused: Bool { pause != nil }

    var deadline: Instant? {
        switch writing {
        case .batch: nil
        case .refused(_, let tryAt): tryAt
        case .nothing: since.map { $0 + Limits.commitInterval }
        }
    }

    // MARK: Gathering

    mutating func add(_ birth: Birth, of peer: PeerID, now: Instant) {
        births.append(StoreBatch.PeerBirth(peer: peer, birth: birth))
        begin(now)
    }

    mutating func add(_ delivery: Delivery, now: Instant) {
        let key = RunKey(peer: delivery.peer, run: delivery.birth.run)
        readings[key, default: ([], delivery.hops)].readings += delivery.readings
        readings[key]?.hops = delivery.hops
        readingCount += delivery.readings.count
        begin(now)
    }

    mutating func add(_ gap: Gap, of peer: PeerID, now: Instant) {
        gaps.append(StoreBatch.PeerGap(peer: peer, gap: gap))
        if readings[RunKey(peer: peer, run: gap.run)] == nil {
            readings[RunKey(peer: peer, run: gap.run)] = ([], 0)
        }
        begin(now)
    }

    mutating func add(_ mapping: ClockMapping, now: Instant) {
        clocks.append(mapping)
        begin(now)
    }

    mutating func wantReceipt(_ key: RunKey, now: Instant) {
        receiptsDue.insert(key)
        begin(now)
    }

    /// What of a run is here, and not in the store yet.
    func numbers(of key: RunKey) -> NumberRanges {
        var numbers = NumberRanges()
        var all = readings[key]?.readings ?? []
        var told = gaps
        switch writing {
        case .nothing: break
        case .batch(let batch), .refused(let batch, _):
            for part in batch.parts where part.key == key { all += part.readings }
            told += batch.gaps
        }
        for reading in all { numbers.insert(reading.sequence..<reading.sequence + 1) }
        for gap in told where gap.peer == key.peer && gap.gap.run == key.run {
            numbers.insert(gap.gap.range)
        }
        return numbers
    }

    private mutating func begin(_ now: Instant) { since = since ?? now }

    // MARK: Writing

    /// The batch that is to be written now, if one is due; at once if `isLast`.
    ///
    /// - Parameter settled: what is settled of a run when everything that came is committed; nil
    ///   if the run is not known any more.
    mutating func takeDue(
        now: Instant, isLast: Bool = false, settled: (RunKey) -> NumberRanges?
    ) -> StoreBatch? {
        switch writing {
        case .batch: return nil
        case .refused(let batch, let tryAt):
            guard isLast || now >= tryAt else { return nil }
            writing = .batch(batch)
            return batch
        case .nothing:
            guard isLast || deadline ?? .distantFuture <= now else { return nil }
            return gather(settled)
        }
    }

    private mutating func gather(_ settled: (RunKey) -> NumberRanges?) -> StoreBatch? {
        var batch = StoreBatch()
        batch.births = births
        batch.gaps = gaps
        batch.clocks = clocks
        for (key, part) in readings.sorted(by: { $0.key < $1.key }) {
            batch.parts.append(
                StoreBatch.Part(
                    key: key, readings: part.readings, settled: settled(key) ?? numbers(of: key),
                    hops: part.hops))
        }
        births = []
        readings = [:]
        gaps = []
        clocks = []
        since = nil
        guard !batch.isEmpty else { return nil }
        writing = .batch(batch)
        return batch
    }

    /// The batch is durable. Returns the runs that shall have receipts, with what is settled of
    /// those in the batch.
    mutating func committed() -> [RunKey: NumberRanges] {
        guard case .batch(let batch) = writing else { return [:] }
        writing = .nothing
        pause = nil
        readingCount -= batch.readingCount
        return Dictionary(batch.parts.map { ($0.key, $0.settled) }) { _, last in last }
    }

    /// The store could not take it.
    ///
    /// - Parameter births: of the batch's runs, should the store have lost them: a damaged one is
    ///   put aside, and a new one begun.
    mutating func refused(now: Instant, births: (RunKey) -> Birth?) {
        guard case .batch(var batch) = writing else { return }
        let gapKeys = batch.gaps.map { RunKey(peer: $0.peer, run: $0.gap.run) }
        let known = Set(batch.births.map { RunKey(peer: $0.peer, run: $0.birth.run) })
        for key in Set(batch.parts.map(\.key) + gapKeys).subtracting(known).sorted() {
            guard let birth = births(key) else { continue }
            batch.births.append(StoreBatch.PeerBirth(peer: key.peer, birth: birth))
        }
        let next = pause.map { min($0 * 2, Limits.commitPauses.upperBound) }
        pause = next ?? Limits.commitPauses.lowerBound
        writing = .refused(batch, tryAt: now + (pause ?? .zero))
    }

    mutating func takeReceiptsDue() -> [RunKey] {
        defer { receiptsDue = [] }
        return receiptsDue.sorted()
    }
}

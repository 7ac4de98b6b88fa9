import NearbyCore
import Telemetry

extension Limits {
    /// Readings that wait for the store. What comes beyond is not taken: agents keep it.
    public static let uncommittedReadingsMax = 200_000
    /// What waits for the store may take in memory, bytes, births and gaps included; and what of
    /// one agent may. What comes beyond is not taken.
    static let uncommittedBytesMax = 32 << 20
    static let uncommittedBytesPerPeerMax = 12 << 20
    /// Runs that shall have a receipt although nothing of them is committed. Others get theirs
    /// when they send again.
    static let receiptsDueMax = 4_096
    /// From the first reading of a batch to its commit, if it is not half full before.
    static let commitInterval: Duration = .seconds(1)
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

        var batch: StoreBatch? {
            switch self {
            case .nothing: nil
            case .batch(let batch), .refused(let batch, _): batch
            }
        }
    }

    /// In the order in which their runs were heard of; at most one a run.
    private var births: [StoreBatch.PeerBirth] = []
    private var readings: [RunKey: (readings: [Reading], hops: UInt8)] = [:]
    private var gaps: [StoreBatch.PeerGap] = []
    private var clocks = WaitingClocks()
    private var since: Instant?
    private var writing = Writing.nothing
    private var pause: Duration?
    private(set) var readingCount = 0
    /// Of what gathers, and of what is being written.
    private var gathered = QueuedBytes()
    private var written = QueuedBytes()
    private var receiptsDue: Set<RunKey> = []

    /// In memory, roughly.
    var byteCount: Int { gathered.total + written.total }

    /// Whether nothing gathers and nothing is being written.
    var isEmpty: Bool {
        writing.batch == nil && births.isEmpty && readings.isEmpty && gaps.isEmpty && clocks.isEmpty
    }

    /// Whether the store has fallen behind so far that nothing more is taken of this agent.
    func isFull(for peer: PeerID) -> Bool {
        readingCount >= Limits.uncommittedReadingsMax || byteCount >= Limits.uncommittedBytesMax
            || gathered[peer] + written[peer] >= Limits.uncommittedBytesPerPeerMax
    }

    var deadline: Instant? {
        switch writing {
        case .batch: nil
        case .refused(_, let tryAt): tryAt
        case .nothing: since.map { isHalfFull ? $0 : $0 + Limits.commitInterval }
        }
    }

    /// From here on the rest fills while this is being written; a store that is asked only when all
    /// is full, or when a second is over, stands still half of the time.
    private var isHalfFull: Bool {
        readingCount >= Limits.uncommittedReadingsMax / 2
            || byteCount >= Limits.uncommittedBytesMax / 2
    }

    /// Whether anything of an agent is on its way.
    func isPending(_ peer: PeerID) -> Bool { gathered[peer] + written[peer] > 0 }

    /// Whether readings or gaps of a run are on their way, which need its birth.
    func isPending(_ key: RunKey) -> Bool {
        readings[key] != nil || writing.batch?.parts.contains { $0.key == key } == true
    }

    // MARK: Gathering

    /// A later birth of the same run takes the place of one that waits.
    mutating func add(_ birth: Birth, of peer: PeerID, now: Instant) {
        let waiting = births.firstIndex { $0.peer == peer && $0.birth.run == birth.run }
        if let waiting {
            gathered.add(-births[waiting].birth.memoryByteCount, of: peer)
            births[waiting].birth = birth
        } else {
            births.append(StoreBatch.PeerBirth(peer: peer, birth: birth))
        }
        gathered.add(birth.memoryByteCount, of: peer)
        begin(now)
    }

    mutating func add(_ delivery: Delivery, now: Instant) {
        let key = RunKey(peer: delivery.peer, run: delivery.birth.run)
        add(delivery.readings, of: key, hops: delivery.hops)
        readingCount += delivery.readings.count
        begin(now)
    }

    mutating func add(_ gap: Gap, of peer: PeerID, now: Instant) {
        gaps.append(StoreBatch.PeerGap(peer: peer, gap: gap))
        gathered.add(QueuedBytes.gap, of: peer)
        let key = RunKey(peer: peer, run: gap.run)
        add([], of: key, hops: readings[key]?.hops ?? 0)
        begin(now)
    }

    /// It replaces what waits of the same boot from the same moment on. Returns how many had to go.
    mutating func add(_ mapping: ClockMapping, now: Instant) -> Int {
        begin(now)
        return clocks.add(mapping)
    }

    mutating func wantReceipt(_ key: RunKey, now: Instant) {
        guard receiptsDue.count < Limits.receiptsDueMax else { return }
        receiptsDue.insert(key)
        begin(now)
    }

    /// What of a run is here, and not in the store yet.
    func numbers(of key: RunKey) -> NumberRanges {
        var numbers = NumberRanges()
        var all = readings[key]?.readings ?? []
        var told = gaps
        if let batch = writing.batch {
            for part in batch.parts where part.key == key { all += part.readings }
            told += batch.gaps
        }
        for reading in all { numbers.insert(reading.sequence..<reading.sequence + 1) }
        for gap in told
        where gap.peer == key.peer && gap.gap.run == key.run && !gap.gap.isOpen {
            numbers.insert(gap.gap.range)
        }
        return numbers
    }

    private mutating func add(_ more: [Reading], of key: RunKey, hops: UInt8) {
        if readings[key] == nil { gathered.add(QueuedBytes.part, of: key.peer) }
        readings[key, default: ([], hops)].readings += more
        readings[key]?.hops = hops
        gathered.add(QueuedBytes.bytes(more), of: key.peer)
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
        batch.clocks = clocks.takeAll()
        for (key, part) in readings.sorted(by: { $0.key < $1.key }) {
            batch.parts.append(
                StoreBatch.Part(
                    key: key, readings: part.readings, settled: settled(key) ?? numbers(of: key),
                    hops: part.hops))
        }
        births = []
        readings = [:]
        gaps = []
        since = nil
        guard !batch.isEmpty else { return nil }
        (written, gathered) = (gathered, QueuedBytes())
        writing = .batch(batch)
        return batch
    }

    /// The batch is durable. Returns the runs that shall have receipts, with what is settled of
    /// those in the batch.
    mutating func committed() -> [RunKey: NumberRanges] {
        guard case .batch(let batch) = writing else { return [:] }
        writing = .nothing
        written = QueuedBytes()
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
            written.add(birth.memoryByteCount, of: key.peer)
        }
        let next = pause.map { min($0 * 2, Limits.commitPauses.upperBound) }
        pause = next ?? Limits.commitPauses.lowerBound
        writing = .refused(batch, tryAt: now + (pause ?? .zero))
    }

    /// The store goes on without what the batch has of this run. With a birth it is put back, to
    /// be written once more together with that; otherwise it is dropped.
    mutating func exclude(_ key: RunKey, birth: Birth?, now: Instant) {
        guard case .batch(var batch) = writing else { return }
        let parts = batch.parts.filter { $0.key == key }
        let left = batch.gaps.filter { $0.peer == key.peer && $0.gap.run == key.run }
        batch.births.removeAll { $0.peer == key.peer && $0.birth.run == key.run }
        batch.parts.removeAll { $0.key == key }
        batch.gaps.removeAll { $0.peer == key.peer && $0.gap.run == key.run }
        writing = .batch(batch)
        written = QueuedBytes(batch)
        guard let birth else {
            readingCount -= parts.reduce(0) { $0 + $1.readings.count }
            return
        }
        add(birth, of: key.peer, now: now)
        for part in parts { add(part.readings, of: key, hops: part.hops) }
        for gap in left { add(gap.gap, of: key.peer, now: now) }
    }

    mutating func takeReceiptsDue() -> [RunKey] {
        defer { receiptsDue = [] }
        return receiptsDue.sorted()
    }
}

import Collector
import CollectorComposition
import NearbyCore
import Telemetry

/// A collector's store: a table that keeps what was committed. One job at a time, as `StoreThread`
/// has it; a batch is durable as a whole or not at all.
struct SimulatedStore {
    typealias Job = CollectorNode.StoreJob
    typealias Answer = CollectorNode.StoreResult

    private let faults: ReadingFaults
    private let truth: ReadingsTruth
    private var random: SeededGenerator
    private var order: [RunKey] = []
    private var runs: [RunKey: StoredRun] = [:]
    private var rows: [RunKey: NumberRanges] = [:]
    private var clocks: [BootID: ClockMapping] = [:]
    private var jobs: [Job] = []
    private var isOpen = false
    /// What the collector took before it was told what the store has.
    private var mayRepeat: [RunKey: NumberRanges] = [:]
    var isCalm = false

    init(_ faults: ReadingFaults, truth: ReadingsTruth, seed: UInt64) {
        self.faults = faults
        self.truth = truth
        random = SeededGenerator(seed: seed)
    }

    /// The collector took readings.
    mutating func accepted(_ delivery: Delivery) {
        guard !isOpen else { return }
        let key = RunKey(peer: delivery.peer, run: delivery.birth.run)
        for reading in delivery.readings {
            mayRepeat[key, default: NumberRanges()].insert(reading.sequence..<reading.sequence + 1)
        }
    }

    // MARK: Jobs

    /// Returns how long the job will take, if it could begin at once.
    mutating func post(_ job: Job) -> Duration? {
        // Nothing is old here.
        if case .tidy = job { return nil }
        jobs.append(job)
        // To find what is there may take longer than to add to it.
        return jobs.count == 1 ? isOpen ? duration : duration * 2 : nil
    }

    /// The first job is done. Returns what came of it, and how long the next will take.
    mutating func finish() -> (answer: Answer, next: Duration?)? {
        guard !jobs.isEmpty else { return nil }
        let answer: Answer
        switch jobs.removeFirst() {
        case .open:
            isOpen = true
            // As the real store does it.
            let boots = Set(runs.values.map(\.birth.boot))
            clocks = clocks.filter { boots.contains($0.key) }
            let mappings = clocks.sorted { $0.key < $1.key }.map(\.value)
            answer = .opened(order.compactMap { runs[$0] }, mappings, diagnostics: [])
        case .commit(let batch, _):
            let isRefused =
                !isCalm && faults.refusalPercent > 0
                && Int.random(in: 0..<100, using: &random) < faults.refusalPercent
            if !isRefused { commit(batch) }
            answer =
                isRefused
                ? .refused("the disk is full") : .committed(without: [], freeBytes: nil)
        case .tidy: return nil
        }
        return (answer, jobs.isEmpty ? nil : duration)
    }

    /// A batch that is being written is durable or not.
    mutating func crash() {
        if case .commit(let batch, _)? = jobs.first, Bool.random(using: &random) { commit(batch) }
        jobs = []
        isOpen = false
        mayRepeat = [:]
    }

    private var duration: Duration {
        mutating get { random.duration(in: isCalm ? ReadingFaults().delay : faults.delay) }
    }

    // MARK: Tables

    private mutating func commit(_ batch: StoreBatch) {
        for clock in batch.clocks where clocks[clock.boot].map(clock.mayReplace) ?? true {
            clocks[clock.boot] = clock
        }
        for born in batch.births {
            let key = RunKey(peer: born.peer, run: born.birth.run)
            if runs[key] == nil { order.append(key) }
            let settled = runs[key]?.settled ?? NumberRanges()
            runs[key] = StoredRun(key: key, birth: born.birth, settled: settled)
        }
        for gap in batch.gaps {
            let key = RunKey(peer: gap.peer, run: gap.gap.run)
            if runs[key] == nil { truth.fail("a gap of \(key.run) before its birth") }
            // The collector's own word is no announcement of a loss.
            if gap.gap.reason != .settledElsewhere { truth.announced(gap.gap.range, of: key) }
        }
        for part in batch.parts { insert(part) }
        for key in order {
            guard let boot = runs[key]?.birth.boot, let clock = clocks[boot] else { continue }
            truth.dated(key, by: clock)
        }
    }

    private mutating func insert(_ part: StoreBatch.Part) {
        guard let birth = runs[part.key]?.birth else {
            return truth.fail("readings of \(part.key.run) before their birth")
        }
        runs[part.key]?.settled.formUnion(part.settled)
        truth.stored(part, birth)
        for reading in part.readings {
            let number = reading.sequence
            if rows[part.key]?.contains(number) == true {
                // The real store passes over what it has.
                truth.repeated(1)
                if mayRepeat[part.key]?.contains(number) != true {
                    truth.fail("\(part.key.run): \(number) was stored twice")
                }
            }
            rows[part.key, default: NumberRanges()].insert(number..<number + 1)
        }
    }
}

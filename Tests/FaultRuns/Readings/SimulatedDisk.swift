import AgentComposition
import NearbyCore
import Telemetry

/// An agent's spool: a table that keeps what it was told is durable. One job at a time, as
/// `SpoolQueue` has it; blocks lie in segments that go whole, as in `Spool`.
struct SimulatedDisk {
    typealias Job = Agent.SpoolJob
    typealias Answer = Agent.SpoolAnswer

    private struct Segment {
        var number: UInt64
        var blocks: [SpoolBlock] = []
        /// Of `blocks`, those that are still needed.
        var needed: Set<RunRange> = []

        var byteCount: Int { blocks.reduce(0) { $0 + $1.bytes.count } }
    }

    private static let segmentBytesMax = 1_000

    private let settings: AgentSettings
    private var random: SeededGenerator
    private var segments: [Segment] = []
    private var births: [RunID: Birth] = [:]
    private var lastNumber: UInt64 = 0
    private var lastRun: RunID?
    /// Whether the last segment may be appended to: each start begins another.
    private var hasCurrent = false
    private var jobs: [Job] = []
    var isCalm = false

    init(_ settings: AgentSettings, seed: UInt64) {
        self.settings = settings
        random = SeededGenerator(seed: seed)
    }

    /// The numbers of a run that would be found after a crash.
    func durable(of run: RunID) -> NumberRanges {
        var numbers = NumberRanges()
        for block in segments.flatMap(\.blocks) where block.run == run {
            numbers.insert(block.range)
        }
        return numbers
    }

    // MARK: Jobs

    /// Returns how long the job will take, if it could begin at once.
    mutating func post(_ job: Job) -> Duration? {
        jobs.append(job)
        return jobs.count == 1 ? duration(of: job) : nil
    }

    /// The first job is done. Returns what came of it, and how long the next will take.
    mutating func finish(run: RunID) -> (answer: Answer, next: Duration?)? {
        guard !jobs.isEmpty else { return nil }
        let answer = perform(jobs.removeFirst(), run)
        return (answer, jobs.first.map { duration(of: $0) })
    }

    /// Of a batch that is being written, some of the first blocks may be durable.
    mutating func crash() {
        if case .append(let birth, let blocks)? = jobs.first {
            let count = Int.random(in: 0...blocks.count, using: &random)
            if count > 0 { _ = append(birth, Array(blocks.prefix(count))) }
        }
        jobs = []
        hasCurrent = false
    }

    private mutating func duration(of job: Job) -> Duration {
        switch job {
        case .open, .append:
            random.duration(in: isCalm ? ReadingFaults().delay : settings.faults.delay)
        case .fetch: random.duration(in: .milliseconds(1)..<Duration.milliseconds(50))
        case .forget, .end: .milliseconds(1)
        }
    }

    private mutating func perform(_ job: Job, _ run: RunID) -> Answer {
        switch job {
        case .open: return open(run)
        case .append(let birth, let blocks):
            let evicted = makeRoom(for: blocks.reduce(0) { $0 + $1.bytes.count })
            guard !chance(settings.faults.diskFailurePercent) else {
                return .failed(job, "the disk has failed")
            }
            return .appended(append(birth, blocks), evicted: evicted)
        case .fetch(let stretch, let place):
            guard !chance(settings.faults.damagePercent) else { return .fetched(stretch, nil) }
            let segment = segments.first { $0.number == place.segment }
            return .fetched(stretch, segment?.blocks[place.offset].bytes)
        case .forget(let run, let unneeded):
            forget(run, unneeded)
            return .done
        case .end: return .done
        }
    }

    private mutating func chance(_ percent: Int) -> Bool {
        !isCalm && percent > 0 && Int.random(in: 0..<100, using: &random) < percent
    }

    // MARK: Segments

    private mutating func append(
        _ birth: [UInt8], _ blocks: [SpoolBlock]
    ) -> [(range: Range<UInt64>, place: SpoolPlace)] {
        if case .birth(let birth)? = try? TelemetryMessage(parsing: birth) {
            births[birth.run] = birth
        }
        if !hasCurrent || segments.last?.byteCount ?? .max > Self.segmentBytesMax {
            lastNumber += 1
            segments.append(Segment(number: lastNumber))
            hasCurrent = true
        }
        var places: [(range: Range<UInt64>, place: SpoolPlace)] = []
        let last = segments.count - 1
        for block in blocks {
            let place = SpoolPlace(
                segment: lastNumber, offset: segments[last].blocks.count,
                byteCount: block.bytes.count)
            places.append((block.range, place))
            segments[last].blocks.append(block)
            segments[last].needed.insert(RunRange(run: block.run, range: block.range))
        }
        return places
    }

    private mutating func makeRoom(for byteCount: Int) -> [RunRange] {
        var evicted: [RunRange] = []
        while !segments.isEmpty,
            segments.reduce(byteCount, { $0 + $1.byteCount }) > settings.spoolBytesMax
        {
            let oldest = segments.removeFirst()
            evicted += oldest.blocks.map { RunRange(run: $0.run, range: $0.range) }
                .filter(oldest.needed.contains)
            if segments.isEmpty { hasCurrent = false }
        }
        return evicted
    }

    private mutating func forget(_ run: RunID, _ unneeded: NumberRanges) {
        for index in segments.indices {
            segments[index].needed = segments[index].needed.filter {
                $0.run != run || !unneeded.missing(in: $0.range).isEmpty
            }
        }
        if segments.last?.needed.isEmpty == true { hasCurrent = false }
        segments.removeAll { $0.needed.isEmpty }
    }

    /// As `Spool.open`: what was forgotten is found again while its segment is there.
    private mutating func open(_ run: RunID) -> Answer {
        var order: [RunID] = []
        var found: [RunID: [(range: Range<UInt64>, place: SpoolPlace)]] = [:]
        for index in segments.indices {
            for (offset, block) in segments[index].blocks.enumerated() {
                if found[block.run] == nil { order.append(block.run) }
                segments[index].needed.insert(RunRange(run: block.run, range: block.range))
                let place = SpoolPlace(
                    segment: segments[index].number, offset: offset, byteCount: block.bytes.count)
                if found[block.run]?.last?.range.upperBound ?? 0 <= block.range.lowerBound {
                    found[block.run, default: []].append((block.range, place))
                }
            }
        }
        let runs = order.compactMap { run in
            births[run].map { SpooledRun(birth: $0, blocks: found[run] ?? []) }
        }
        let previous = lastRun.map { last in
            PreviousRun(
                run: last, lastSequence: (found[last]?.last?.range.upperBound ?? 1) - 1,
                endedInOrder: false)
        }
        lastRun = run
        return .opened(runs, previous, diagnostics: [])
    }
}

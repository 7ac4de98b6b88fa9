import AgentComposition
import Collector
import NearbyCore
import NearbyEngine
import NearbySimulator
import Sampling
import Telemetry

/// An agent as `AgentProgram` runs it, with one sensor, and what must hold of it.
final class AgentSide: ReadingsSide {
    private unowned let host: Host
    private let settings: AgentSettings
    private let truth: ReadingsTruth
    private var random: SeededGenerator
    private var disk: SimulatedDisk
    private var agent: Agent?
    private var run = RunID(value: 0)
    private var collector: PeerID?
    /// Readings that its journal had given up.
    private var lostCount: UInt64 = 0
    private var effects: [HostEffect] = []
    var isMeasuring = true
    var isCalm = false { didSet { disk.isCalm = isCalm } }

    init(host: Host, settings: AgentSettings, truth: ReadingsTruth, seed: UInt64) {
        self.host = host
        self.settings = settings
        self.truth = truth
        random = SeededGenerator(seed: seed)
        disk = SimulatedDisk(settings, seed: random.next())
        if settings.liesAboutItsClock { host.clockLiar = ClockLiar(seed: random.next()) }
    }

    package var node: Node? { agent?.node }

    package var routesVersion: UInt64 { agent?.node.routesVersion ?? 0 }

    package var nextDeadline: Instant? { agent?.nextDeadline }

    var waitingCount: Int { agent?.telemeter.waitingCount ?? 0 }

    /// For people.
    var waiting: String {
        "\(waitingCount) readings, \(agent?.telemeter.pendingCount ?? 0) of them to be sent, for "
            + "\(collector.map { "\($0)" } ?? "nobody")"
    }

    package func start(_ node: Node) {
        run = host.run
        lostCount = 0
        guard let description = try? NodeDescription(name: "host\(host.number)") else { return }
        var telemetry = Telemeter.Settings(
            run: run, boot: BootID(high: 7, low: UInt64(host.number)), node: description)
        telemetry.wait = settings.wait
        telemetry.journal.memoryBytesMax = settings.memoryBytesMax
        telemetry.journal.spoolAfter = settings.spoolAfter
        agent = Agent(node: node, telemetry: telemetry)
    }

    package func handle(_ input: HostInput, now: Instant) -> [HostEffect] {
        switch input {
        case .boot: boot(now)
        case .network(let input): give(.network([input]), now)
        case .deadline: give(.deadlineReached, now)
        case .event(.sensors): useSensor(now)
        case .event(.disk): diskFinished(now)
        }
        defer { effects = [] }
        return effects
    }

    package func crash(now: Instant) {
        disk.crash()
        let key = RunKey(peer: host.peer, run: run)
        let oldest = truth.crashed(key, onDisk: disk.durable(of: run))
        // What DESIGN promises: `spool-after`, and a batch that waits for another to be written.
        if let spoolAfter = settings.spoolAfter, settings.isDiskReliable, let oldest,
            now - oldest.takenAt > spoolAfter + settings.faults.delay.upperBound * 3 + .seconds(1)
        {
            truth.fail("host \(host.number) had not spooled what is \(now - oldest.takenAt) old")
        }
        agent = nil
        collector = nil
    }

    // MARK: The program

    private func boot(_ now: Instant) {
        truth.began(RunKey(peer: host.peer, run: run))
        give(.start, now)
        let clock =
            settings.liesAboutItsClock
            ? ClockLiar.reading
            : ClockReading(rank: .hardware, unixOffset: ReadingsTruth.unixOffset(of: host))
        give(.clock(clock), now)
        effects.append(.later(.sensors, after: random.duration(in: .zero..<settings.interval)))
    }

    private func give(_ input: Agent.Input, _ now: Instant) {
        guard let outputs = agent?.handle(input, now: now) else { return }
        var isSettledAnew = false
        var asked: [(sensor: Int, generation: Int)] = []
        for output in outputs {
            switch output {
            case .sample(let sensor, let generation): asked.append((sensor, generation))
            case .spool(let job): post(job)
            case .node(let output):
                effects.append(.node(output))
                if case .event(let event) = output, observe(event) { isSettledAnew = true }
            case .event(.reading(let number, let sample)): observe(number, sample, now)
            case .event(.said(let bytes, _)): check(bytes)
            case .event: break
            }
        }
        if agent?.telemeter.lostCount != lostCount { noteLosses() }
        if isSettledAnew { checkHeld() }
        checkMemory()
        for (sensor, generation) in asked {
            give(.measured(sensor, generation: generation, measure(), at: now), now)
        }
    }

    /// Whether a receipt came for the present run.
    private func observe(_ event: Node.Event) -> Bool {
        if case .collector(let peer) = event { collector = peer }
        guard case .message(let bytes, let peer, _, _) = event, peer == collector,
            case .receipt(let receipt)? = try? TelemetryMessage(parsing: bytes)
        else { return false }
        truth.settled(receipt.settled, of: RunKey(peer: host.peer, run: receipt.run))
        return receipt.run == run
    }

    private func post(_ job: Agent.SpoolJob) {
        if case .append(let bytes, _) = job {
            guard case .birth? = try? TelemetryMessage(parsing: bytes) else {
                return truth.fail("host \(host.number): what is to be spooled has no birth")
            }
        }
        if let time = disk.post(job) { effects.append(.later(.disk, after: time)) }
    }

    private func diskFinished(_ now: Instant) {
        guard let (answer, next) = disk.finish(run: run) else { return }
        if let next { effects.append(.later(.disk, after: next)) }
        give(.spool(answer), now)
        switch answer {
        case .appended(_, let evicted): lose(evicted)
        case .fetched(let stretch, nil): lose([stretch])
        case .opened, .fetched, .done, .failed: break
        }
    }

    // MARK: Its sensor

    private func useSensor(_ now: Instant) {
        guard isMeasuring else { return }
        give(.configure([Agent.SensorPlan("sensor", period: settings.interval)]), now)
    }

    private func measure() -> [Measurement] {
        guard isMeasuring else { return [] }
        let number = Int.random(in: 0..<settings.channelCount, using: &random)
        // Now and then a digit more than usual, or nothing at all.
        let surplus = Int.random(in: 0..<10, using: &random) == 0 ? 1 : 0
        let value = DecimalValue(
            coefficient: Int64.random(in: -99_999...99_999, using: &random),
            exponent: Int8(-number - surplus))
        let isNull = Int.random(in: 0..<20, using: &random) == 0
        return [Measurement("c\(number)", "1", isNull ? .null(.timeout) : .value(value))]
    }

    private func observe(_ number: UInt64, _ sample: Sample, _ now: Instant) {
        truth.measured(
            ReadingsTruth.Measurement(
                channel: sample.channel, outcome: sample.outcome,
                milliseconds: now.nanoseconds / 1_000_000, takenAt: now),
            number, of: RunKey(peer: host.peer, run: run))
    }

    // MARK: What must hold

    /// The journal holds what was measured, but for what receipts settled and what it gave up.
    private func checkHeld() {
        let expected = truth.expectedHeld(of: RunKey(peer: host.peer, run: run))
        guard let held = agent?.telemeter.unsettled(of: run), held != expected else { return }
        truth.fail("host \(host.number) holds \(held.ranges), and should \(expected.ranges)")
    }

    /// What the present run's journal does not hold any more without a receipt.
    private func noteLosses() {
        let key = RunKey(peer: host.peer, run: run)
        guard let telemeter = agent?.telemeter else { return }
        lostCount = telemeter.lostCount
        let held = telemeter.unsettled(of: run)
        for range in truth.expectedHeld(of: key).ranges {
            for lost in held.missing(in: range) { truth.givenUp(lost, of: key) }
        }
    }

    private func lose(_ stretches: [RunRange]) {
        for stretch in stretches where stretch.run != run {
            truth.givenUp(stretch.range, of: RunKey(peer: host.peer, run: stretch.run))
        }
        noteLosses()
    }

    private func checkMemory() {
        // Beside what is kept: the open block, and blocks that were read to be sent again.
        let limit = settings.memoryBytesMax + 5 * Limits.journalBlockBytesMax
        if let byteCount = agent?.telemeter.memoryByteCount, byteCount > limit {
            truth.fail("host \(host.number): \(byteCount) bytes of \(limit)")
        }
    }

    /// What is announced as lost is not held.
    private func check(_ bytes: [UInt8]) {
        guard case .gap(let gap)? = try? TelemetryMessage(parsing: bytes),
            let held = agent?.telemeter.unsettled(of: gap.run)
        else { return }
        for range in held.ranges where range.overlaps(gap.range) {
            truth.fail("host \(host.number) holds \(range) and announced \(gap.range) as lost")
        }
    }
}

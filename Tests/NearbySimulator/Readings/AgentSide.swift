import Collector
import NearbyCore
import NearbyEngine
import Telemetry

/// An agent's telemetry side, wired as in `AgentProgram`.
final class AgentSide: ReadingsSide {
    private let host: Host
    private let settings: AgentSettings
    private let truth: ReadingsTruth
    private var random: SeededGenerator
    private var disk: SimulatedDisk
    private var telemeter: Telemeter?
    private var run = RunID(value: 0)
    private var collector: PeerID?
    private var viewers: [PeerID] = []
    private var effects: [ReadingsEffect] = []
    var isMeasuring = true
    var isCalm = false { didSet { disk.isCalm = isCalm } }

    init(host: Host, settings: AgentSettings, truth: ReadingsTruth, seed: UInt64) {
        self.host = host
        self.settings = settings
        self.truth = truth
        random = SeededGenerator(seed: seed)
        disk = SimulatedDisk(settings, seed: random.next())
    }

    var nextDeadline: Instant? { telemeter?.nextDeadline }

    var waitingCount: Int { telemeter?.waitingCount ?? 0 }

    /// For people.
    var waiting: String {
        "\(waitingCount) readings, \(telemeter?.pendingCount ?? 0) of them to be sent, for "
            + "\(collector.map { "\($0)" } ?? "nobody")"
    }

    func handle(_ input: ReadingsInput, now: Instant) -> [ReadingsEffect] {
        switch input {
        case .boot: boot(now)
        case .node(let event): interpret(event, now)
        case .event(.deadline): give(.deadlineReached, now)
        case .event(.sample): sample(now)
        case .event(.disk): diskFinished(now)
        }
        defer { effects = [] }
        return effects
    }

    func crash(now: Instant) {
        disk.crash()
        let key = RunKey(peer: host.peer, run: run)
        let oldest = truth.crashed(key, onDisk: disk.durable(of: run))
        // What DESIGN promises: `spool-after`, and a batch that waits for another to be written.
        if let spoolAfter = settings.spoolAfter, settings.isDiskReliable, let oldest,
            now - oldest.takenAt > spoolAfter + settings.faults.delay.upperBound * 3 + .seconds(1)
        {
            truth.fail("host \(host.number) had not spooled what is \(now - oldest.takenAt) old")
        }
        telemeter = nil
        collector = nil
        viewers = []
    }

    // MARK: The program

    private func boot(_ now: Instant) {
        run = host.run
        truth.began(RunKey(peer: host.peer, run: run))
        guard let node = try? NodeDescription(name: "host\(host.number)") else { return }
        var settings = Telemeter.Settings(
            run: run, boot: BootID(high: 7, low: UInt64(host.number)), node: node)
        settings.wait = self.settings.wait
        settings.journal.memoryBytesMax = self.settings.memoryBytesMax
        settings.journal.spoolAfter = self.settings.spoolAfter
        telemeter = Telemeter(settings: settings)
        if self.settings.spoolAfter != nil { post(.open) }
        let clock =
            self.settings.liesAboutItsClock
            ? Self.lie
            : ClockReading(rank: .hardware, unixOffset: ReadingsTruth.unixOffset(of: host))
        give(.clock(clock), now)
        effects.append(.later(.sample, after: random.duration(in: .zero..<self.settings.interval)))
    }

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .collector(let peer):
            if let collector { give(.destinationDown(collector), now) }
            collector = peer
            if let peer { give(.collectorUp(peer), now) }
        case .viewers(let peers):
            for gone in viewers where !peers.contains(gone) { give(.destinationDown(gone), now) }
            for new in peers where !viewers.contains(new) { give(.viewerUp(new), now) }
            viewers = peers
        case .message(let bytes, let peer, _, _): received(bytes, from: peer, now)
        case .peer, .notice: break
        }
    }

    private func received(_ bytes: [UInt8], from peer: PeerID, _ now: Instant) {
        guard case .receipt(let receipt)? = try? TelemetryMessage(parsing: bytes),
            peer == collector
        else { return give(.received(bytes, from: peer), now) }
        let key = RunKey(peer: host.peer, run: receipt.run)
        truth.settled(receipt.settled, of: key)
        give(.received(bytes, from: peer), now)
        if receipt.run == run { checkHeld() }
    }

    private func give(_ input: Telemeter.Input, _ now: Instant) {
        guard let outputs = telemeter?.handle(input, now: now), let telemeter else { return }
        if case .spooled(_, let evicted) = input { lose(evicted) }
        if case .fetched(let stretch, nil) = input { lose([stretch]) }
        for output in outputs {
            switch output {
            case .sendReliable(let bytes, let peer):
                check(bytes, to: peer)
                effects.append(.node(.sendReliable(bytes, to: peer)))
            case .sendUnreliable(let bytes, let peer, let priority):
                let bytes = settings.liesAboutItsClock ? falsified(bytes) : bytes
                effects.append(.node(.sendUnreliable(bytes, to: peer, priority)))
            case .drop(.journalFull, _): noteLosses()
            case .drop: break
            case .spool(let bytes, let blocks):
                guard case .birth(let birth)? = try? TelemetryMessage(parsing: bytes) else {
                    truth.fail("host \(host.number): what is to be spooled has no birth")
                    continue
                }
                post(.append(birth, blocks))
            case .fetch(let stretch, let place): post(.fetch(stretch, place))
            case .forget(let run, let unneeded): post(.forget(run, unneeded))
            }
        }
        checkMemory(telemeter)
    }

    /// A date of 2024.
    private static let lie = ClockReading(rank: .satellite, unixOffset: .seconds(1_706_000_000))

    /// An answer to a time request, with the boot of one of four agents in it: boots are random
    /// and end-to-end encrypted, and who claims more than a collector remembers of one agent is not
    /// held here.
    private func falsified(_ bytes: [UInt8]) -> [UInt8] {
        guard
            case .timeExchange(.answer(var answer))? = try? TelemetryMessage(parsing: bytes),
            Bool.random(using: &random)
        else { return bytes }
        answer.boot = BootID(high: 7, low: UInt64.random(in: 0..<4, using: &random))
        return TelemetryMessage.timeExchange(.answer(answer)).bytes
    }

    private func post(_ job: SimulatedDisk.Job) {
        if let time = disk.post(job) { effects.append(.later(.disk, after: time)) }
    }

    private func diskFinished(_ now: Instant) {
        guard let (answer, next) = disk.finish(run: run) else { return }
        if let next { effects.append(.later(.disk, after: next)) }
        switch answer {
        case .opened(let runs, let previous): give(.restore(runs, previous), now)
        case .appended(let places, let evicted): give(.spooled(places, evicted: evicted), now)
        case .appendFailed: give(.spoolFailed, now)
        case .fetched(let stretch, let bytes): give(.fetched(stretch, bytes), now)
        case .done: break
        }
    }

    // MARK: Sensors

    private func sample(_ now: Instant) {
        guard isMeasuring else { return }
        effects.append(.later(.sample, after: settings.interval))
        let number = Int.random(in: 0..<settings.channelCount, using: &random)
        guard let channel = ChannelDescription(name: "c\(number)", scale: Int8(-number)) else {
            return
        }
        // Now and then a digit more than the channel's scale, or nothing at all.
        let surplus = Int.random(in: 0..<10, using: &random) == 0 ? 1 : 0
        let value = DecimalValue(
            coefficient: Int64.random(in: -99_999...99_999, using: &random),
            exponent: Int8(-number - surplus))
        let isNull = Int.random(in: 0..<20, using: &random) == 0
        let outcome = isNull ? Outcome.null(.timeout) : .value(value)
        let sequence = (telemeter?.readingCount ?? 0) + 1
        truth.measured(
            ReadingsTruth.Measurement(
                channel: channel, outcome: outcome, milliseconds: now.nanoseconds / 1_000_000,
                takenAt: now),
            sequence, of: RunKey(peer: host.peer, run: run))
        give(.sample(Sample(channel: channel, outcome: outcome, time: now)), now)
    }

    // MARK: What must hold

    /// The journal holds what was measured, but for what receipts settled and what it gave up.
    private func checkHeld() {
        let expected = truth.expectedHeld(of: RunKey(peer: host.peer, run: run))
        guard let held = telemeter?.unsettled(of: run), held != expected else { return }
        truth.fail("host \(host.number) holds \(held.ranges), and should \(expected.ranges)")
    }

    /// What the present run's journal does not hold any more without a receipt.
    private func noteLosses() {
        let key = RunKey(peer: host.peer, run: run)
        guard let held = telemeter?.unsettled(of: run) else { return }
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

    private func checkMemory(_ telemeter: Telemeter) {
        // Beside what is kept: the open block, and blocks that were read to be sent again.
        let limit = settings.memoryBytesMax + 5 * Limits.journalBlockBytesMax
        if telemeter.memoryByteCount > limit {
            truth.fail("host \(host.number): \(telemeter.memoryByteCount) bytes of \(limit)")
        }
    }

    /// What is announced as lost is not held.
    private func check(_ bytes: [UInt8], to peer: PeerID) {
        guard case .gap(let gap)? = try? TelemetryMessage(parsing: bytes) else { return }
        guard let held = telemeter?.unsettled(of: gap.run) else { return }
        for range in held.ranges where range.overlaps(gap.range) {
            truth.fail("host \(host.number) holds \(range) and announced \(gap.range) as lost")
        }
    }
}

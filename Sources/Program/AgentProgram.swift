import Boards
import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import Sampling
import Sensors
import Telemetry

/// The agent and the relay: samples sensors, and sends readings to the chosen collector.
public final class AgentProgram {
    private let program: NodeProgram
    private let path: String
    private let log: StandardErrorLog
    private let workers: WorkerPool
    private let results: Mailbox<SensorResult>
    private var telemeter: Telemeter
    private let spool: SpoolQueue?
    private var spoolFault: String?
    private var collector: PeerID?
    private var viewers: [PeerID] = []
    /// When a collector was first addressed, nanoseconds since 1970.
    private var firstConnected: Int64?
    private let pins = BoardPins()
    private let light: AgentLight?
    private var sensors: [any SensorDriver] = []
    private let events: EventSensors
    private var listeners = AdvertisementSensors()
    /// For each sensor, what it gave last, and whether it hangs.
    private var channels: [KnownChannels] = []
    private var isOverdue: [Bool] = []
    private var health: [SensorHealth] = []
    private var samplers: [Sampler] = []
    private var schedule = SamplingSchedule(periods: [])
    /// Raised with every change of the sensors: results of earlier ones are out of date.
    private var generation = 0
    private var drops = DropCounters()
    private var telemetryTimer: EventLoop.TimerID?
    private var samplingTimer: EventLoop.TimerID?
    private var isStopping = false

    /// Told of each reading before it leaves: its run, its number, and what it is.
    package var onReading: ((RunID, UInt64, Sample) -> Void)?

    private struct SensorResult: Sendable {
        var generation: Int
        var sensor: Int
        var measurements: [Measurement]
        var time: Instant
    }

    /// `path` is read again at SIGHUP.
    public init(
        _ settings: Settings, path: String,
        log: StandardErrorLog = StandardErrorLog(showsTimes: true)
    ) throws(StartError) {
        self.path = path
        self.log = log
        program = try NodeProgram(settings, role: Role(settings.role), log: log)
        workers = program.workers
        events = EventSensors(program.loop, log)
        light = settings.statusLED.map { [pins, program] in
            AgentLight($0, pins: pins, loop: program.loop)
        }
        do {
            results = try Mailbox()
            // Without a place for its own identity there is none for readings; and what a card
            // brought along from another board is not ours to send.
            let hasSpool = settings.journalSpool > 0 && !program.runner.identity.ephemeral
            spool =
                hasSpool
                ? try SpoolQueue(
                    directory: "\(settings.state)/spool/\(program.runner.identity.peer)",
                    run: program.run,
                    bytesMax: settings.journalSpool, workers: workers) : nil
            telemeter = try Self.telemeter(settings, run: program.run, hasSpool: hasSpool)
        } catch {
            throw StartError(error)
        }
    }

    /// Serves until SIGTERM.
    public func run() throws(StartError) {
        let loop = program.loop
        light?.show(.starting)
        program.runner.onEvent = { [unowned self] in interpret($0, $1) }
        events.give = { [unowned self] in give($1, of: $0, from: $2, $2) }
        program.runner.onAdvertisement = { [unowned self] in heard($0, $1) }
        program.onReload = { [unowned self] in reload() }
        program.onStop = { [unowned self] in stop() }
        program.onClock = { [unowned self] in give(.clock($0), $1) }
        program.statusDetails = { [unowned self] in statusDetails }
        program.sensorLines = { [unowned self] in sensorLines(MonotonicClock.now()) }
        program.summaryLine = { [unowned self] in
            "journal    \(telemeter.waitingCount) readings wait, \(telemeter.lostCount) lost"
        }
        telemetryTimer = loop.addTimer { [unowned self] in give(.deadlineReached, $0) }
        samplingTimer = loop.addTimer { [unowned self] in sample(.deadlineReached, $0) }
        do {
            try loop.register(results) { [unowned self] in completed($0) }
            if let spool {
                try loop.register(spool.answers) { [unowned self] in
                    if let answer = self.spool?.take($0) { answered(answer) }
                }
                spool.post(.open)
            }
        } catch {
            throw StartError(error)
        }
        use(program.settings.sensors)
        showState()
        try program.serve()
    }

    // MARK: The node's side

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .collector(let peer): collectorChanged(peer, now)
        case .message(let bytes, let peer, _, _): give(.received(bytes, from: peer), now)
        case .notice(let notice): program.tell(notice, now)
        case .viewers(let peers): viewersChanged(peers, now)
        case .peer: break
        }
    }

    private func showState() {
        light?.show(spoolFault != nil ? .fault : collector == nil ? .searching : .connected)
    }

    private func viewersChanged(_ peers: [PeerID], _ now: Instant) {
        for gone in viewers where !peers.contains(gone) { give(.destinationDown(gone), now) }
        for new in peers where !viewers.contains(new) { give(.viewerUp(new), now) }
        viewers = peers
    }

    private func collectorChanged(_ peer: PeerID?, _ now: Instant) {
        if let collector { give(.destinationDown(collector), now) }
        collector = peer
        showState()
        guard let peer else { return log.write(.notice, "no collector in reach") }
        if firstConnected == nil { firstConnected = WallClock.read().unixNanoseconds }
        log.write(.information, "collector: \(program.runner.node.name(of: peer) ?? "\(peer)")")
        give(.collectorUp(peer), now)
    }

    private func give(_ input: Telemeter.Input, _ now: Instant) {
        let before = telemeter.readingCount
        let outputs = telemeter.handle(input, now: now)
        if case .sample(let sample) = input, telemeter.readingCount > before {
            onReading?(program.run, telemeter.readingCount, sample)
        }
        for output in outputs {
            switch output {
            case .sendReliable(let bytes, let peer):
                program.runner.give(.sendReliable(bytes, to: peer), at: now)
            case .sendUnreliable(let bytes, let peer, let priority):
                program.runner.give(.sendUnreliable(bytes, to: peer, priority), at: now)
            case .drop(let reason, let count): drops.count(reason, UInt64(clamping: count))
            case .spool(let birth, let blocks): spool?.post(.append(birth: birth, blocks))
            case .fetch(let stretch, let place): spool?.post(.fetch(stretch, place))
            case .forget(let run, let unneeded): spool?.post(.forget(run, unneeded))
            }
        }
        if let telemetryTimer { program.loop.set(telemetryTimer, to: telemeter.nextDeadline) }
    }

    // MARK: The spool

    private func answered(_ answer: SpoolQueue.Answer) {
        let now = MonotonicClock.now()
        switch answer {
        case .opened(let runs, let previous, let notices):
            for notice in notices { log.write(.warning, "spool: \(notice)") }
            return give(.restore(runs, previous), now)
        case .appended(let appended):
            if spoolFault != nil { log.write(.notice, "the spool works again") }
            spoolFault = nil
            showState()
            give(.spooled(appended.places, evicted: appended.evicted), now)
        case .fetched(let stretch, let bytes): give(.fetched(stretch, bytes), now)
        case .done: break
        case .failed(let job, let fault): failed(job, fault, now)
        }
        spool?.finished()
        if isStopping, spool?.isIdle == true { program.loop.stop() }
    }

    private func failed(_ job: SpoolQueue.Job, _ fault: String, _ now: Instant) {
        if spoolFault != fault {
            log.write(.error, "spool: \(fault): readings wait in memory only")
        }
        spoolFault = fault
        showState()
        switch job {
        case .append: give(.spoolFailed, now)
        case .fetch(let stretch, _): give(.fetched(stretch, nil), now)
        case .open, .forget, .end: break
        }
    }

    /// Sensors rest, and what is not settled goes to disk, within five seconds. The loop serves
    /// meanwhile.
    private func stop() {
        isStopping = true
        light?.finish()
        if let samplingTimer { program.loop.set(samplingTimer, to: nil) }
        // What is still being read comes too late.
        generation += 1
        for driver in events.use([]) { driver.finish() }
        for driver in listeners.drivers { driver.finish() }
        listeners = AdvertisementSensors()
        let end = MonotonicClock.now() + .seconds(5)
        give(.flush, MonotonicClock.now())
        spool?.post(.end(lastSequence: telemeter.readingCount))
        while let spool, !spool.isIdle, MonotonicClock.now() < end {
            guard (try? program.loop.run(until: end)) != nil else { return }
        }
    }

    // MARK: The sensors' side

    private func use(_ settings: [SensorSettings]) {
        generation += 1
        sensors = settings.map { $0.makeDriver(state: program.settings.state, pins: pins) }
        // Ahead of the new ones' first sample: they may want what the earlier hold.
        for driver in events.use(sensors) where !workers.run({ driver.finish() }) {
            driver.finish()
        }
        for driver in listeners.drivers where !workers.run({ driver.finish() }) {
            driver.finish()
        }
        listeners = AdvertisementSensors(sensors)
        program.runner.listen(!listeners.isEmpty)
        channels = sensors.map { KnownChannels($0.name, unit: "1") }
        isOverdue = sensors.map { _ in false }
        health = sensors.map { _ in SensorHealth(now: MonotonicClock.now()) }
        samplers = settings.map { Sampler($0.sampling.shape, channels: $0.sampling.channels) }
        schedule = SamplingSchedule(periods: settings.map(\.every))
        sample(.start, MonotonicClock.now())
    }

    private func sample(_ input: SamplingSchedule.Input, _ now: Instant) {
        for output in schedule.handle(input, now: now) {
            switch output {
            case .sample(let index): begin(index)
            case .overdue(let index): overdue(index, now)
            }
        }
        if let samplingTimer { program.loop.set(samplingTimer, to: schedule.nextDeadline) }
    }

    /// A sensor that hangs is null, and is told of once.
    private func overdue(_ index: Int, _ now: Instant) {
        drops.count(.samplerQueueFull)
        isOverdue[index] = true
        give(channels[index].nulls(.timeout), of: index, from: now, now)
    }

    private func give(
        _ measurements: [Measurement], of index: Int, from time: Instant, _ now: Instant
    ) {
        watch(measurements, of: index, now)
        let shaped = samplers[index].shape(measurements, now: time)
        for refused in samplers[index].takeRefused() {
            log.write(.warning, "\(sensors[index].name): \(refused)")
        }
        for measurement in shaped {
            let time = max(.zero, measurement.time ?? time)
            guard let sample = Sample(measurement, time: time) else {
                drops.count(.reportMalformed)
                continue
            }
            give(.sample(sample), now)
        }
    }

    private func begin(_ index: Int) {
        let (driver, results, generation) = (sensors[index], results, generation)
        let isQueued = workers.run {
            let measurements = driver.sample()
            _ = results.post(
                SensorResult(
                    generation: generation, sensor: index, measurements: measurements,
                    time: MonotonicClock.now()))
        }
        if !isQueued {
            drops.count(.samplerQueueFull)
            _ = schedule.handle(.completed(index), now: MonotonicClock.now())
        }
    }

    private func completed(_ result: SensorResult) {
        guard result.generation == generation else { return }
        let now = MonotonicClock.now()
        _ = schedule.handle(.completed(result.sensor), now: now)
        isOverdue[result.sensor] = false
        channels[result.sensor].note(result.measurements)
        events.compare(result.sensor)
        give(result.measurements, of: result.sensor, from: result.time, now)
    }

    private func heard(_ advertisement: HeardAdvertisement, _ now: Instant) {
        for (sensor, measurements) in listeners.hear(advertisement, now: now) {
            give(measurements, of: sensor, from: now, now)
        }
    }

    // MARK: Reload and status

    /// Takes up the file's sensors; what concerns the network needs a restart.
    private func reload() {
        guard !isStopping else { return }
        switch Settings.load(path) {
        case .bad(let mistakes):
            for mistake in mistakes { log.write(.error, mistake.description) }
            log.write(.error, "\(path): not taken up; the agent goes on as before")
        case .good(let settings):
            NodeProgram.tell(settings, log)
            use(settings.sensors)
            log.write(.notice, "\(path): sensors taken up; other keys at the next start")
        }
    }

    private var statusDetails: [(String, JSONValue)] {
        [
            ("sensors", sensorStatus(MonotonicClock.now())),
            ("statusLED", light.map { .text($0.remark ?? "good") } ?? .null),
            ("firstConnectedNanoseconds", firstConnected.map { .integer($0) } ?? .null),
            ("readings", .integer(telemeter.readingCount)),
            ("readingsWaiting", .integer(telemeter.waitingCount)),
            ("readingsResent", .integer(telemeter.resentCount)),
            ("readingsLost", .integer(telemeter.lostCount)),
            ("journalBytes", .integer(telemeter.memoryByteCount)),
            ("spool", .text(spool == nil ? "none" : spoolFault ?? "good")),
            ("spoolBytes", .integer(spool?.statistics.onDisk ?? 0)),
            ("spoolBytesWritten", .integer(spool?.statistics.written ?? 0)),
            (
                "samplingDrops",
                .object(
                    drops.all.filter { $0.count > 0 }.map {
                        ($0.reason.rawValue, .integer($0.count))
                    })
            ),
        ]
    }

    // MARK: How sensors do

    /// Tells once that a sensor fails, and that it works again.
    private func watch(_ measurements: [Measurement], of index: Int, _ now: Instant) {
        let sensor = sensors[index]
        let isPart = sensor is any EventDriver || sensor is any AdvertisementDriver
        switch health[index].record(measurements, isWhole: !isPart, now: now) {
        case .failed:
            let problem = health[index].problem(detail(of: index), now: now) ?? ""
            log.write(.warning, "\(sensor.name): \(problem)")
        case .recovered: log.write(.notice, "\(sensor.name) gives values again")
        case nil: break
        }
    }

    private func detail(of index: Int) -> String? {
        if isOverdue[index] { return "it is still being read" }
        return sensors[index].fault ?? sensors[index].remark
    }

    private func sensorLines(_ now: Instant) -> [String] {
        guard !sensors.isEmpty else { return ["sensors    none"] }
        let problems = sensors.indices.compactMap { index in
            health[index].problem(detail(of: index), now: now).map {
                "sensor     \(sensors[index].name): \($0)"
            }
        }
        let failing = problems.isEmpty ? "none" : "\(problems.count)"
        return ["sensors    \(sensors.count), \(failing) failing"] + problems
    }

    private func sensorStatus(_ now: Instant) -> JSONValue {
        .array(
            sensors.indices.map { index in
                .object(
                    [("name", .string(sensors[index].name))] + health[index].members(now: now) + [
                        ("fault", .text(sensors[index].fault)),
                        ("remark", .text(sensors[index].remark)),
                    ])
            })
    }

    private static func telemeter(
        _ settings: Settings, run: RunID, hasSpool: Bool
    ) throws(WireError) -> Telemeter {
        let labels = settings.labels.map { Label(key: $0.key, value: $0.value) }
        let node = try NodeDescription(
            name: settings.name, labels: labels, board: ThisMachine.model)
        var telemetry = Telemeter.Settings(run: run, boot: ThisMachine.bootID, node: node)
        telemetry.reportBytesMax = settings.reportSize
        telemetry.wait = settings.reportWait
        telemetry.journal.memoryBytesMax = settings.journalMemory
        telemetry.journal.spoolAfter = hasSpool ? settings.spoolAfter : nil
        return Telemeter(settings: telemetry)
    }
}

extension Sample {
    /// Nil where the channel's name or unit cannot be used.
    fileprivate init?(_ measurement: Measurement, time: Instant) {
        let unit = measurement.unit == "1" ? Unit.none : Unit(measurement.unit)
        guard let unit,
            let channel = ChannelDescription(
                name: measurement.channel, unit: unit,
                scale: measurement.outcome.value?.exponent ?? 0)
        else { return nil }
        self.init(channel: channel, outcome: measurement.outcome, time: time)
    }
}

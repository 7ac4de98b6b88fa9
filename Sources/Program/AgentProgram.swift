import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import Sensors
import Telemetry

/// The agent and the relay: samples sensors, and sends readings to the chosen collector.
public final class AgentProgram {
    private let program: NodeProgram
    private let path: String
    private let log: StandardErrorLog
    private let workers = WorkerPool()
    private let results: Mailbox<SensorResult>
    private var telemeter: Telemeter
    private var collector: PeerID?
    /// When a collector was first addressed, nanoseconds since 1970.
    private var firstConnected: Int64?
    private var sensors: [any SensorDriver] = []
    /// For each sensor, what it gave last, and whether it hangs.
    private var channels: [KnownChannels] = []
    private var isOverdue: [Bool] = []
    private var schedule = SamplingSchedule(periods: [])
    /// Raised with every change of the sensors: results of earlier ones are out of date.
    private var generation = 0
    private var drops = DropCounters()
    private var telemetryTimer: EventLoop.TimerID?
    private var samplingTimer: EventLoop.TimerID?

    /// Told of each reading before it leaves: its run, its number, and what it is.
    package var onReading: ((RunID, UInt64, Sample) -> Void)?

    private struct SensorResult: Sendable {
        var generation: Int
        var sensor: Int
        var measurements: [Measurement]
        var time: Instant
    }

    /// `path` is read again at SIGHUP.
    public init(_ settings: Settings, path: String) throws(StartError) {
        self.path = path
        log = StandardErrorLog()
        program = try NodeProgram(settings, role: Role(settings.role), log: log)
        do {
            results = try Mailbox()
            telemeter = try Self.telemeter(settings, run: program.run)
        } catch {
            throw StartError("\(error)")
        }
    }

    /// Serves until SIGTERM.
    public func run() throws(StartError) {
        let loop = program.loop
        program.runner.onOutput = { [unowned self] in interpret($0, $1) }
        program.onReload = { [unowned self] in reload() }
        program.onStop = { [unowned self] in give(.flush, MonotonicClock.now()) }
        program.statusDetails = { [unowned self] in statusDetails }
        telemetryTimer = loop.addTimer { [unowned self] in give(.deadlineReached, $0) }
        samplingTimer = loop.addTimer { [unowned self] in sample(.deadlineReached, $0) }
        do {
            try loop.register(results) { [unowned self] in completed($0) }
        } catch {
            throw StartError(error)
        }
        use(program.settings.sensors)
        try program.serve()
    }

    // MARK: The node's side

    private func interpret(_ output: Node.Output, _ now: Instant) {
        switch output {
        case .collector(let peer): collectorChanged(peer, now)
        case .message(let bytes, let peer, _, _): give(.received(bytes, from: peer), now)
        case .notice(let notice): log.write(notice.level, notice.text(program.runner))
        case .peer, .viewers, .transmit, .multicast, .broadcast: break
        }
    }

    private func collectorChanged(_ peer: PeerID?, _ now: Instant) {
        if let collector { give(.destinationDown(collector), now) }
        collector = peer
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
            case .spool, .fetch, .forget: break
            }
        }
        if let telemetryTimer { program.loop.set(telemetryTimer, to: telemeter.nextDeadline) }
    }

    // MARK: The sensors' side

    private func use(_ settings: [SensorSettings]) {
        generation += 1
        sensors = settings.map { makeDriver($0) }
        channels = sensors.map { KnownChannels($0.name, unit: "1") }
        isOverdue = sensors.map { _ in false }
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
        if !isOverdue[index] {
            log.write(.warning, "\(sensors[index].name) is still being read; it is null meanwhile")
        }
        isOverdue[index] = true
        give(channels[index].nulls(.timeout), from: now, now)
    }

    private func give(_ measurements: [Measurement], from time: Instant, _ now: Instant) {
        for measurement in measurements {
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
        give(result.measurements, from: result.time, now)
    }

    private func makeDriver(_ settings: SensorSettings) -> any SensorDriver {
        switch settings.driver {
        case .system(let system): SystemDriver(disks: system.disks)
        case .command(let command):
            CommandDriver(
                run: command.run, timeLimit: command.timeLimit, channel: command.name,
                unit: command.unit)
        case .replay(let replay): ReplayDriver(file: replay.file, speed: replay.speed)
        }
    }

    // MARK: Reload and status

    /// Takes up the file's sensors; what concerns the network needs a restart.
    private func reload() {
        switch Settings.load(path) {
        case .bad(let mistakes):
            for mistake in mistakes { log.write(.error, mistake.description) }
            log.write(.error, "\(path): not taken up; the agent goes on as before")
        case .good(let settings):
            use(settings.sensors)
            log.write(.notice, "\(path): sensors taken up; other keys at the next start")
        }
    }

    private var statusDetails: [(String, JSONValue)] {
        [
            (
                "sensors",
                .array(
                    sensors.map { sensor in
                        .string(sensor.name + (sensor.remark.map { ": \($0)" } ?? ""))
                    })
            ),
            ("firstConnectedNanoseconds", firstConnected.map { .integer($0) } ?? .null),
            ("readings", .integer(telemeter.readingCount)),
            ("readingsWaiting", .integer(telemeter.waitingCount)),
            ("readingsResent", .integer(telemeter.resentCount)),
            ("readingsLost", .integer(telemeter.lostCount)),
            ("journalBytes", .integer(telemeter.memoryByteCount)),
            (
                "samplingDrops",
                .object(
                    drops.all.filter { $0.count > 0 }.map {
                        ($0.reason.rawValue, .integer($0.count))
                    })
            ),
        ]
    }

    private static func telemeter(_ settings: Settings, run: RunID) throws(WireError) -> Telemeter {
        let labels = settings.labels.map { Label(key: $0.key, value: $0.value) }
        let node = try NodeDescription(name: settings.name, labels: labels, board: Board.model)
        var telemetry = Telemeter.Settings(run: run, boot: Board.bootID, node: node)
        telemetry.reportBytesMax = settings.reportSize
        telemetry.wait = settings.reportWait
        telemetry.journal.memoryBytesMax = settings.journalMemory
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

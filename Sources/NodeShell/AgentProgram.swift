import AgentComposition
import Boards
import Configuration
import NearbyCore
import NearbyEngine
import NearbyLinux
import Telemetry

/// The agent and the relay: the sockets, drivers, spool and light around an `Agent`.
public final class AgentProgram: NodeOwner {
    let program: NodeProgram
    private let path: String
    let log: StandardErrorLog
    let agent: Agent
    let drivers: SensorDrivers
    let spool: SpoolQueue?
    let light: AgentLight?
    /// When a collector was first addressed, nanoseconds since 1970.
    var firstConnected: Int64?
    private var isStopping = false
    private var outputs = OutputTurns<Agent.Output>()
    /// Told of each reading before it leaves: its run, its number, and what it is.
    package var onReading: ((RunID, UInt64, Sample) -> Void)?

    /// `path` is read again at SIGHUP.
    public init(
        _ settings: Settings, path: String,
        log: StandardErrorLog = StandardErrorLog(showsTimes: true)
    ) throws(StartError) {
        self.path = path
        self.log = log
        program = try NodeProgram(settings, role: Role(settings.role), log: log)
        let pins = BoardPins()
        light = settings.statusLED.map { [program] in
            AgentLight($0, pins: pins, loop: program.loop)
        }
        do {
            drivers = try SensorDrivers(program, pins: pins)
            spool = try SpoolQueue(program)
            let telemetry = try Telemeter.Settings(
                settings, run: program.run, hasSpool: spool != nil)
            agent = Agent(node: program.runner.makeNode(), telemetry: telemetry)
        } catch {
            throw StartError(error)
        }
        program.runner.owner = self
    }

    /// Serves until SIGTERM.
    public func run() throws(StartError) {
        light?.show(.starting)
        drivers.onReport = { [unowned self] in handle(.reported($0, $1), $2) }
        program.runner.bluetooth.onAdvertisement = { [unowned self] in
            drivers.receive($0, now: $1)
        }
        program.onReload = { [unowned self] in reload() }
        program.onStop = { [unowned self] in stop() }
        program.onClock = { [unowned self] in handle(.clock($0), $1) }
        tellStatus()
        do {
            try program.loop.register(drivers.results) { [unowned self] in sampled($0) }
            if let spool {
                try program.loop.register(spool.answers) { [unowned self] in answered($0) }
            }
        } catch {
            throw StartError(error)
        }
        handle(.start, MonotonicClock.now())
        apply(program.settings.sensors)
        showState()
        try program.serve()
    }

    // MARK: The agent

    public var node: Node { agent.node }

    public var nextDeadline: Instant? { agent.nextDeadline }

    public func handle(_ inputs: [Node.Input], now: Instant) { handle(.network(inputs), now) }

    public func deadlineReached(now: Instant) { handle(.deadlineReached, now) }

    /// What comes of an input while outputs are carried out has its turn after them.
    private func handle(_ input: Agent.Input, _ now: Instant) {
        guard outputs.begin(with: agent.handle(input, now: now)) else { return }
        while let output = outputs.next() { carryOut(output, now) }
        program.runner.settled(now)
    }

    private func carryOut(_ output: Agent.Output, _ now: Instant) {
        switch output {
        case .node(.transmit(let transmission)): program.runner.carryOut(transmission, now)
        case .sample(let sensor, let generation):
            if !drivers.sample(sensor, generation: generation) { handle(.notAsked(sensor), now) }
        case .spool(let job): spool?.post(job)
        case .node(.event(let event)):
            program.record(event, now)
            tell(event)
        case .event(let event): tell(event, now)
        }
    }

    // MARK: Sensors and spool

    private func apply(_ settings: [SensorSettings]) {
        let plans = drivers.apply(settings)
        program.runner.bluetooth.listen(drivers.areListening)
        handle(.configure(plans), MonotonicClock.now())
    }

    private func sampled(_ result: SensorDrivers.Result) {
        drivers.sampled(result.sensor)
        let input = Agent.Input.measured(
            result.sensor, generation: result.generation, result.measurements, at: result.time)
        handle(input, MonotonicClock.now())
    }

    private func answered(_ message: SpoolQueue.Message) {
        guard let spool else { return }
        let answer = spool.receive(message)
        handle(.spool(answer), MonotonicClock.now())
        if case .opened = answer { return }
        spool.finished()
        if isStopping, spool.isIdle { program.loop.stop() }
    }

    /// Takes up the file's sensors; what concerns the network needs a restart.
    private func reload() {
        guard !isStopping else { return }
        switch Settings.load(path) {
        case .bad(let mistakes):
            for mistake in mistakes { log.write(.error, mistake.description) }
            log.write(.error, "\(path): not applied; the agent goes on as before")
        case .good(let settings):
            StartWarnings.tell(settings, log)
            apply(settings.sensors)
            log.write(.diagnostic, "\(path): sensors reloaded; other keys need a restart")
        }
    }

    /// Sensors rest, and what is not settled goes to disk, within five seconds. The loop serves
    /// meanwhile.
    private func stop() {
        isStopping = true
        light?.finish()
        drivers.finish()
        let end = MonotonicClock.now() + .seconds(5)
        handle(.finish, MonotonicClock.now())
        while let spool, !spool.isIdle, MonotonicClock.now() < end {
            guard (try? program.loop.run(until: end)) != nil else { return }
        }
    }
}

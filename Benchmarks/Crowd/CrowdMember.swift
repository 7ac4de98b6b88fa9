import AgentComposition
import Configuration
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NodeShell
import Sampling
import Telemetry

/// An agent as it is, but for its drivers: its one sensor answers at once.
final class CrowdMember: NodeOwner {
    private let runner: NodeRunner
    private let agent: Agent
    private let names: [String]
    private let period: Duration
    private var value: Int64
    private var outputs = OutputTurns<Agent.Output>()
    private(set) var readingCount = 0

    init(
        _ settings: Settings, number: Int, channelCount: Int, period: Duration, loop: EventLoop
    ) throws {
        let identity = NodeIdentity.makeEphemeral()
        let run = RunID(value: systemRandom())
        var settings = settings
        settings.name = "\(settings.name)-\(number)"
        let options = try NodeOptions(settings, role: .agent, run: run, identity)
        let log = StandardErrorLog(threshold: .error)
        runner = try NodeRunner(options, identity: identity, loop: loop, log: log)
        var telemetry = try Telemeter.Settings(settings, run: run, hasSpool: false)
        // Other machines: their clocks are not this one's.
        telemetry.boot = BootID(high: systemRandom(), low: systemRandom())
        names = (1...channelCount).map { "channel \($0)" }
        self.period = period
        value = Int64(number) * 1_000
        agent = Agent(node: runner.makeNode(), telemetry: telemetry)
        runner.owner = self
    }

    func start() throws {
        try runner.start()
        let now = MonotonicClock.now()
        give(.start, now)
        give(.clock(ClockReading(WallClock.read())), now)
        give(.configure([Agent.SensorPlan("sensor", period: period)]), now)
    }

    /// Whether there is a channel with the collector that it chose.
    var hasCollector: Bool {
        agent.node.collector.map { agent.node.name(of: $0) != nil } ?? false
    }
    var waitingCount: Int { agent.telemeter.waitingCount }

    var node: Node { agent.node }
    var nextDeadline: Instant? { agent.nextDeadline }
    func handle(_ inputs: [Node.Input], now: Instant) { give(.network(inputs), now) }
    func deadlineReached(now: Instant) { give(.deadlineReached, now) }

    private func give(_ input: Agent.Input, _ now: Instant) {
        guard outputs.begin(with: agent.handle(input, now: now)) else { return }
        while let output = outputs.next() { carryOut(output, now) }
        runner.settled(now)
    }

    private func carryOut(_ output: Agent.Output, _ now: Instant) {
        switch output {
        case .node(.transmit(let transmission)): runner.carryOut(transmission, now)
        case .node(.event(let event)): runner.record(event, now)
        case .sample(let sensor, let generation):
            value += 1
            readingCount += names.count
            let measurements = names.map { Measurement($0, "Cel", value, exponent: -2) }
            give(.measured(sensor, generation: generation, measurements, at: now), now)
        case .spool, .event: break
        }
    }
}

import NearbyCore
import NearbyEngine

/// A planned site from the moment at which all of it gets power: how long it takes to come
/// together, how it carries messages, what it costs when idle, and what becomes of it when nodes
/// die.
public final class SiteRun {
    public let plan: SitePlan
    public let simulator: Simulator
    public private(set) var report = SiteReport()
    private var motion: SiteMotion
    /// Those from which a packet can get to a collector at all.
    private(set) var reachable: [Int] = []

    /// - Parameter checksRoutes: after every step; without, only at the end of each part.
    public init(_ plan: SitePlan, checksRoutes: Bool = true) {
        precondition(plan.fault == nil, "a plan with a fault")
        self.plan = plan
        let world = World(plan)
        var faults = Faults()
        faults.lossPercent = plan.lossPercent
        faults.delay =
            plan.shape == .random
            ? .milliseconds(1)..<Duration.milliseconds(3)
            : .microseconds(200)..<Duration.microseconds(400)
        simulator = Simulator(seed: plan.seed, world: world, faults: faults)
        simulator.trafficInterval = nil
        simulator.sendsReliably = false
        simulator.invariants.checksEveryStep = checksRoutes
        motion = SiteMotion(plan, world)
    }

    /// Whether nodes stay where they are, and on: what is promised of paths is promised of these.
    var isStill: Bool { motion.isStill }

    /// Runs all parts; `progress` is told of each line of the report when it is known.
    ///
    /// - Parameter hasDeaths: without, nobody dies and no link flaps.
    public func run(
        hasDeaths: Bool = true, progress: (SiteReport.Fact) -> Void = { _ in }
    ) -> SiteReport {
        let quiet: [() -> Void] = [
            start, rest, carry, countWakes, idle, countChannels, measurePaths,
        ]
        let parts = hasDeaths ? quiet + [killRelays, killCollector, flap] : quiet
        var told = 0
        for part in parts where simulator.invariants.failures.isEmpty {
            part()
            for fact in report.facts[told...] { progress(fact) }
            told = report.facts.count
        }
        report.failures = simulator.invariants.failures
        return report
    }

    // MARK: Time

    func advance(_ time: Duration) {
        let end = simulator.now + time
        while simulator.now < end {
            motion.advance(simulator)
            simulator.run(for: min(.milliseconds(100), end - simulator.now))
        }
    }

    func add(_ name: String, _ value: String, _ verdict: SiteReport.Verdict = .none) {
        report.add(name, value, verdict)
    }

    var agents: [Host] { simulator.hosts.filter { !$0.role.collects } }
    var collectors: [Host] { simulator.hosts.filter(\.role.collects) }

    // MARK: Coming together

    func start() {
        simulator.boot(within: .seconds(1))
        advance(.seconds(1))
        let graph = TrueGraph(simulator)
        let distances = graph.distances(from: collectors.map(\.number))
        let joined = agents.filter { distances[$0.number] != nil }
        reachable = joined.map(\.number).filter {
            (distances[$0]?.hops ?? .max) <= Self.hopsMax
        }
        add("nodes", "\(plan.nodes), \(plan.collectors) of them collectors")
        if joined.count < agents.count {
            add("parted", "\(agents.count - joined.count) hear nobody who leads to a collector")
        }
        if reachable.count < joined.count {
            add(
                "too far",
                "\(joined.count - reachable.count) are more than \(Self.hopsMax) links from every "
                    + "collector, where no packet comes")
        }
        let began = simulator.now - Instant.zero
        var times: [Int: Duration] = [:]
        while simulator.now < Instant.zero + Self.patience {
            for number in reachable
            where times[number] == nil && simulator.hosts[number].collector != nil {
                times[number] = simulator.now - Instant.zero
            }
            if times.count == reachable.count { break }
            guard simulator.invariants.failures.isEmpty else { return }
            advance(.milliseconds(100))
        }
        let median = Figure.quantile(0.5, of: Array(times.values)) ?? began
        let last = times.values.max() ?? began
        let lonely = reachable.count - times.count
        if lonely > 0 {
            add(
                "connected",
                "\(times.count) of \(reachable.count) after \(Figure.seconds(Self.patience)), half "
                    + "after \(Figure.seconds(median))", .missed("all"))
        } else {
            add(
                "connected",
                "all after \(Figure.seconds(last)), half after \(Figure.seconds(median))")
        }
    }

    /// Until no next hop has changed for two seconds.
    private func rest() {
        let start = simulator.now
        var last = start
        var versions = routesVersions
        let patience = Duration.seconds(motion.isStill ? 30 : 10)
        while simulator.now - start < patience, simulator.now - last < .seconds(2) {
            advance(.milliseconds(500))
            let current = routesVersions
            if current != versions { last = simulator.now }
            versions = current
        }
        let isQuiet = simulator.now - last >= .seconds(2)
        add(
            "routes settled",
            isQuiet
                ? "after \(Figure.seconds(last - Instant.zero))"
                : "not within \(Figure.seconds(patience)) more"
                    + (motion.isStill ? "" : ": nodes come and go"))
        if motion.isStill { simulator.invariants.checkNow(simulator) }
    }

    var routesVersions: [UInt64] { simulator.hosts.map(\.routesVersion) }

    // MARK: Carrying

    private func carry() {
        var arrivals: [ArrivedMessage] = []
        simulator.heard = { arrivals.append($0) }
        let sentBefore = simulator.hosts.map(\.messagesSentInAll)
        let bytesBefore = simulator.sent.bytes
        simulator.startTraffic(every: plan.interval)
        let time = max(Duration.seconds(motion.isStill ? 15 : 60), plan.interval * 3)
        advance(time)
        let bytes = zip(simulator.sent.bytes, bytesBefore).map { $0 - $1 }
        simulator.trafficInterval = nil
        advance(.seconds(3))
        simulator.heard = nil
        let sent = zip(simulator.hosts, sentBefore).reduce(0) {
            $0 + Int($1.0.messagesSentInAll - $1.1)
        }
        add(
            "delivered",
            "\(arrivals.count) of \(sent) messages: \(Figure.percent(arrivals.count, of: sent))")
        let hops = arrivals.map(\.hops)
        let meanHops = Double(hops.reduce(0, +)) / Double(max(1, hops.count))
        add("hops", "\(Figure.decimal(meanHops)) on average, \(hops.max() ?? 0) at most")
        if let median = Figure.quantile(0.5, of: arrivals.map(\.time)),
            let late = Figure.quantile(0.99, of: arrivals.map(\.time))
        {
            add(
                "underway",
                "\(Figure.seconds(median)) half of them, \(Figure.seconds(late)) 99 of 100")
        }
        let seconds = Double(time.milliseconds) / 1_000
        let total = Double(bytes.reduce(0, +)) / seconds
        let busiest = bytes.indices.max { bytes[$0] < bytes[$1] } ?? 0
        add(
            "sent",
            "\(Figure.bytes(total)) a second by all, \(Figure.bytes(total / Double(plan.nodes))) a "
                + "node, \(Figure.bytes(Double(bytes[busiest]) / seconds)) by node \(busiest)")
    }

    private func countWakes() {
        guard !motion.sleepers.isEmpty else { return }
        guard let median = Figure.quantile(0.5, of: motion.wakeTimes),
            let worst = motion.wakeTimes.max()
        else { return add("woken", "nobody yet") }
        add(
            "woken",
            "\(motion.wakeTimes.count) times; with a collector after \(Figure.seconds(median)) "
                + "half of the time, \(Figure.seconds(worst)) at worst")
    }

    // MARK: Idle

    private func idle() {
        // Until each has sent its beacon twice, and those that hear of better neighbours have them.
        advance(.seconds(motion.isStill ? 60 : 5))
        let before = simulator.sent.bytes
        let lostBefore = simulator.sent.neighboursLost
        advance(.seconds(Self.idleSeconds))
        let lost = simulator.sent.neighboursLost - lostBefore
        var total = 0.0
        var hopCount = 0
        var worst = (rate: 0.0, host: 0)
        for host in simulator.hosts where host.isUp {
            let neighbours = host.node?.neighbourStatus.count ?? 0
            guard neighbours > 0 else { continue }
            let rate =
                Double(simulator.sent.bytes[host.number] - before[host.number])
                / Double(Self.idleSeconds)
            total += rate
            hopCount += neighbours
            if rate / Double(neighbours) > worst.rate {
                worst = (rate / Double(neighbours), host.number)
            }
        }
        let text =
            "\(Figure.bytes(total / Double(max(1, hopCount)))) a second and neighbour, "
            + "\(Figure.bytes(worst.rate)) by node \(worst.host)"
            + (lost > 0 ? "; neighbours lost: \(lost)" : "")
        add("idle", text, motion.isStill ? .init(worst.rate <= 200, "200 B") : .none)
    }

    private func countChannels() {
        let counts = agents.map { host in
            (
                host.node?.neighbourStatus.filter { $0.role?.collects != true }.count ?? 0,
                host.number
            )
        }
        guard let most = counts.max(by: { $0 < $1 }) else { return }
        let neighbours = agents.map { $0.node?.neighbourStatus.count ?? 0 }
        let mean = Double(neighbours.reduce(0, +)) / Double(max(1, agents.count))
        let text =
            "\(most.0) neighbours at most beside the collector (node \(most.1)), "
            + "\(Figure.decimal(mean)) on average"
        add("channels", text, plan.shape == .lan ? .init(most.0 <= 8, "8 on a LAN") : .none)
    }

    /// A packet's hop limit.
    static let hopsMax = 64
    private static let idleSeconds = 60
    /// For all to have a collector.
    static let patience = Duration.seconds(180)
}

import AgentComposition
import NearbyCore
import NearbyEngine
import NearbyLinux
import Sensors
import Telemetry

/// What the log, the light and `rivulet status` say of an agent beside its node.
extension AgentProgram {
    func tell(_ event: Node.Event) {
        guard case .collector(let peer) = event else { return }
        showState()
        guard let peer else { return log.write(.diagnostic, "no collector in reach") }
        if firstConnected == nil { firstConnected = WallClock.read().unixNanoseconds }
        log.write(.information, "collector: \(node.name(of: peer) ?? "\(peer)")")
    }

    func showState() {
        let hasCollector = node.collector != nil
        light?.show(agent.spoolFault != nil ? .fault : hasCollector ? .connected : .searching)
    }

    func tell(_ event: Agent.Event, _ now: Instant) {
        switch event {
        case .reading(let number, let sample): onReading?(program.run, number, sample)
        case .said: break
        case .sensorFailed(let sensor):
            log.write(.warning, "\(name(of: sensor)): \(problem(of: sensor, now) ?? "")")
        case .sensorRecovered(let sensor):
            log.write(.diagnostic, "\(name(of: sensor)) gives values again")
        case .unitRefused(let sensor, let refused):
            log.write(.warning, "\(name(of: sensor)): \(refused)")
        case .spoolFailed(let fault):
            log.write(.error, "spool: \(fault): readings wait in memory only")
            showState()
        case .spoolWorks:
            log.write(.diagnostic, "the spool works again")
            showState()
        case .spoolDiagnostic(let diagnostic): log.write(.warning, "spool: \(diagnostic)")
        }
    }

    func tellStatus() {
        program.additions.details = { [unowned self] in statusDetails }
        program.additions.lines = { [unowned self] in sensorLines(MonotonicClock.now()) }
        program.additions.summary = { [unowned self] in
            let telemeter = agent.telemeter
            return "journal    \(telemeter.waitingCount) readings wait, "
                + "\(telemeter.lostCount) lost"
        }
    }

    func name(of sensor: Int) -> String { drivers.drivers[sensor].name }

    /// What is wrong with a sensor; nil while nothing is.
    func problem(of sensor: Int, _ now: Instant) -> String? {
        guard let (health, isOverdue) = agent.sensors.status(of: sensor) else { return nil }
        let driver = drivers.drivers[sensor]
        let detail = isOverdue ? "it is still being read" : driver.fault ?? driver.diagnostic
        return health.problem(detail, now: now)
    }

    private var statusDetails: [(String, JSONValue)] {
        let telemeter = agent.telemeter
        return [
            ("sensors", sensorStatus(MonotonicClock.now())),
            ("statusLED", light.map { .text($0.diagnostic ?? "good") } ?? .null),
            ("firstConnectedNanoseconds", firstConnected.map { .integer($0) } ?? .null),
            ("readings", .integer(telemeter.readingCount)),
            ("readingsWaiting", .integer(telemeter.waitingCount)),
            ("readingsResent", .integer(telemeter.resentCount)),
            ("readingsLost", .integer(telemeter.lostCount)),
            ("journalBytes", .integer(telemeter.memoryByteCount)),
            ("spool", .text(spool == nil ? "none" : agent.spoolFault ?? "good")),
            ("spoolBytes", .integer(spool?.statistics.onDisk ?? 0)),
            ("spoolBytesWritten", .integer(spool?.statistics.written ?? 0)),
            (
                "samplingDrops",
                .object(
                    agent.drops.all.filter { $0.count > 0 }.map {
                        ($0.reason.rawValue, .integer($0.count))
                    })
            ),
        ]
    }

    private func sensorLines(_ now: Instant) -> [String] {
        let drivers = drivers.drivers
        guard !drivers.isEmpty else { return ["sensors    none"] }
        let problems = drivers.indices.compactMap { sensor in
            problem(of: sensor, now).map { "sensor     \(drivers[sensor].name): \($0)" }
        }
        let failing = problems.isEmpty ? "none" : "\(problems.count)"
        return ["sensors    \(drivers.count), \(failing) failing"] + problems
    }

    private func sensorStatus(_ now: Instant) -> JSONValue {
        .array(
            drivers.drivers.enumerated().map { sensor, driver in
                let health = agent.sensors.status(of: sensor)?.health.members(now: now) ?? []
                return .object(
                    [("name", .string(driver.name))] + health + [
                        ("fault", .text(driver.fault)), ("remark", .text(driver.diagnostic)),
                    ])
            })
    }
}

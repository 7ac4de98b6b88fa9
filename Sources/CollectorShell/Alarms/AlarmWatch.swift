import Alarms
import CollectorComposition
import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Telemetry

/// The alarms of a collector, the shell of `AlarmNotifier`: notifies whom the configuration names,
/// and writes what is kept, on threads that may wait.
final class AlarmWatch {
    private enum Result: Sendable {
        case told(target: String, fault: String?)
        case saved(fault: String?)
    }

    private unowned let program: NodeProgram
    private unowned let collector: CollectorNode
    private let workers = WorkerPool(threads: 1, most: 16)
    private let results: Mailbox<Result>
    private let record: AlarmRecordFile
    private var settings: [AlarmSettings]
    private var words: [AgentWords]
    private var targets: AlarmTargets
    private var notifier: AlarmNotifier
    private var saveFault: String?
    private var isStopping = false
    private var timer: EventLoop.TimerID?

    init(
        _ program: NodeProgram, _ collector: CollectorNode, _ settings: CollectorSettings
    ) throws(SystemError) {
        self.program = program
        self.collector = collector
        results = try Mailbox()
        record = AlarmRecordFile(path: settings.node.state + "/alarms")
        self.settings = settings.alarms
        words = settings.agents
        targets = AlarmTargets(settings.alarms)
        notifier = AlarmNotifier(AlarmNotifier.Plan(settings, targets))
    }

    func start(_ now: Instant) throws(SystemError) {
        try program.loop.register(results) { [unowned self] in finished($0, MonotonicClock.now()) }
        timer = program.loop.addTimer { [unowned self] in tick($0) }
        if !settings.isEmpty {
            handle(.restored(record.load { program.log.write(.warning, $0) }), now)
        }
        setTimer(now)
    }

    /// The configuration was read again.
    func use(_ settings: CollectorSettings, _ now: Instant) {
        guard settings.alarms != self.settings || settings.agents != words else { return }
        self.settings = settings.alarms
        words = settings.agents
        let known = AlarmTargets(settings.alarms)
        targets = known.with(targets)
        handle(.planned(AlarmNotifier.Plan(settings, known)), now)
        targets = known
        setTimer(now)
    }

    /// Before the program ends: what is being told counts as told if that ends soon, and the file
    /// says what waits.
    func stop() {
        isStopping = true
        let end = MonotonicClock.now() + .milliseconds(500)
        while notifier.isBusy, MonotonicClock.now() < end {
            for result in results.take() { finished(result, MonotonicClock.now()) }
            usleep(1_000)
        }
        guard let bytes = notifier.lastRecord() else { return }
        if let fault = record.save(bytes) { program.log.write(.warning, fault) }
    }

    /// For the page, tables and brokers.
    var shown: [FleetAlarm] {
        notifier.alarms(unixOffset: collector.shownOffset, now: MonotonicClock.now())
    }

    /// Nodes, channels and conditions for which there was no room.
    var overflowCount: UInt64 { notifier.overflowCount }

    func note(_ event: CollectorNode.Event, _ now: Instant) {
        guard !settings.isEmpty else { return }
        switch event {
        case .accepted(let delivery): handle(.delivered(delivery), now)
        case .born(let peer, let birth): handle(.born(peer, birth), now)
        case .window, .windowsFull, .diagnostic, .said, .dropped, .storeFailed, .storeWorks,
            .storeDiagnostic:
            break
        }
    }

    private func tick(_ now: Instant) {
        let nodes = notifier.watchesSilence ? program.runner.node.knownNodes : []
        handle(.deadlineReached(reachable: nodes.filter(\.isReachable).map(\.peer)), now)
        setTimer(now)
    }

    private func finished(_ result: Result, _ now: Instant) {
        switch result {
        case .told(let target, let fault):
            handle(.finished(target: target, fault: fault), now)
            setTimer(now)
        case .saved(let fault):
            handle(.saved(fault == nil), now)
            // Once, however often it is tried.
            if let fault, fault != saveFault { program.log.write(.warning, fault) }
            saveFault = fault
        }
    }

    // MARK: What the notifier asks for

    private func handle(_ input: AlarmNotifier.Input, _ now: Instant) {
        let outputs = notifier.handle(input, unixOffset: collector.shownOffset, now: now)
        guard !outputs.isEmpty else { return }
        for output in outputs {
            switch output {
            case .changed(let change):
                program.log.write(change.isActive ? .warning : .diagnostic, change.text)
            case .warn(let text): program.log.write(.warning, text)
            case .send(let change, let target): send(change, to: target, now)
            case .save(let bytes): save(bytes, now)
            }
        }
        setTimer(now)
    }

    private func send(_ change: AlarmChange, to name: String, _ now: Instant) {
        guard !isStopping, let target = targets[name] else { return }
        let message = AlarmMessage(
            change, unixOffset: collector.shownOffset, collector: program.settings)
        let results = results
        let isTaken = workers.run {
            _ = results.post(.told(target: name, fault: target.fault(telling: message)))
        }
        if !isTaken {
            finished(.told(target: name, fault: "too many notifications are waiting"), now)
        }
    }

    private func save(_ bytes: [UInt8], _ now: Instant) {
        let (record, results) = (record, results)
        let isTaken = workers.run { _ = results.post(.saved(fault: record.save(bytes))) }
        if !isTaken { handle(.saved(false), now) }
    }

    private func setTimer(_ now: Instant) {
        guard let timer else { return }
        program.loop.set(timer, to: notifier.nextDeadline(now: now))
    }
}

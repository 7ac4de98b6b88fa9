import Alarms
import CollectorComposition
import CollectorConfiguration
import Configuration
import DurableFiles
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Outputs
import Telemetry

/// The alarms of a collector: follows what it hears, tells whom the configuration names, and keeps
/// what was told, so that a restart tells nothing twice.
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
    private var machine: AlarmMachine
    /// Of the machines before this one.
    private var formerOverflowCount: UInt64 = 0
    private var dispatch = AlarmDispatch()
    private var targets = AlarmTargets()
    private var book = AlarmBook()
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
        machine = AlarmMachine(
            rules: settings.alarms.map(AlarmRule.init), words: FleetWords(settings.agents))
    }

    func start(_ now: Instant) throws(SystemError) {
        try program.loop.register(results) { [unowned self] in finished($0, MonotonicClock.now()) }
        timer = program.loop.addTimer { [unowned self] in tick($0) }
        targets = AlarmTargets(settings)
        _ = dispatch.handle(.targets(targets.names), now: now)
        if !settings.isEmpty {
            book = AlarmBook(record.load { program.log.write(.warning, $0) })
            carryOut(book.waiting.flatMap { enqueue($0, now) }, now)
            restore(now)
        }
        setTimer(now)
    }

    /// The configuration was read again.
    func use(_ settings: CollectorSettings, _ now: Instant) {
        guard settings.alarms != self.settings || settings.agents != words else { return }
        self.settings = settings.alarms
        words = settings.agents
        book.nodes = machine.knownNodes
        formerOverflowCount = overflowCount
        machine = AlarmMachine(
            rules: settings.alarms.map(AlarmRule.init), words: FleetWords(settings.agents),
            after: machine)
        // The clearing of alarms that no rule matches is also sent to targets about to go.
        let known = AlarmTargets(settings.alarms)
        targets = known.with(targets)
        restore(now)
        targets = known
        carryOut(dispatch.handle(.targets(known.names), now: now), now)
        setTimer(now)
    }

    /// Before the program ends: what is being told counts as told if that ends soon, and the file
    /// says what waits.
    func stop() {
        isStopping = true
        let end = MonotonicClock.now() + .milliseconds(500)
        while dispatch.isSending || book.isSaving, MonotonicClock.now() < end {
            for result in results.take() { finished(result, MonotonicClock.now()) }
            usleep(1_000)
        }
        guard let bytes = book.toSave() else { return }
        if let fault = record.save(bytes) { program.log.write(.warning, fault) }
    }

    /// For the page, tables and brokers.
    var shown: [FleetAlarm] {
        machine.alarms(unixOffset: collector.shownOffset, now: MonotonicClock.now())
    }

    /// Nodes, channels and conditions for which there was no room.
    var overflowCount: UInt64 { formerOverflowCount &+ machine.overflowCount }

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

    // MARK: What happens

    private func tick(_ now: Instant) {
        if settings.contains(where: { $0.condition == .silent }) {
            let nodes = program.runner.node.knownNodes
            handle(.reachable(nodes.filter(\.isReachable).map(\.peer)), now)
            book.nodes = machine.knownNodes
        }
        handle(.deadlineReached, now)
        carryOut(dispatch.handle(.deadlineReached, now: now), now)
        save()
        setTimer(now)
    }

    private func handle(_ input: AlarmMachine.Input, _ now: Instant) {
        let outputs = machine.handle(input, now: now)
        guard !outputs.isEmpty else { return }
        tell(outputs, now)
        setTimer(now)
    }

    private func tell(_ outputs: [AlarmMachine.Output], _ now: Instant) {
        for case .changed(let change) in outputs {
            program.log.write(change.isActive ? .warning : .diagnostic, change.text)
            let told = book.note(
                change, targets: targets.names(ofRule: change.rule),
                unixOffset: collector.shownOffset)
            carryOut(dispatch.handle(.change(change, targets: told), now: now), now)
        }
    }

    /// What is on its way stands in the file before it goes.
    private func carryOut(_ outputs: [AlarmDispatch.Output], _ now: Instant) {
        let offset = collector.shownOffset
        book.waiting = dispatch.waiting.map {
            AlarmRecord.Waiting($0.change, target: $0.target, unixOffset: offset)
        }
        save()
        for output in outputs {
            switch output {
            case .send(let change, let target): send(change, to: target, now)
            case .warn(let text): program.log.write(.warning, text)
            }
        }
    }

    private func send(_ change: AlarmChange, to name: String, _ now: Instant) {
        guard !isStopping, let target = targets[name] else { return }
        let offset = collector.shownOffset
        let message = AlarmMessage(
            json: change.json(
                unixOffset: offset, collector: program.settings.name,
                network: program.settings.network),
            environment: change.environment(unixOffset: offset).map { "\($0.name)=\($0.value)" })
        let results = results
        let isTaken = workers.run {
            var fault: String?
            do throws(OutputFault) {
                try target.tell(message)
            } catch {
                fault = error.description
            }
            _ = results.post(.told(target: name, fault: fault))
        }
        if !isTaken {
            finished(.told(target: name, fault: "too many notifications are waiting"), now)
        }
    }

    private func finished(_ result: Result, _ now: Instant) {
        switch result {
        case .told(let target, let fault):
            carryOut(dispatch.handle(.finished(target: target, fault: fault), now: now), now)
            setTimer(now)
        case .saved(let fault):
            book.saved(fault == nil)
            if fault == nil { save() }
            // Once, however often it is tried.
            if let fault, fault != saveFault { program.log.write(.warning, fault) }
            saveFault = fault
        }
    }

    // MARK: Parts

    private func setTimer(_ now: Instant) {
        guard let timer else { return }
        // The first look comes without a reading: nodes that never come are noticed.
        let due = settings.isEmpty ? nil : machine.nextDeadline ?? now + .seconds(1)
        program.loop.set(timer, to: [due, dispatch.nextDeadline].compactMap { $0 }.min())
    }

    /// What was to be told when the program ended.
    private func enqueue(
        _ waiting: AlarmRecord.Waiting, _ now: Instant
    ) -> [AlarmDispatch.Output] {
        let rule = settings.firstIndex { $0.name == waiting.alarm }
        let change = AlarmChange(waiting, rule: rule, unixOffset: collector.shownOffset)
        return dispatch.handle(.change(change, targets: [waiting.target]), now: now)
    }

    private func restore(_ now: Instant) {
        let input = AlarmMachine.Input.restored(
            book.record, unixOffset: collector.shownOffset)
        tell(machine.handle(input, now: now), now)
    }

    private func save() {
        guard let bytes = book.toSave() else { return }
        let (record, results) = (record, results)
        let isTaken = workers.run { _ = results.post(.saved(fault: record.save(bytes))) }
        if !isTaken { book.saved(false) }
    }
}

import Collector
import Fleet
import NearbyCore
import Telemetry

/// Everything that is decided about alarms: which of them hold (`AlarmMachine`), who is notified of
/// that and when (`AlarmDispatch`), and what is kept of it (`AlarmBook`), so that no restart
/// notifies anybody twice.
///
/// A notification is in a record that is to be saved before it is to be sent.
public struct AlarmNotifier: Sendable {
    /// What is watched, and who is notified.
    public struct Plan: Sendable {
        public var rules: [AlarmRule] = []
        public var words = FleetWords.none
        /// The targets of each rule, by their names.
        public var targetsOfRules: [[String]] = []

        public init() {}

        fileprivate var targets: Set<String> { Set(targetsOfRules.joined()) }
    }

    public enum Input: Sendable {
        /// Once, before all others, where anything is watched: what was kept.
        case restored(AlarmRecord)
        case born(PeerID, Birth)
        case delivered(Delivery)
        /// - Parameter reachable: the nodes in reach, where `watchesSilence` is true.
        case deadlineReached(reachable: [PeerID])
        /// What `send` asked for has ended. Nil: the target was notified.
        case finished(target: String, fault: String?)
        /// What `save` asked for has ended.
        case saved(Bool)
        /// The plan has changed. Targets of the former plan may still be sent to, before all that
        /// comes later.
        case planned(Plan)
    }

    public enum Output: Hashable, Sendable {
        /// For the log.
        case changed(AlarmChange)
        case warn(String)
        case send(AlarmChange, target: String)
        /// The whole record. One write is under way at a time.
        case save([UInt8])
    }

    private var plan: Plan
    private var machine: AlarmMachine
    private var dispatch = AlarmDispatch()
    private var book = AlarmBook()
    /// Of the machines before this one.
    private var formerOverflowCount: UInt64 = 0

    public init(_ plan: Plan) {
        self.plan = plan
        machine = AlarmMachine(rules: plan.rules, words: plan.words)
        _ = dispatch.handle(.targets(plan.targets), now: .zero)
    }

    /// - Parameter unixOffset: added to our clock gives UTC.
    public mutating func handle(
        _ input: Input, unixOffset: Duration, now: Instant
    ) -> [Output] {
        var step = Step(unixOffset: unixOffset, now: now)
        switch input {
        case .restored(let record): restore(record, &step)
        case .born(let peer, let birth): watch(.born(peer, birth), &step)
        case .delivered(let delivery): watch(.delivered(delivery), &step)
        case .deadlineReached(let reachable): tick(reachable, &step)
        case .finished(let target, let fault):
            pass(dispatch.handle(.finished(target: target, fault: fault), now: now), &step)
        case .saved(let isWritten):
            book.saved(isWritten)
            if isWritten { save(&step) }
        case .planned(let plan): change(plan, &step)
        }
        return step.outputs
    }

    // MARK: What is known

    /// The first look comes without a reading: nodes that never come are noticed.
    public func nextDeadline(now: Instant) -> Instant? {
        let due = plan.rules.isEmpty ? nil : machine.nextDeadline ?? now + .seconds(1)
        return [due, dispatch.nextDeadline].compactMap { $0 }.min()
    }

    public var watchesSilence: Bool { plan.rules.contains { $0.condition == .silent } }

    /// Nodes, channels and conditions for which there was no room.
    public var overflowCount: UInt64 { formerOverflowCount &+ machine.overflowCount }

    /// Whether a notification or the record is on its way.
    public var isBusy: Bool { dispatch.isSending || book.isSaving }

    /// Those that hold, then those that ended within a day.
    public func alarms(unixOffset: Duration, now: Instant) -> [FleetAlarm] {
        machine.alarms(unixOffset: unixOffset, now: now)
    }

    /// At the end, what is still to be saved, if no write is under way.
    public mutating func lastRecord() -> [UInt8]? { book.toSave() }

    // MARK: Parts

    private struct Step {
        let unixOffset: Duration
        let now: Instant
        var outputs: [Output] = []
    }

    /// What was to be sent when the program ended comes first.
    private mutating func restore(_ record: AlarmRecord, _ step: inout Step) {
        book = AlarmBook(record)
        var sent: [AlarmDispatch.Output] = []
        for waiting in book.waiting {
            let rule = plan.rules.firstIndex { $0.name == waiting.alarm }
            let change = AlarmChange(waiting, rule: rule, unixOffset: step.unixOffset)
            sent += dispatch.handle(.change(change, targets: [waiting.target]), now: step.now)
        }
        pass(sent, &step)
        watch(.restored(book.record, unixOffset: step.unixOffset), &step)
    }

    private mutating func change(_ plan: Plan, _ step: inout Step) {
        book.nodes = machine.knownNodes
        formerOverflowCount = overflowCount
        machine = AlarmMachine(rules: plan.rules, words: plan.words, after: machine)
        self.plan = plan
        // The clearing of alarms that no rule matches is also sent to targets about to go.
        watch(.restored(book.record, unixOffset: step.unixOffset), &step)
        pass(dispatch.handle(.targets(plan.targets), now: step.now), &step)
    }

    private mutating func tick(_ reachable: [PeerID], _ step: inout Step) {
        if watchesSilence {
            watch(.reachable(reachable), &step)
            book.nodes = machine.knownNodes
        }
        watch(.deadlineReached, &step)
        pass(dispatch.handle(.deadlineReached, now: step.now), &step)
    }

    private mutating func watch(_ input: AlarmMachine.Input, _ step: inout Step) {
        for case .changed(let change) in machine.handle(input, now: step.now) {
            step.outputs.append(.changed(change))
            let targets = change.rule.map { plan.targetsOfRules[$0] } ?? []
            let told = book.note(change, targets: targets, unixOffset: step.unixOffset)
            pass(dispatch.handle(.change(change, targets: told), now: step.now), &step)
        }
    }

    /// What is on its way stands in the record before it goes.
    private mutating func pass(_ outputs: [AlarmDispatch.Output], _ step: inout Step) {
        book.waiting = dispatch.waiting.map {
            AlarmRecord.Waiting($0.change, target: $0.target, unixOffset: step.unixOffset)
        }
        save(&step)
        for output in outputs {
            switch output {
            case .send(let change, let target): step.outputs.append(.send(change, target: target))
            case .warn(let text): step.outputs.append(.warn(text))
            }
        }
    }

    private mutating func save(_ step: inout Step) {
        if let bytes = book.toSave() { step.outputs.append(.save(bytes)) }
    }
}

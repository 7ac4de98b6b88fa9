import NearbyCore

extension Limits {
    /// Changes that wait for one target; then the oldest is dropped, and told.
    static let alarmWaitingMax = 64
}

/// Brings changes to whoever is to be told, each target in their order, one at a time; what fails
/// is tried again with growing intervals.
public struct AlarmDispatch: Sendable {
    public enum Input: Hashable, Sendable {
        case change(AlarmChange, targets: [String])
        /// Nil: it was told.
        case finished(target: String, fault: String?)
        /// There are these targets now, and no others.
        case targets(Set<String>)
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        case send(AlarmChange, target: String)
        /// For the log: that it does not work, or works again; once each.
        case warn(String)
    }

    private struct Target {
        var queue: [AlarmChange] = []
        var isBusy = false
        /// Not before then.
        var pause: (length: Duration, until: Instant)?
        var fault: String?
    }

    private var targets: [String: Target] = [:]
    private static let pauseMax = Duration.seconds(60)

    public init() {}

    /// Nil while nothing waits for its time.
    public var nextDeadline: Instant? {
        targets.values.filter { !$0.isBusy && !$0.queue.isEmpty }.compactMap { $0.pause?.until }
            .min()
    }

    /// Whether a notification is being sent.
    public var isSending: Bool { targets.values.contains(where: \.isBusy) }

    /// The notifications still to be sent, in order for each target.
    public var waiting: [(target: String, change: AlarmChange)] {
        targets.sorted { $0.key < $1.key }.flatMap { name, target in
            target.queue.map { (name, $0) }
        }
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .change(let change, let wanted):
            for target in wanted { enqueue(change, target, &outputs) }
        case .finished(let target, let fault): finish(target, fault, now, &outputs)
        case .targets(let names): setTargets(names, &outputs)
        case .deadlineReached: break
        }
        for target in targets.keys.sorted() { send(target, now, &outputs) }
        return outputs
    }

    // MARK: Parts

    private mutating func setTargets(_ names: Set<String>, _ outputs: inout [Output]) {
        // What is on its way arrives or does not.
        let lost = targets.reduce(0) { count, target in
            guard !names.contains(target.key) else { return count }
            return count + target.value.queue.count - (target.value.isBusy ? 1 : 0)
        }
        if lost > 0 {
            outputs.append(
                .warn(
                    "alarms: notifications dropped because their target is no longer configured: "
                        + "\(lost)"))
        }
        targets = targets.filter { names.contains($0.key) }
        for name in names where targets[name] == nil { targets[name] = Target() }
    }

    private mutating func enqueue(
        _ change: AlarmChange, _ name: String, _ outputs: inout [Output]
    ) {
        guard var target = targets[name] else { return }
        target.queue.append(change)
        if target.queue.count > Limits.alarmWaitingMax {
            // The first one may be on its way.
            target.queue.remove(at: target.isBusy ? 1 : 0)
            outputs.append(
                .warn(
                    "alarms: \(Limits.alarmWaitingMax) notifications wait; the oldest is dropped"))
        }
        targets[name] = target
    }

    private mutating func finish(
        _ name: String, _ fault: String?, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard var target = targets[name], target.isBusy else { return }
        defer { targets[name] = target }
        target.isBusy = false
        if let fault {
            let length = min((target.pause?.length ?? .milliseconds(500)) * 2, Self.pauseMax)
            target.pause = (length, now + length)
            if target.fault != fault { outputs.append(.warn("alarms: " + fault)) }
            target.fault = fault
            return
        }
        if target.fault != nil { outputs.append(.warn("alarms: notifications are sent again")) }
        target.fault = nil
        target.pause = nil
        target.queue.removeFirst()
    }

    private mutating func send(_ name: String, _ now: Instant, _ outputs: inout [Output]) {
        guard var target = targets[name], !target.isBusy, let first = target.queue.first,
            target.pause.map({ now >= $0.until }) ?? true
        else { return }
        target.isBusy = true
        targets[name] = target
        outputs.append(.send(first, target: name))
    }
}

import NearbyCore

extension Limits {
    /// Changes that wait for one target; then the oldest is dropped, and told.
    static let alarmWaitingMax = 64
}

/// Brings changes to whoever is to be told, each target in their order, one at a time; what fails
/// is tried again with growing intervals.
public struct AlarmDispatch: Sendable {
    public enum Input: Hashable, Sendable {
        /// To these targets; none: then it is settled at once.
        case change(AlarmChange, targets: [Int])
        /// Nil: it was told.
        case finished(target: Int, fault: String?)
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        case send(AlarmChange, target: Int)
        /// Every target was told, or will never be.
        case settled(AlarmChange)
        /// For the log: that it does not work, or works again; once each.
        case warn(String)
    }

    private struct Waiting {
        var change: AlarmChange
        /// Tells changes apart.
        var number: UInt64
    }

    private struct Target {
        var queue: [Waiting] = []
        var isBusy = false
        /// Not before then.
        var pause: (length: Duration, until: Instant)?
        var fault: String?
    }

    private var targets: [Int: Target] = [:]
    /// How many targets have still to be told.
    private var open: [UInt64: Int] = [:]
    private var lastNumber: UInt64 = 0
    private static let pauseMax = Duration.seconds(60)

    public init() {}

    /// Nil while nothing waits for its time.
    public var nextDeadline: Instant? {
        targets.values.filter { !$0.isBusy && !$0.queue.isEmpty }.compactMap { $0.pause?.until }
            .min()
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .change(let change, let wanted):
            lastNumber += 1
            open[lastNumber] = wanted.count
            for target in wanted { enqueue(change, target, &outputs) }
            if wanted.isEmpty { settle(Waiting(change: change, number: lastNumber), &outputs) }
        case .finished(let target, let fault): finish(target, fault, now, &outputs)
        case .deadlineReached: break
        }
        for target in targets.keys.sorted() { send(target, now, &outputs) }
        return outputs
    }

    // MARK: Parts

    private mutating func enqueue(
        _ change: AlarmChange, _ index: Int, _ outputs: inout [Output]
    ) {
        var target = targets[index] ?? Target()
        target.queue.append(Waiting(change: change, number: lastNumber))
        if target.queue.count > Limits.alarmWaitingMax {
            // The first one may be on its way.
            let dropped = target.queue.remove(at: target.isBusy ? 1 : 0)
            outputs.append(
                .warn(
                    "alarms: \(Limits.alarmWaitingMax) notifications wait; the oldest is dropped"))
            settle(dropped, &outputs)
        }
        targets[index] = target
    }

    private mutating func finish(
        _ index: Int, _ fault: String?, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard var target = targets[index], target.isBusy else { return }
        target.isBusy = false
        if let fault {
            let length = min((target.pause?.length ?? .milliseconds(500)) * 2, Self.pauseMax)
            target.pause = (length, now + length)
            if target.fault != fault { outputs.append(.warn("alarms: " + fault)) }
            target.fault = fault
            targets[index] = target
            return
        }
        if target.fault != nil { outputs.append(.warn("alarms: notifications are sent again")) }
        target.fault = nil
        target.pause = nil
        let told = target.queue.removeFirst()
        targets[index] = target
        settle(told, &outputs)
    }

    private mutating func settle(_ waiting: Waiting, _ outputs: inout [Output]) {
        let left = (open[waiting.number] ?? 1) - 1
        open[waiting.number] = left > 0 ? left : nil
        if left <= 0 { outputs.append(.settled(waiting.change)) }
    }

    private mutating func send(_ index: Int, _ now: Instant, _ outputs: inout [Output]) {
        guard var target = targets[index], !target.isBusy, let first = target.queue.first,
            target.pause.map({ now >= $0.until }) ?? true
        else { return }
        target.isBusy = true
        targets[index] = target
        outputs.append(.send(first.change, target: index))
    }
}

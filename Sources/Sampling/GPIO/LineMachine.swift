import NearbyCore
import Telemetry

extension Limits {
    /// Edges of one line that become readings within a second; a loose wire gives thousands.
    static let edgesPerSecondMax = 100
}

/// Changes of the logical level: with `active: low`, rising is where the voltage falls.
public enum LineEdges: String, Sendable {
    case rising, falling, both

    func contains(rising isRising: Bool) -> Bool {
        self == .both || (self == .rising) == isRising
    }
}

/// What a line is read for.
public enum LineMode: Sendable {
    /// Its level, once a period.
    case level
    /// Its level, and each of these edges when it comes: 1 after a rising one, otherwise 0.
    case edges(LineEdges)
    case count(LineEdges, Pulses)

    /// What pulses mean.
    public struct Pulses: Sendable {
        /// A pulse's worth, in `unit`.
        public var scale: DecimalValue
        public var unit: String
        /// nil: no rate.
        public var rate: Rate?

        public init(scale: DecimalValue, unit: String, rate: Rate?) {
            self.scale = scale
            self.unit = unit
            self.rate = rate
        }
    }

    public struct Rate: Sendable {
        /// A second, or an hour.
        public var time: Duration
        public var unit: String

        public init(per time: Duration, unit: String) {
            self.time = time
            self.unit = unit
        }
    }

    /// The edges that it asks the kernel for. Who debounces needs both.
    package func edges(debouncing: Bool) -> LineEdges? {
        switch self {
        case .level: nil
        case .edges(let edges), .count(let edges, _): debouncing ? .both : edges
        }
    }
}

/// What becomes of a line's edges: readings, or a count.
///
/// Channels are `name` with the level (unit 1), or `name` with the scaled count and `name.rate`.
package struct LineMachine: Sendable {
    package enum Input: Sendable {
        /// The line is ours from now on, and has this level.
        case opened(Bool)
        /// Numbered from 1 since the line was opened: those that are missing found no room in the
        /// kernel's queue. 0: not numbered.
        case edge(isRising: Bool, number: UInt32, at: Instant)
        /// The kernel's queue of unnumbered edges was full: more may have come.
        case queueFull
        /// What was read just now.
        case observed(Bool)
        /// A period is over: what holds now?
        case due
        /// The count of an earlier run.
        case resumed(Int64)
        case deadlineReached
    }

    package let channel: String
    package let mode: LineMode
    private var debouncer: Debouncer?
    package private(set) var counter: PulseCounter?
    private var level: Bool?
    private var lastNumber: UInt32 = 0
    private var missed: Int64 = 0
    /// How often the queue was full.
    private var overfull: Int64 = 0
    private var withheld: Int64 = 0
    /// Edges told in the second that began then.
    private var second: (since: Instant, count: Int) = (.zero, 0)

    /// `debounce` is what is done here: zero where the kernel does it.
    package init(channel: String, mode: LineMode, debounce: Duration, now: Instant) {
        self.channel = channel
        self.mode = mode
        if debounce > .zero { debouncer = Debouncer(period: debounce) }
        if case .count(_, let pulses) = mode {
            counter = PulseCounter(
                scale: pulses.scale, unitTime: pulses.rate?.time ?? .seconds(1), now: now)
        }
    }

    package var nextDeadline: Instant? { debouncer?.nextDeadline }

    /// Readings of edges, where they are not counted, and of what is due.
    package mutating func handle(_ input: Input, now: Instant) -> [Measurement] {
        switch input {
        case .opened(let level):
            debouncer = debouncer.map { Debouncer(period: $0.period) }
            lastNumber = 0
            counter?.interrupt(now: now)
            return handle(.observed(level), now: now)
        case .edge(let isRising, let number, let time):
            countMissed(before: number, time)
            return edge(isRising, time)
        case .queueFull:
            overfull = overfull.addingSaturating(1)
            return []
        case .observed(let level):
            self.level = level
            debouncer?.observe(level, at: now)
            return []
        case .due: return held(now)
        case .resumed(let count):
            counter?.resume(count)
            return []
        case .deadlineReached: return report(debouncer?.settle(at: now))
        }
    }

    private mutating func held(_ now: Instant) -> [Measurement] {
        guard case .count(_, let pulses) = mode else {
            let level = debouncer == nil ? level : debouncer?.settled
            return level.map { [Measurement(channel, "1", $0 ? 1 : 0)] } ?? nulls(.warmingUp)
        }
        var result = [Measurement(channel, pulses.unit, counter?.total ?? .null(.unspecified))]
        if let rate = pulses.rate {
            let outcome = counter?.rate(now: now) ?? .null(.unspecified)
            result.append(Measurement(channel + ".rate", rate.unit, outcome))
        }
        return result
    }

    /// A null for each channel.
    package func nulls(_ reason: NullReason) -> [Measurement] {
        guard case .count(_, let pulses) = mode else {
            return [Measurement(channel, "1", .null(reason))]
        }
        return [Measurement(channel, pulses.unit, .null(reason))]
            + (pulses.rate.map { [Measurement(channel + ".rate", $0.unit, .null(reason))] } ?? [])
    }

    package var diagnostic: String? {
        var parts: [String] = []
        if missed > 0 {
            let isCounted = counter != nil && debouncer == nil
            parts.append(
                "\(missed) edges were lost in the kernel's queue"
                    + (isCounted ? " and counted all the same" : ""))
        }
        if overfull > 0 {
            parts.append(
                "the kernel's queue for edges was full "
                    + (overfull == 1 ? "once" : "\(overfull) times")
                    + ", so some may be lost; libgpiod 2 has a longer one and counts them")
        }
        if withheld > 0 {
            parts.append(
                "\(withheld) edges not told, over \(Limits.edgesPerSecondMax) a second; "
                    + "is something loose? debounce: helps")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private mutating func countMissed(before number: UInt32, _ time: Instant) {
        guard number != 0 else { return }
        let count = number &- lastNumber &- 1
        lastNumber = number
        guard count > 0, count < 1 << 31 else { return }
        missed = missed.addingSaturating(Int64(count))
        // Without a debouncer each would have counted.
        if debouncer == nil { counter?.add(Int64(count), at: time) }
    }

    private mutating func edge(_ isRising: Bool, _ time: Instant) -> [Measurement] {
        if debouncer != nil { return report(debouncer?.edge(to: isRising, at: time)) }
        return report(Debouncer.Change(level: isRising, time: time))
    }

    /// An edge that holds is counted, or becomes a reading if it was asked for.
    private mutating func report(_ change: Debouncer.Change?) -> [Measurement] {
        guard let change else { return [] }
        level = change.level
        switch mode {
        case .level: return []
        case .count(let edges, _):
            if edges.contains(rising: change.level) { counter?.add(1, at: change.time) }
            return []
        case .edges(let edges):
            guard edges.contains(rising: change.level) else { return [] }
            if change.time - second.since >= .seconds(1) { second = (change.time, 0) }
            guard second.count < Limits.edgesPerSecondMax else {
                withheld += 1
                return []
            }
            second.count += 1
            return [
                Measurement(channel, "1", .value(value(change.level)), at: change.time)
            ]
        }
    }

    private func value(_ level: Bool) -> DecimalValue { DecimalValue(coefficient: level ? 1 : 0) }
}

import NearbyCore

/// Which sensor is due when. Periods start spread over themselves, so that sensors of one period do
/// not all read at once; a sensor that is still being read is not asked again, and one that never
/// comes back is reported once a period and delays nobody.
public struct SamplingSchedule: Sendable {
    public enum Input: Sendable {
        case start
        /// The sensor's measurement has come back.
        case completed(Int)
        case deadlineReached
    }

    public enum Output: Equatable, Sendable {
        case sample(Int)
        /// It was due again while the last measurement had not come back.
        case overdue(Int)
    }

    private struct Entry: Sendable {
        var period: Duration
        var due: Instant?
        var isBusy = false
        /// It was due again while it was busy: it hangs.
        var isOverdue = false
        var isFirst = true
    }

    private var entries: [Entry]

    /// One period a sensor, in the order of their numbers.
    public init(periods: [Duration]) {
        entries = periods.map { Entry(period: max($0, .milliseconds(1))) }
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .start:
            // All are read once at once, so that a start shows something; then they spread.
            for index in entries.indices { entries[index].due = now }
            return begin(now)
        case .completed(let index):
            if entries.indices.contains(index) {
                entries[index].isBusy = false
                entries[index].isOverdue = false
            }
            return []
        case .deadlineReached: return begin(now)
        }
    }

    public var nextDeadline: Instant? { entries.compactMap(\.due).min() }

    /// Whether a sensor is being read, or due by then. One that hangs does not count.
    public func expectsSample(by time: Instant) -> Bool {
        entries.contains { entry in
            (entry.isBusy && !entry.isOverdue) || (entry.due ?? .distantFuture) <= time
        }
    }

    private mutating func begin(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for index in entries.indices {
            guard let due = entries[index].due, due <= now else { continue }
            entries[index].due = next(after: due, index, now)
            outputs.append(entries[index].isBusy ? .overdue(index) : .sample(index))
            entries[index].isOverdue = entries[index].isBusy
            entries[index].isBusy = true
        }
        return outputs
    }

    /// The first period is shortened by the sensor's share of it, but never below half; periods
    /// that were slept through are not made up for.
    private mutating func next(after due: Instant, _ index: Int, _ now: Instant) -> Instant {
        let period = entries[index].period
        if entries[index].isFirst {
            entries[index].isFirst = false
            return due + period - period * index / (2 * entries.count)
        }
        let next = due + period
        return next > now ? next : now + period
    }
}

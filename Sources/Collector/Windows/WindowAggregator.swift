import NearbyCore
import Telemetry

extension Limits {
    /// Windows that are open at a time.
    static let openWindowsMax: Int64 = 8
    /// Channels of all agents that windows are kept for.
    static let windowSeriesMax = 65_536
    /// As `WindowAggregator.Settings.seriesPerPeerMax`, unless it is configured.
    static let windowSeriesPerPeerMax = 4_096
}

/// Sums up readings over windows of event time, all of one width, side by side.
///
/// A window closes `lateness` after its end. A reading that comes later, or lies beyond the open
/// windows, is counted and changes no window; but where a window holds nothing of a channel, the
/// newest before it shows as the last value.
public struct WindowAggregator: Sendable {
    public struct Settings: Sendable {
        public var width: Duration = .seconds(10)
        /// How long readings are waited for after the end of a window.
        public var lateness: Duration = .seconds(1)
        /// A channel that was silent so long is left out.
        var forgetAfter: Duration = .seconds(600)
        /// Added to our clock before it is divided into windows; UTC's offset makes them begin at
        /// whole multiples of the width in UTC.
        public var phase: Duration = .zero
        /// Channels of one agent that windows are kept for, those of its earlier runs included.
        public var seriesPerPeerMax = Limits.windowSeriesPerPeerMax

        public init() {}
    }

    public enum Input: Sendable {
        case delivery(Delivery)
        case deadlineReached
        /// Close what is over and look into what is open, as at the end of a run of the program;
        /// only windows that have readings of their own are told.
        case finish
    }

    public enum Output: Equatable, Sendable {
        case window(Window)
        /// The agent has as many channels as one may have; told once, until it is forgotten.
        case shareFull(PeerID, NodeDescription)
        case drop(DropReason, count: Int = 1)
    }

    private let settings: Settings
    private let width: Int64
    private let phase: Int64
    private var generator: SeededGenerator
    /// What there is of one agent. It has series, or is not there.
    private struct AgentWindows {
        var seriesCount = 0
        /// The run whose readings are the newest, by the time at which they were measured: those of
        /// an ended run may come after the first of the run that followed it.
        var newest: (run: RunID, previous: RunID?, time: Instant)?
        /// Its share is used up, and people know.
        var isFull = false

        /// A reading of this time came. Who names a run as the one before it is newer than that,
        /// whatever their clocks say.
        mutating func record(_ birth: Birth, _ time: Instant) {
            if let newest, newest.run != birth.run, newest.run != birth.previous?.run,
                newest.previous == birth.run || time < newest.time
            {
                return
            }
            let previous = birth.previous?.run
            newest = (
                birth.run, previous,
                newest?.run == birth.run ? max(newest?.time ?? time, time) : time
            )
        }
    }

    private var runs: [RunKey: RunSeries] = [:]
    private var agents: [PeerID: AgentWindows] = [:]
    private var seriesCount = 0
    /// The number of the first open window; nil before the first delivery.
    private var firstOpen: Int64?

    /// - Parameter seed: for the sample that quantiles of overfull windows are taken from.
    public init(settings: Settings = Settings(), seed: UInt64 = 0) {
        self.settings = settings
        width = max(settings.width.nanoseconds, 1_000_000)
        phase = settings.phase.nanoseconds
        generator = SeededGenerator(seed: seed)
    }

    public var nextDeadline: Instant? {
        guard let firstOpen, !runs.isEmpty else { return nil }
        return start(of: firstOpen.addingSaturating(1)) + settings.lateness
    }

    /// Runs of all agents that windows are kept for.
    var runCount: Int { runs.count }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        let closed = closeDue(now: now)
        switch input {
        case .delivery(let delivery): return closed + add(delivery)
        case .deadlineReached: return closed
        case .finish: return closed + finish(now: now)
        }
    }

    /// The window that `now` lies in, as it stands.
    public func current(now: Instant) -> Window {
        window(number(at: now), isClosed: false, now: now)
    }

    // MARK: Taking in

    private mutating func add(_ delivery: Delivery) -> [Output] {
        let first = firstOpen ?? dueNumber(at: delivery.arrival)
        firstOpen = first
        let key = RunKey(peer: delivery.peer, run: delivery.birth.run)
        var agent = agents[key.peer] ?? AgentWindows()
        let share = settings.seriesPerPeerMax - agent.seriesCount
        let room = Limits.windowSeriesMax - seriesCount
        let added = change(key, delivery) { [width, phase] run, generator in
            run.add(
                delivery, room: min(share, room), firstOpen: first, generator: &generator,
                windowNumber: { Self.number(at: $0, phase, width) })
        }
        seriesCount += added.channels
        agent.seriesCount += added.channels
        if let newest = added.newest { agent.record(delivery.birth, min(newest, delivery.arrival)) }
        var outputs: [Output] = []
        if added.refused > 0, share <= room {
            if !agent.isFull { outputs.append(.shareFull(key.peer, delivery.birth.node)) }
            agent.isFull = true
            outputs.append(.drop(.seriesQuota, count: added.refused))
        }
        if agent.seriesCount > 0 { agents[key.peer] = agent }
        if added.refused > 0, room < share {
            outputs.append(.drop(.readingTableFull, count: added.refused))
        }
        if added.outside > 0 { outputs.append(.drop(.readingOutsideWindows, count: added.outside)) }
        return outputs
    }

    /// Changes a run in place. A new one that took nothing in is not kept, so that runs are bounded
    /// by series.
    private mutating func change(
        _ key: RunKey, _ delivery: Delivery,
        _ change: (inout RunSeries, inout SeededGenerator) -> RunSeries.Added
    ) -> RunSeries.Added {
        if let place = runs.index(forKey: key) { return change(&runs.values[place], &generator) }
        var run = RunSeries(delivery)
        let added = change(&run, &generator)
        if !run.series.isEmpty { runs[key] = run }
        return added
    }

    // MARK: Closing

    private mutating func closeDue(now: Instant) -> [Output] {
        guard let first = firstOpen else { return [] }
        let due = dueNumber(at: now)
        guard due > first else { return [] }
        // After a long pause only the windows that can hold something are shown.
        defer { firstOpen = due }
        return close(first..<min(due, first + Limits.openWindowsMax), now: now)
    }

    private mutating func finish(now: Instant) -> [Output] {
        guard let first = firstOpen else { return [] }
        let present = number(at: now)
        let end = max(first, min(first + Limits.openWindowsMax, present))
        var outputs = close(first..<end, hasReadings: true, now: now)
        let current = current(now: now)
        if end == present, current.hasReadings { outputs.append(.window(current)) }
        return outputs
    }

    private mutating func close(
        _ numbers: Range<Int64>, hasReadings: Bool = false, now: Instant
    ) -> [Output] {
        var outputs: [Output] = []
        for number in numbers {
            let window = window(number, isClosed: true, now: now)
            if hasReadings ? window.hasReadings : !window.rows.isEmpty {
                outputs.append(.window(window))
            }
            forget(number, now: now)
            firstOpen = number + 1
        }
        return outputs
    }

    private func window(_ number: Int64, isClosed: Bool, now: Instant) -> Window {
        var rows: [Window.Row] = []
        for key in runs.keys.sorted() {
            guard let run = runs[key] else { continue }
            let isCurrent = agents[key.peer]?.newest?.run == key.run
            for (channelNumber, series) in zip(run.channels.numbers, run.series) {
                guard let channel = run.birth.channel(channelNumber) else { continue }
                let accumulator = series.accumulator(of: number)
                // Of a channel that began later there is nothing to say yet.
                guard let last = accumulator.last ?? series.lastClosed else { continue }
                // An ended run and a retired channel show only while they have something to say.
                let isSilent = accumulator.count + accumulator.nullCount == 0
                if isSilent, !isCurrent || channel.isRetired { continue }
                rows.append(
                    Window.Row(
                        peer: key.peer, run: key.run, node: run.birth.node, channel: channel,
                        statistics: accumulator.statistics,
                        rate: Double(accumulator.count) * 1e9 / Double(width),
                        last: last.outcome, age: max(now - last.time, .zero),
                        lateCount: series.lateCount,
                        lostCount: run.lostCount, hops: run.hops, rank: run.rank))
            }
        }
        return Window(
            start: start(of: number), width: .nanoseconds(width), isClosed: isClosed, rows: rows)
    }

    /// Forgets a closed window, and what has been silent for long.
    private mutating func forget(_ number: Int64, now: Instant) {
        for key in runs.keys.sorted() {
            guard var run = runs.removeValue(forKey: key) else { continue }
            let before = run.series.count
            run.close(number, silentSince: now - settings.forgetAfter)
            seriesCount -= before - run.series.count
            agents[key.peer]?.seriesCount -= before - run.series.count
            if agents[key.peer]?.seriesCount == 0 { agents[key.peer] = nil }
            if !run.series.isEmpty { runs[key] = run }
        }
    }

    // MARK: Numbers of windows

    private func number(at time: Instant) -> Int64 { Self.number(at: time, phase, width) }

    private static func number(at time: Instant, _ phase: Int64, _ width: Int64) -> Int64 {
        let shifted = time.nanoseconds.addingSaturating(phase)
        let (quotient, remainder) = shifted.quotientAndRemainder(dividingBy: width)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The first window that is still open at this time.
    private func dueNumber(at now: Instant) -> Int64 { number(at: now - settings.lateness) }

    private func start(of number: Int64) -> Instant {
        let (shifted, overflow) = number.multipliedReportingOverflow(by: width)
        if overflow { return .distantFuture }
        return Instant(nanoseconds: shifted) - settings.phase
    }
}

import DurableFiles
import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// A line of a GPIO chip: its level, its edges with the kernel's time, or a count of its pulses.
///
/// The kernel writes down when an edge was, on CLOCK_MONOTONIC; it is told on CLOCK_BOOTTIME, and
/// an edge from before a suspend that is read after it comes out later by that suspend's length.
/// Where libgpiod is 2.x the kernel debounces, and an edge has the time at which the line had
/// stayed for the whole period; otherwise it is done here, and it has the time of the last edge.
/// What the kernel's queue of 256 edges has no room for is known with 2.x only; with 1.6 it holds
/// 16, and that it was full is all that can be told.
public final class GPIODriver: EventDriver {
    public struct Settings: Sendable {
        public var line: LineName
        /// The channel.
        public var name: String
        public var mode: LineMode
        public var bias: LineBias
        public var isActiveLow: Bool
        public var debounce: Duration

        public init(
            line: LineName, name: String, mode: LineMode, bias: LineBias, isActiveLow: Bool,
            debounce: Duration
        ) {
            self.line = line
            self.name = name
            self.mode = mode
            self.bias = bias
            self.isActiveLow = isActiveLow
            self.debounce = debounce
        }
    }

    public let name: String
    private let opener: LineOpener
    private let state: Mutex<State>
    /// Held while the disk works; never on the logic thread while the agent runs. Nil: nothing
    /// outlasts the agent.
    private let file: Mutex<CounterFile<SystemFiles>?>

    private struct State: Sendable {
        var machine: LineMachine
        var line: OpenLine?
        /// The chip is gone. The line is kept until the loop no longer waits for it.
        var isLost = false
        var isFinished = false
        /// How often the line has spoken by itself.
        var received: UInt64 = 0
        /// The earlier run's count was taken up.
        var hasResumed = false
        var fault: LineFault?
        /// What became of its file at the start, and when it was written last.
        var loadDiagnostic: String?
        var saveDiagnostic: String?
    }

    /// `state` is the agent's directory, where a counter is kept; nil: it begins at zero. `header`
    /// knows the board's pins. `devices` is where the chips are; tests give another folder.
    public init(
        _ settings: Settings, state directory: String?,
        header: @escaping HeaderPins = { _ in nil }, devices: String = "/dev"
    ) {
        opener = LineOpener(settings: settings, header: header, devices: devices)
        name = "gpio \(settings.name)"
        state = Mutex(
            State(
                machine: LineMachine(
                    channel: settings.name, mode: settings.mode,
                    debounce: opener.debounce,
                    now: Clocks.read().now)))
        var file: CounterFile<SystemFiles>?
        if case .count = settings.mode, let directory {
            file = CounterFile(state: directory, name: settings.name, through: SystemFiles())
        }
        self.file = Mutex(file)
    }

    public var diagnostic: String? {
        state.withLock { state in
            let parts = [
                state.fault?.text, state.machine.diagnostic, state.loadDiagnostic,
                state.saveDiagnostic,
            ]
            let told = parts.compactMap { $0 }
            return told.isEmpty ? nil : told.joined(separator: "; ")
        }
    }

    // MARK: On a worker

    public func sample() -> [Measurement] {
        let line: OpenLine
        switch opened() {
        case .failure(let fault): return nulls(fault)
        case .success(let open): line = open
        }
        let received = state.withLock { $0.received }
        // Unlocked: the bus of an expander may hang, and edges of others must not wait for it.
        switch line.request.level() {
        case .failure(let fault): return lose(fault.code)
        case .success(let level):
            let now = Clocks.read().now
            let (measurements, count) = state.withLock { state in
                // Edges that came meanwhile know better.
                if state.received == received {
                    _ = state.machine.handle(.observed(level), now: now)
                }
                line.wait?.setAlarm(to: state.machine.nextDeadline)
                state.fault = nil
                return (state.machine.handle(.due, now: now), state.machine.counter?.count)
            }
            if let count { save(count, now) { $0.isDue(count, now: now) } }
            return measurements
        }
    }

    /// The line, taken now if it was not ours.
    private func opened() -> Result<OpenLine, LineFault> {
        let open = state.withLock { state in
            if state.isLost { state.line = nil }
            state.isLost = false
            return state.line
        }
        if let open { return .success(open) }
        return opener.open().flatMap { line in resume().map { line } }.flatMap(install)
    }

    /// Takes up the earlier run's count, once the line is ours: so no other run adds to it.
    private func resume() -> Result<Void, LineFault> {
        if state.withLock({ $0.hasResumed }) { return .success(()) }
        let content: Result<CounterFile<SystemFiles>.Content, FileError> = file.withLock { file in
            do throws(FileError) { return .success(try file?.load() ?? .none) } catch {
                return .failure(error)
            }
        }
        switch content {
        case .failure(let error):
            return .failure(
                LineFault(
                    reason: error.isForbidden ? .denied : .failed,
                    text: "its count cannot be read, so it counts nothing: \(error)"))
        case .success(let content):
            state.withLock { state in
                state.hasResumed = true
                switch content {
                case .none: break
                case .count(let count):
                    _ = state.machine.handle(.resumed(count), now: Clocks.read().now)
                case .damaged(let kept):
                    state.loadDiagnostic =
                        "the file with its count was no number and is now \(kept); it counts "
                        + "from 0"
                }
            }
            return .success(())
        }
    }

    private func install(_ line: OpenLine) -> Result<OpenLine, LineFault> {
        let level: Bool
        switch line.request.level() {
        case .failure(let fault):
            return .failure(
                LineFault(reason: .failed, text: "no level: \(SensorFile.message(fault.code))"))
        case .success(let read): level = read
        }
        let now = Clocks.read().now
        return state.withLock { state in
            if state.isFinished {
                return .failure(LineFault(reason: .absent, text: "the agent stops"))
            }
            _ = state.machine.handle(.opened(level), now: now)
            state.line = line
            return .success(line)
        }
    }

    private func save(
        _ count: Int64, _ now: Instant, if isWanted: (CounterFile<SystemFiles>) -> Bool
    ) {
        let diagnostic: String?? = file.withLock { file in
            guard let known = file, isWanted(known) else { return .none }
            do throws(FileError) {
                try file?.save(count, now: now)
                return .some(nil)
            } catch {
                return "its count is not on disk and would not outlast a restart: \(error)"
            }
        }
        if let diagnostic { state.withLock { $0.saveDiagnostic = diagnostic } }
    }

    // MARK: On the logic thread

    public var descriptor: Int32? {
        state.withLock { $0.isLost ? nil : $0.line?.wait?.descriptor }
    }

    public func receive(now: Instant) -> [Measurement] {
        guard let line = state.withLock({ $0.isLost ? nil : $0.line }), let wait = line.wait
        else { return [] }
        switch line.request.read() {
        case .failure(let fault): return lose(fault.code)
        case .success(let events):
            // Some kernels say of a chip that is gone only that nothing is there to read.
            if events.isEmpty, wait.hasFailed { return lose(ENODEV) }
            let clocks = Clocks.read()
            return state.withLock { state in
                state.received &+= 1
                var result = events.flatMap { event in
                    let time = clocks.boottime(ofMonotonic: event.nanoseconds)
                    return state.machine.handle(
                        .edge(isRising: event.isRising, number: event.number, at: time),
                        now: clocks.now)
                }
                if events.count == LineRequest.unnumberedQueue {
                    result += state.machine.handle(.queueFull, now: clocks.now)
                }
                // Only when all edges were seen is it known that none came in time.
                if events.isEmpty {
                    result += state.machine.handle(.deadlineReached, now: clocks.now)
                }
                wait.setAlarm(to: state.machine.nextDeadline)
                return result
            }
        }
    }

    public func finish() {
        for _ in 0..<16 where state.withLock({ $0.line?.wait }) != nil {
            _ = receive(now: Clocks.read().now)
        }
        let (count, isOurs) = state.withLock { state in
            state.isFinished = true
            return (state.machine.counter?.count, state.hasResumed)
        }
        // Without the earlier run's count it must not be written over.
        if let count, isOurs { save(count, Clocks.read().now) { $0.isBehind(count) } }
        state.withLock { $0.line = nil }
    }

    // MARK: On either

    /// The chip went away, or something else is so wrong that the line is better asked for anew.
    private func lose(_ code: Int32) -> [Measurement] {
        state.withLock { $0.isLost = true }
        let isGone = code == ENODEV || code == ENXIO
        return nulls(
            LineFault(
                reason: isGone ? .absent : .failed,
                text: isGone
                    ? "its chip is gone; it is looked for"
                    : "the line fails: \(SensorFile.message(code)); it is asked for anew"))
    }

    private func nulls(_ fault: LineFault) -> [Measurement] {
        state.withLock { state in
            state.fault = fault
            return state.machine.nulls(fault.reason)
        }
    }
}

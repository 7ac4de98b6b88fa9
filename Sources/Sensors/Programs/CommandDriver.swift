import CLinux
import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// Runs a program and reads what it prints: a number, a JSON object of numbers, or InfluxDB lines.
///
/// No shell is involved. The program gets its own process group, which is killed at the time limit
/// and when the program has ended, an environment of PATH and LANG only, and at most 64 KiB of
/// output. Any failure is a null with its reason for each channel that the last success gave.
public final class CommandDriver: SensorDriver {
    public let name: String
    private let arguments: [String]
    private let timeLimit: Duration
    private let channel: String
    private let prefix: String?
    private let unit: String
    private let state: Mutex<State>
    /// Apart from the state, which is locked while a sample is taken.
    private let lastFault = Mutex<String?>(nil)
    private let lastRemark = Mutex<String?>(nil)

    /// The groups of programs that run, of all drivers.
    private static let running = Mutex<[pid_t]>([])

    /// Kills what runs: whoever reads it is about to end.
    public static func endAll() {
        running.withLock { for process in $0 { kill(-process, SIGKILL) } }
    }

    private struct State {
        var known: KnownChannels
        /// A process that even SIGKILL has not ended (it hangs in the kernel); no other is started
        /// beside it.
        var unreaped: pid_t?
    }

    static let outputBytesMax = 64 * 1_024
    /// What is kept of standard error's end.
    static let standardErrorBytesMax = 1_024

    /// `channel` names a lone number, and begins the names of all others; without it the program's
    /// name is the channel.
    public init(run arguments: [String], timeLimit: Duration, channel: String?, unit: String) {
        self.arguments = arguments
        self.timeLimit = timeLimit
        let program = arguments.first?.lastPathPart ?? "command"
        self.channel = channel ?? program
        prefix = channel
        self.unit = unit
        // Many are the same interpreter: what tells them apart is the name they were given.
        name = "command \(channel ?? program)"
        state = Mutex(State(known: KnownChannels(channel ?? program, unit: unit)))
    }

    public var fault: String? { lastFault.withLock { $0 } }

    public var diagnostic: String? { lastRemark.withLock { $0 } }

    public func sample() -> [Measurement] {
        state.withLock { state in
            if let unreaped = state.unreaped {
                guard Self.hasEnded(unreaped) else { return state.known.nulls(.timeout) }
                waitpid(unreaped, nil, 0)
                state.unreaped = nil
            }
            switch run(&state) {
            case .failure(let fault):
                lastFault.withLock { $0 = fault.text }
                return state.known.nulls(fault.reason)
            case .success(let measurements):
                lastFault.withLock { $0 = nil }
                let legal = checkNames(of: measurements)
                state.known.record(legal)
                return legal
            }
        }
    }

    /// What cannot have its name is left out, and said.
    @inline(never)
    private func checkNames(of measurements: [Measurement]) -> [Measurement] {
        var legal = measurements
        var remark: String?
        for index in measurements.indices.reversed()
        where ChannelDescription(name: measurements[index].channel) == nil {
            legal.remove(at: index)
            let name = StandardErrorTail.line(Array(measurements[index].channel.utf8)[...]) ?? ""
            remark = "left out “" + name + Self.rule
        }
        lastRemark.withLock { $0 = remark }
        return legal
    }

    private static let rule = "”: a channel's name has 1 to 63 bytes and no control characters"

    private struct Fault: Error {
        let reason: NullReason
        /// For people: the exit status, what the program complained of.
        var text: String
    }

    private func run(_ state: inout State) -> Result<[Measurement], Fault> {
        let output: CommandPipe
        let complaints: CommandPipe
        guard let first = CommandPipe(), let second = CommandPipe() else {
            return .failure(Fault(reason: .failed, text: String(cString: strerror(errno))))
        }
        (output, complaints) = (first, second)
        let (process, code) = Self.running.withLock { running in
            let spawned = spawn(output: output.writing, complaints: complaints.writing)
            if let process = spawned.process { running.append(process) }
            return spawned
        }
        output.closeWriting()
        complaints.closeWriting()
        guard let process else {
            return .failure(
                Fault(reason: Self.reason(code), text: String(cString: strerror(code))))
        }
        var said = StandardErrorTail()
        let fault = read(output, complaints, &said)
        if fault != nil { kill(-process, SIGKILL) }
        guard let status = end(process, { said.append(complaints) }) else {
            state.unreaped = process
            return .failure(Fault(reason: .timeout, text: "it does not end, not even by SIGKILL"))
        }
        said.append(complaints)
        if var fault {
            fault.text += said.lastLine.map { ": \($0)" } ?? ""
            return .failure(fault)
        }
        guard status == 0 else {
            return .failure(
                Fault(
                    reason: .commandFailed,
                    text: Self.text(ofStatus: status) + (said.lastLine.map { ": \($0)" } ?? "")))
        }
        let measurements = CommandOutput.parse(
            output.bytes, channel: channel, prefix: prefix, unit: unit)
        guard let measurements else {
            return .failure(Fault(reason: .malformed, text: Self.complaint(output.bytes)))
        }
        return .success(measurements)
    }

    /// Why what it printed is of no use.
    private static func complaint(_ output: [UInt8]) -> String {
        if CommandOutput.isTooMuch(output) {
            return "it printed more than \(Limits.channelsPerSensorMax) numbers: print fewer, or "
                + "split them between two sensors"
        }
        let line = StandardErrorTail.line(output[...])
        return line.map { "it printed no number: \($0)" } ?? "it printed nothing"
    }

    /// What waitpid gave (wait(2)).
    private static func text(ofStatus status: Int32) -> String {
        let signal = status & 0x7f
        return signal == 0 ? "exit status \(status >> 8 & 0xff)" : "ended by signal \(signal)"
    }

    private static func reason(_ code: Int32) -> NullReason {
        switch code {
        case ENOENT, ENOTDIR: .absent
        case EACCES, EPERM: .denied
        default: .failed
        }
    }

    /// Everything until the end of standard output, the time limit or too much of it. What comes on
    /// standard error meanwhile is taken too, or a talkative program would wait for ever.
    private func read(
        _ output: CommandPipe, _ complaints: CommandPipe, _ said: inout StandardErrorTail
    ) -> Fault? {
        let deadline = Self.milliseconds() + timeLimit.milliseconds
        while true {
            let left = deadline - Self.milliseconds()
            guard left > 0 else {
                return Fault(
                    reason: .timeout, text: "no end within \(timeLimit.milliseconds) ms")
            }
            var entries = [
                pollfd(fd: output.reading, events: Int16(POLLIN), revents: 0),
                pollfd(
                    fd: complaints.isAtEnd ? -1 : complaints.reading, events: Int16(POLLIN),
                    revents: 0),
            ]
            let ready = poll(&entries, 2, Int32(clamping: left))
            if ready < 0, errno != EINTR {
                return Fault(reason: .failed, text: String(cString: strerror(errno)))
            }
            guard ready > 0 else { continue }
            if entries[1].revents != 0 { said.append(complaints) }
            guard entries[0].revents != 0 else { continue }
            output.read()
            if output.isAtEnd { return nil }
            if output.bytes.count > Self.outputBytesMax {
                return Fault(
                    reason: .malformed, text: "it printed more than \(Self.outputBytesMax) bytes")
            }
        }
    }

    /// The status of the program, which has closed its output or was killed. It has a second to
    /// end, then a second after SIGKILL; nil if that was not enough either.
    private func end(_ process: pid_t, _ meanwhile: () -> Void) -> Int32? {
        var deadline = Self.milliseconds() + 1_000
        var isKilled = false
        var pause: UInt32 = 100
        while !Self.hasEnded(process) {
            if Self.milliseconds() > deadline {
                if isKilled { return nil }
                kill(-process, SIGKILL)
                isKilled = true
                deadline += 1_000
            }
            meanwhile()
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
        // Children that it left behind; before its number, which is its group's, is free again.
        kill(-process, SIGKILL)
        Self.running.withLock { running in
            guard let index = running.firstIndex(of: process) else { return }
            running[index] = running[running.count - 1]
            running.removeLast()
        }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return status
    }

    /// Whether the process can be waited for without blocking.
    private static func hasEnded(_ process: pid_t) -> Bool {
        var information = siginfo_t()
        let code = waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT | WNOHANG)
        return code != 0 ? errno != EINTR : information.si_signo != 0
    }

    /// The process, or the error's number.
    private func spawn(output: Int32, complaints: Int32) -> (process: pid_t?, code: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, complaints, 2)
        // Whatever another thread opened meanwhile: a pipe with an end in strange hands never ends.
        clinux_spawn_close_from(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        posix_spawnattr_setpgroup(&attributes, 0)
        // The agent's threads block signals; the program must not inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] =
            ["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"].map { (word: String) in
                strdup(word)
            }
            + [nil]
        defer { for word in words + environment { free(word) } }
        var process: pid_t = 0
        guard let program = arguments.first else { return (nil, ENOENT) }
        let code = posix_spawn(&process, program, &actions, &attributes, &words, &environment)
        return code == 0 ? (process, 0) : (nil, code)
    }

    private static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

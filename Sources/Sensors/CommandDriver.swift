import CLinux
import Glibc
import NearbyCore
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

    private struct State {
        var known: KnownChannels
        /// A process that even SIGKILL has not ended (it hangs in the kernel); no other is started
        /// beside it.
        var undead: pid_t?
    }

    static let outputBytesMax = 64 * 1_024

    /// `channel` names a lone number, and begins the names of all others; without it the program's
    /// name is the channel.
    public init(run arguments: [String], timeLimit: Duration, channel: String?, unit: String) {
        self.arguments = arguments
        self.timeLimit = timeLimit
        let program = arguments.first?.split(separator: "/").last.map(String.init) ?? "command"
        self.channel = channel ?? program
        prefix = channel
        self.unit = unit
        name = "command \(program)"
        state = Mutex(State(known: KnownChannels(channel ?? program, unit: unit)))
    }

    public func sample() -> [Measurement] {
        state.withLock { state in
            if let undead = state.undead {
                guard Self.hasEnded(undead) else { return state.known.nulls(.timeout) }
                waitpid(undead, nil, 0)
                state.undead = nil
            }
            switch run(&state) {
            case .failure(let fault): return state.known.nulls(fault.reason)
            case .success(let output):
                let measurements = CommandOutput.parse(
                    output, channel: channel, prefix: prefix, unit: unit)
                guard let measurements else { return state.known.nulls(.malformed) }
                state.known.note(measurements)
                return measurements
            }
        }
    }

    private struct Fault: Error { let reason: NullReason }

    private func run(_ state: inout State) -> Result<[UInt8], Fault> {
        let (process, output, code) = start()
        guard let process else { return .failure(Fault(reason: Self.reason(code))) }
        defer { close(output) }
        let (bytes, fault) = read(output)
        if fault != nil { kill(-process, SIGKILL) }
        guard let status = end(process) else {
            state.undead = process
            return .failure(Fault(reason: .timeout))
        }
        if let fault { return .failure(fault) }
        guard status == 0 else { return .failure(Fault(reason: .commandFailed)) }
        return .success(bytes)
    }

    /// The process and the end of the pipe to read its output from, or the error's number.
    private func start() -> (process: pid_t?, output: Int32, code: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return (nil, -1, errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (process, code) = spawn(output: ends[1])
        close(ends[1])
        if process == nil { close(ends[0]) }
        return (process, ends[0], code)
    }

    private static func reason(_ code: Int32) -> NullReason {
        switch code {
        case ENOENT, ENOTDIR: .absent
        case EACCES, EPERM: .denied
        default: .failed
        }
    }

    /// Everything until the end of file, the time limit or too much of it.
    private func read(_ file: Int32) -> ([UInt8], Fault?) {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let deadline = Self.milliseconds() + timeLimit.milliseconds
        while true {
            let left = deadline - Self.milliseconds()
            guard left > 0 else { return (bytes, Fault(reason: .timeout)) }
            var entry = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
            let ready = poll(&entry, 1, Int32(clamping: left))
            if ready < 0, errno != EINTR { return (bytes, Fault(reason: .failed)) }
            guard ready > 0 else { continue }
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0 { return (bytes, Fault(reason: .failed)) }
            if count == 0 { return (bytes, nil) }
            bytes += buffer[..<count]
            if bytes.count > Self.outputBytesMax { return (bytes, Fault(reason: .malformed)) }
        }
    }

    /// The status of the program, which has closed its output or was killed. It has a second to
    /// end, then a second after SIGKILL; nil if that was not enough either.
    private func end(_ process: pid_t) -> Int32? {
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
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
        // Children that it left behind; before its number, which is its group's, is free again.
        kill(-process, SIGKILL)
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
    private func spawn(output: Int32) -> (process: pid_t?, code: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
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

import Glibc
import NearbyCore
import Telemetry

/// Runs a program and reads what it prints: a number, a JSON object of numbers, or InfluxDB lines.
///
/// No shell is involved. The program gets its own process group, which is killed at the time limit,
/// an environment of PATH and LANG only, and at most 64 KiB of output. Any failure is a null with
/// its reason.
public final class CommandDriver: SensorDriver {
    public let name: String
    private let arguments: [String]
    private let timeLimit: Duration
    private let channel: String
    private let unit: String

    static let outputBytesMax = 64 * 1_024

    public init(run arguments: [String], timeLimit: Duration, channel: String?, unit: String) {
        self.arguments = arguments
        self.timeLimit = timeLimit
        let program = arguments.first?.split(separator: "/").last.map(String.init) ?? "command"
        self.channel = channel ?? program
        self.unit = unit
        name = "command \(program)"
    }

    public func sample() -> [Measurement] {
        switch run() {
        case .failure(let fault): [Measurement(channel, unit, .null(fault.reason))]
        case .success(let output):
            CommandOutput.parse(output, channel: channel, unit: unit)
                ?? [Measurement(channel, unit, .null(.malformed))]
        }
    }

    struct Fault: Error { let reason: NullReason }

    private func run() -> Result<String, Fault> {
        var pipeEnds: [Int32] = [-1, -1]
        guard pipe(&pipeEnds) == 0 else { return .failure(Fault(reason: .failed)) }
        // Not inherited by what another worker starts meanwhile, but for the instant between the
        // two calls.
        for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(pipeEnds[0]) }
        guard let process = spawn(output: pipeEnds[1]) else {
            close(pipeEnds[1])
            return .failure(Fault(reason: errno == EACCES ? .denied : .absent))
        }
        close(pipeEnds[1])
        let (bytes, fault) = read(pipeEnds[0])
        if fault != nil { kill(-process, SIGKILL) }
        let status = end(process)
        if let fault { return .failure(fault) }
        guard status == 0 else { return .failure(Fault(reason: .commandFailed)) }
        return .success(String(decoding: bytes, as: UTF8.self))
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
            if count <= 0 { return (bytes, nil) }
            bytes += buffer[..<count]
            if bytes.count > Self.outputBytesMax { return (bytes, Fault(reason: .malformed)) }
        }
    }

    /// Waits for the program, which has closed its output or was killed; a second is enough, then
    /// its group is killed.
    private func end(_ process: pid_t) -> Int32 {
        var status: Int32 = 0
        let deadline = Self.milliseconds() + 1_000
        while waitpid(process, &status, WNOHANG) == 0 {
            if Self.milliseconds() > deadline {
                kill(-process, SIGKILL)
                waitpid(process, &status, 0)
                break
            }
            usleep(2_000)
        }
        // Children that it left behind.
        kill(-process, SIGKILL)
        return status
    }

    private func spawn(output: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
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
        let code = posix_spawn(&process, arguments[0], &actions, &attributes, &words, &environment)
        errno = code
        return code == 0 ? process : nil
    }

    private static func milliseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

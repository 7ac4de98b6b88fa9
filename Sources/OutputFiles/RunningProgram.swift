import CLinux
import Glibc
import Outputs

/// A program that was started with pipes as its standard input, and output if it answers. Ended,
/// with all that it has started, when nobody holds it any more.
final class RunningProgram {
    let path: String
    private let process: pid_t
    /// What the program reads.
    private(set) var input: Int32
    /// What it writes; nil: that goes nowhere.
    let output: Int32?
    /// As waitpid(2) gave it.
    private var status: Int32?

    /// How long one that is to end may take.
    static let endMilliseconds = 2_000

    /// - Parameter environment: `NAME=value`, beside PATH and LANG.
    init(
        _ words: [String], answers: Bool, environment: [String] = []
    ) throws(OutputFault) {
        path = words.first ?? ""
        guard let incoming = Pipe(), let outgoing = Pipe() else {
            throw OutputFault(.unavailable, "\(path): pipe: \(String(cString: strerror(errno)))")
        }
        var child: pid_t = 0
        let code = Self.spawn(
            words, environment, reads: incoming.reading,
            writes: answers ? outgoing.writing : nil, &child)
        close(incoming.reading)
        close(outgoing.writing)
        guard code == 0 else {
            close(incoming.writing)
            close(outgoing.reading)
            throw OutputFault(
                code == EACCES || code == ENOENT ? .refused : .unavailable,
                "\(path) cannot be started: \(String(cString: strerror(code)))")
        }
        process = child
        input = incoming.writing
        output = answers ? outgoing.reading : nil
        if !answers { close(outgoing.reading) }
        for end in [input, outgoing.reading] {
            _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL, 0) | O_NONBLOCK)
        }
    }

    deinit {
        if status == nil {
            kill(-process, SIGKILL)
            waitpid(process, nil, 0)
        }
        if input >= 0 { close(input) }
        if let output { close(output) }
    }

    /// Whether it ended as programs do that have nothing to complain of; nil while it runs.
    var isContent: Bool? { fault == nil ? nil : status == 0 }

    /// How it ended; nil while it runs.
    var fault: OutputFault? {
        var now: Int32 = 0
        if status == nil, waitpid(process, &now, WNOHANG) == process { status = now }
        guard let status else { return nil }
        let signal = status & 0x7f
        return OutputFault(
            .unavailable,
            "\(path) ended "
                + (signal == 0
                    ? "with exit status \(status >> 8 & 0xff)" : "by signal \(signal)"))
    }

    /// Closes its input, and gives it time to end by itself.
    func finish(within milliseconds: Int = endMilliseconds) {
        close(input)
        input = -1
        for _ in 0..<(milliseconds / 10) {
            if fault != nil { return }
            usleep(10_000)
        }
    }

    /// Two ends that no other program inherits.
    private struct Pipe {
        let reading: Int32
        let writing: Int32

        init?() {
            var ends: [Int32] = [-1, -1]
            guard pipe2(&ends, O_CLOEXEC) == 0 else { return nil }
            (reading, writing) = (ends[0], ends[1])
        }
    }

    /// In a process group of its own, with no signal blocked. Returns errno, or 0.
    private static func spawn(
        _ words: [String], _ environment: [String], reads: Int32, writes: Int32?,
        _ child: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, reads, STDIN_FILENO)
        if let writes {
            posix_spawn_file_actions_adddup2(&actions, writes, STDOUT_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        }
        // Whatever another thread opened meanwhile: a pipe with an end in strange hands never ends.
        clinux_spawn_close_from(&actions, 3)
        // Our threads block signals; the program must not inherit that.
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] =
            (["PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"] + environment).map {
                (word: String) in strdup(word)
            } + [nil]
        defer { for word in arguments + environment { free(word) } }
        return posix_spawn(
            &child, words.first ?? "", &actions, &attributes, &arguments, &environment)
    }
}

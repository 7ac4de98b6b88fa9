import Glibc
import Testing

/// `rivulet` itself, built beside the tests.
enum RunProgram {
    struct Result {
        var status: Int32
        var output: String
        var errors: String

        /// The line that joins a board, if it was printed.
        var line: String? {
            output.split(separator: "\n").first { $0.hasPrefix("rivulet1:") }.map(String.init)
        }
    }

    /// Runs it to its end. 128 and the signal's number if it was killed: after so many
    /// microseconds, where they are given.
    static func run(
        _ arguments: [String], input: String = "", killedAfter delay: UInt32? = nil
    ) throws -> Result {
        let input = try file(input), output = try file(""), errors = try file("")
        defer { for path in [input, output, errors] { unlink(path) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY, 0)
        let child = try spawn(arguments, &actions)
        if let delay {
            usleep(delay)
            kill(child, SIGKILL)
        }
        let status = wait(child)
        return Result(status: status, output: text(of: output), errors: text(of: errors))
    }

    /// Runs it on a terminal of its own and types each answer once the text before it is shown.
    /// What was shown is the output.
    static func type(_ dialogue: [(shown: String, answer: String)], _ arguments: [String]) throws
        -> Result
    {
        var terminal: Int32 = -1, other: Int32 = -1
        try #require(openpty(&terminal, &other, nil, nil, nil) == 0)
        defer { close(terminal) }
        // The child has the other end alone, so that its end is the end.
        _ = fcntl(terminal, F_SETFD, FD_CLOEXEC)
        _ = fcntl(other, F_SETFD, FD_CLOEXEC)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for stream: Int32 in 0...2 {
            posix_spawn_file_actions_adddup2(&actions, other, stream)
        }
        let child = try spawn(arguments, &actions)
        close(other)
        var shown: [UInt8] = []
        var seen = 0
        for (text, answer) in dialogue {
            while !shown[seen...].contains(Array(text.utf8)) {
                guard read(terminal, into: &shown) else { break }
            }
            seen = shown.count
            let bytes = Array((answer + "\n").utf8)
            _ = write(terminal, bytes, bytes.count)
        }
        while read(terminal, into: &shown) {}
        let status = wait(child)
        return Result(
            status: status,
            output: String(decoding: shown.filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self),
            errors: "")
    }

    // MARK: Parts

    /// False at the end, or when nothing comes for ten seconds.
    private static func read(_ terminal: Int32, into bytes: inout [UInt8]) -> Bool {
        var entry = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 10_000) > 0 else { return false }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(terminal, &buffer, buffer.count)
        guard count > 0 else { return false }
        bytes += buffer.prefix(count)
        return true
    }

    private static func spawn(
        _ arguments: [String], _ actions: UnsafePointer<posix_spawn_file_actions_t>
    ) throws -> pid_t {
        let program = try #require(path)
        var words: [UnsafeMutablePointer<CChar>?] =
            ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        try #require(
            posix_spawn(&child, program, actions, nil, &words, environ) == 0)
        return child
    }

    private static func wait(_ child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + status & 0x7f
    }

    private static func file(_ text: String) throws -> String {
        var template = Array("/tmp/rivulet-run-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        try #require(file >= 0)
        let bytes = Array(text.utf8)
        _ = write(file, bytes, bytes.count)
        close(file)
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    static func text(of path: String) -> String {
        guard let stream = fopen(path, "r") else { return "" }
        defer { fclose(stream) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var count = fread(&buffer, 1, buffer.count, stream)
        while count > 0 {
            bytes += buffer.prefix(count)
            count = fread(&buffer, 1, buffer.count, stream)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static var path: String? {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let own = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
        for path in [own, bundle] {
            guard let slash = path.lastIndex(of: "/") else { continue }
            let program = String(path[..<slash] + "/rivulet")
            if access(program, X_OK) == 0 { return program }
        }
        return nil
    }
}

extension ArraySlice<UInt8> {
    /// Whether these bytes stand in it one after the other.
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}

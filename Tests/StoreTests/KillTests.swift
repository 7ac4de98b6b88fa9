import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct KillTests {
    /// Kill -9 at random moments of a process that commits for ever.
    @Test func whatWasReportedAsCommittedSurvivesKilling() throws {
        var generator = SeededGenerator(seed: 7)
        try withStorePath { path in
            var reported: UInt64 = 0
            var packed: Int64 = 0
            for _ in 0..<12 {
                let lines = Int.random(in: 1...15, using: &generator)
                let delay = UInt32.random(in: 0..<3_000, using: &generator)
                let last = try #require(try killedWriter(path, after: lines, delay: delay))
                #expect(last > reported)
                reported = last
                let opened = try Store.open(path)
                #expect(opened.diagnostics.isEmpty)
                let sequences = try opened.store.allReadings().map(\.sequence)
                // At most the batch whose report was cut off is there besides.
                #expect([reported, reported + 10].contains(UInt64(sequences.count)))
                #expect(sequences == Array(1...UInt64(sequences.count)))
                #expect(opened.runs.first?.settled.ranges == [1..<UInt64(sequences.count) + 1])
                #expect(try opened.store.database.integrity() == ["ok"])
                packed = try opened.store.places().blocks
            }
            #expect(packed > 100)
        }
    }

    /// Starts a writer, kills it so many microseconds after it reported so many commits, and
    /// returns the highest number that it ever reported.
    private func killedWriter(_ path: String, after lines: Int, delay: UInt32) throws -> UInt64? {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        // Not for the programs that other tests start: they would keep it open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        let program = try #require(Self.program)
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(path), nil]
        defer { arguments.forEach { free($0) } }
        var child: pid_t = 0
        let started = posix_spawn(&child, program, &actions, nil, &arguments, environ)
        close(ends[1])
        defer { close(ends[0]) }
        try #require(started == 0)
        var output: [UInt8] = []
        while output.count(where: { $0 == UInt8(ascii: "\n") }) < lines {
            guard read(ends[0], into: &output) else { break }
        }
        usleep(delay)
        kill(child, SIGKILL)
        while read(ends[0], into: &output) {}
        waitpid(child, nil, 0)
        let text = String(decoding: output, as: UTF8.self)
        // What lies behind the last newline was cut off.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .compactMap { UInt64($0) }.last
    }

    private func read(_ end: Int32, into output: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(end, &buffer, buffer.count)
        guard count > 0 else { return false }
        output += buffer.prefix(count)
        return true
    }

    /// Built beside the tests.
    private static var program: String? {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return nil }
        let own = String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
        for path in [own, bundle] {
            guard let slash = path.lastIndex(of: "/") else { continue }
            let program = path[..<slash] + "/store-writer"
            if access(String(program), X_OK) == 0 { return String(program) }
        }
        return nil
    }
}

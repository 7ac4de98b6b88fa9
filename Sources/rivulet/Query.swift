import ArgumentParser
import Collector
import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import Program
import Store

struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print readings, windows, gaps or runs out of a collector's store.",
        discussion: """
            Without --limit, rows come by node, channel and time, the oldest first; with it, the \
            newest of all rows come first.

            Times are written as 10:00 (today), yesterday, today, now, 2026-11-21, \
            2026-11-21T05:45:00Z, or -1h (before now); those without a zone are in this machine's \
            zone, or in UTC with --utc. Tables show times the same way, and mark those that rest \
            on no clock that could be trusted with ~. CSV and JSON are always in UTC, and name \
            the clock; deploy/readings-json.md describes them.

            Patterns are those of a shell: 'air.*', 'green?ouse-*', '[ab]*'. Quote them.

            Exit status: 0 also when no row matches, 64 for a wrong command line, 65 for a file \
            that is no store, 66 for one that is not there, 74 when reading or writing fails, \
            77 without permission, 78 for a wrong configuration.
            """)

    @Option(help: "The store, an SQLite file; otherwise as configured.") var store: String?
    @OptionGroup var file: ConfigurationFile
    @Option(help: "Only channels of this name or pattern; may be repeated.")
    var channel: [String] = []
    @Option(
        name: [.long, .customLong("peer")],
        help: "Only the node of this name, pattern or PeerID; may be repeated.")
    var node: [String] = []
    @Option(parsing: .unconditional, help: "From this time on.") var from: Moment?
    @Option(parsing: .unconditional, help: "Up to this time, excluded.") var to: Moment?
    @Option(help: "From so long ago until now, such as 1h; in place of --from and --to.")
    var last: Span?
    @Flag(help: "Times in UTC instead of this machine's zone.") var utc = false
    @Option(help: "Sum up over windows of this width, such as 1min.") var window: Span?
    @Option(help: "table, csv or json.") var format = StorePrinter.Format.table
    @Option(help: "The newest rows alone, so many, newest first.") var limit: Int?
    @Flag(help: "Readings that are lost for good, and why.") var gaps = false
    @Flag(help: "The runs that the store knows.") var runs = false

    func validate() throws {
        if store != nil, file.config != nil {
            throw ValidationError("--store and --config exclude each other")
        }
        if let limit, !(1...Limits.newestRowsMax).contains(limit) {
            throw ValidationError("--limit wants a number from 1 to \(Limits.newestRowsMax)")
        }
        if [gaps, runs, window != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--gaps, --runs and --window exclude each other")
        }
        if last != nil, from != nil || to != nil {
            throw ValidationError("--last excludes --from and --to")
        }
    }

    func run() throws {
        let path = try storePath()
        let output = StandardOutput()
        do {
            try print(StoreReader(path), to: output)
        } catch {
            throw Failure(error.description, error.status)
        }
        try output.finish()
    }

    private func storePath() throws -> String {
        if let store { return store }
        let (paths, name) = try file.paths(orGive: "--store FILE")
        guard let store = paths.store else {
            throw Failure("\(name): the collector stores nothing (store: off)", .configuration)
        }
        return store
    }

    private func print(
        _ reader: StoreReader, to output: StandardOutput
    ) throws(StoreError) {
        var printer = StorePrinter(format, times: times, width: max(Terminal.size.columns, 80))
        if gaps {
            _ = output.write(printer.header(.gaps))
            for gap in newest(try reader.gaps(query)) where !output.write(printer.line(gap)) {
                return
            }
        } else if runs {
            _ = output.write(printer.header(.runs))
            for run in newest(try reader.runs(query)) where !output.write(printer.line(run)) {
                return
            }
        } else if let window {
            _ = output.write(printer.header(.windows))
            guard let limit else {
                return try reader.windows(query, width: window.duration) {
                    output.write(printer.line($0, $1))
                }
            }
            let rows = try reader.newestWindows(query, width: window.duration, limit: limit)
            for row in rows where !output.write(printer.line(row.series, row.window)) { return }
        } else {
            _ = output.write(printer.header(.readings))
            guard let limit else {
                return try reader.readings(query) { output.write(printer.line($0, $1)) }
            }
            let rows = try reader.newestReadings(query, limit: limit)
            for row in rows where !output.write(printer.line(row.series, row.reading)) { return }
        }
    }

    /// Gaps and runs come in the order in which the store heard of them, node by node.
    private func newest<Row>(_ rows: [Row]) -> [Row] {
        guard let limit else { return rows }
        return Array(rows.reversed().prefix(limit))
    }

    private var times: ShownTimes { utc ? .utc : .local }

    private var query: StoreQuery {
        var query = StoreQuery()
        query.channels = channel.map(Glob.init)
        query.peers = node.map { text in PeerID(text: text).map { .id($0) } ?? .name(Glob(text)) }
        let now = Self.now
        query.from =
            last.map { now.subtractingSaturating($0.duration.nanoseconds) }
            ?? from?.time.utc(in: times, now: now)
        query.to = to?.time.utc(in: times, now: now)
        return query
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension StorePrinter.Format: ExpressibleByArgument {}

/// A time on the command line.
struct Moment: ExpressibleByArgument {
    let time: WrittenTime

    init?(argument: String) {
        if argument.hasPrefix("-"), let age = Settings.writtenDuration(String(argument.dropFirst()))
        {
            time = .ago(age)
        } else if let written = WrittenTime(argument) {
            time = written
        } else {
            return nil
        }
    }
}

extension StoreError {
    /// What `rivulet query` ends with.
    var status: ExitStatus {
        switch self {
        case .missing: .noInput
        case .empty, .foreign, .notADatabase, .notAFile, .damaged, .newer, .older: .data
        case .readOnly: .notPermitted
        case .busy: .tryAgain
        case .file(let error): ExitStatus(error)
        case .full, .other: .inputOutput
        }
    }
}

/// Standard output in large pieces. A reader that went away is no fault: nothing more is written.
final class StandardOutput {
    private var buffer: [UInt8] = []
    private var fault: Int32?

    init() { signal(SIGPIPE, SIG_IGN) }

    /// Returns whether more can be written.
    func write(_ text: String) -> Bool {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= 1 << 16 { flush() }
        return fault == nil
    }

    /// Writes the rest; throws if something could not be written, unless nobody reads any more.
    func finish() throws {
        flush()
        if let fault, fault != EPIPE {
            throw Failure(
                "standard output: \(String(cString: strerror(fault)))", .inputOutput)
        }
    }

    private func flush() {
        var rest = buffer[...]
        while fault == nil, !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno != EINTR { fault = errno }
                continue
            }
            rest = rest.dropFirst(count)
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

import ArgumentParser
import Configuration
import Glibc
import NearbyCore
import Store

struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print readings, windows, gaps or runs out of a collector's store.",
        discussion: """
            Times are RFC 3339 (2026-11-21T05:45:00Z, or a day alone) or relative to now (-1h). \
            Times that rest on no clock that could be trusted are estimates: the table marks them \
            with ~, csv and json name the clock.
            """)

    @Option(help: "The store, an SQLite file.") var store: String?
    @Option(help: "In place of --store: the collector's configuration file.") var config: String?
    @Option(help: "Only channels of this name.") var channel: String?
    @Option(help: "Only this peer: its id or what it calls itself.") var peer: String?
    @Option(parsing: .unconditional, help: "From this time on.") var from: Moment?
    @Option(parsing: .unconditional, help: "Up to this time, excluded.") var to: Moment?
    @Option(help: "Aggregate over windows of this width, such as 1min.") var window: Span?
    @Option(help: "table, csv or json.") var format = StorePrinter.Format.table
    @Option(help: "End after so many rows.") var limit: Int?
    @Flag(help: "Readings that are lost for good, and why.") var gaps = false
    @Flag(help: "The runs that the store knows.") var runs = false

    func validate() throws {
        if (store == nil) == (config == nil) {
            throw ValidationError("exactly one of --store and --config is needed")
        }
        if let limit, limit < 1 { throw ValidationError("--limit wants a number from 1") }
        if [gaps, runs, window != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--gaps, --runs and --window exclude each other")
        }
    }

    func run() throws {
        let path = try storePath()
        let output = StandardOutput()
        do {
            try print(StoreReader(path), to: output)
        } catch {
            throw Failure(error.description, .data)
        }
        try output.finish()
    }

    private func storePath() throws -> String {
        if let store { return store }
        let config = config ?? ""
        guard let store = try loaded(config).store else {
            throw Failure("\(config): the collector stores nothing (store: off)", .configuration)
        }
        return store
    }

    private func print(
        _ reader: StoreReader, to output: StandardOutput
    ) throws(StoreError) {
        var printer = StorePrinter(format)
        var left = limit ?? .max
        let write = { (line: String) -> Bool in
            left -= 1
            return output.write(line) && left > 0
        }
        if gaps {
            for gap in try reader.gaps(query) where !write(printer.line(gap)) { return }
        } else if runs {
            for run in try reader.runs(query) where !write(printer.line(run)) { return }
        } else if let window {
            try reader.windows(query, width: window.duration) { write(printer.line($0, $1)) }
        } else {
            try reader.readings(query) { write(printer.line($0, $1)) }
        }
    }

    private var query: StoreQuery {
        var query = StoreQuery()
        query.channel = channel
        query.peer = peer.map { text in PeerID(text: text).map { .id($0) } ?? .name(text) }
        query.from = from?.utc
        query.to = to?.utc
        return query
    }
}

extension StorePrinter.Format: ExpressibleByArgument {}

/// A time on the command line: RFC 3339, or before now (`-1h`).
struct Moment: ExpressibleByArgument {
    /// Nanoseconds since 1970.
    let utc: Int64

    init?(argument: String) {
        if let utc = UTCText.parse(argument) {
            self.utc = utc
            return
        }
        guard argument.hasPrefix("-"), let age = Settings.duration(String(argument.dropFirst()))
        else { return nil }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let now = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        utc = now.subtractingSaturating(age.nanoseconds)
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

import ArgumentParser
import Collector
import CollectorConfiguration
import Configuration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Store

struct Query: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print readings, windows, gaps or runs out of a collector's store.",
        discussion: """
            Without --limit, rows are sorted by node, channel and time, oldest first; with it, the \
            newest of all rows come first.

            Times are written as 10:00 (today), yesterday, today, now, 2026-11-21, \
            2026-11-21T05:45:00Z, or -1h (before now); those without a zone are in this machine's \
            zone, or in UTC with --utc. Tables show times the same way; ~ marks those that rest on \
            no trusted clock. CSV and JSON are always in UTC, and name the clock; \
            deploy/readings-json.md describes them. Windows begin at whole multiples of their \
            width in UTC, whatever the zone.

            Patterns are those of a shell: 'air.*', 'green?ouse-*', '[ab]*'. Quote them.

            Exit status: 0 also when no row matches, 64 for a wrong command line, 65 for a file \
            that is no store, a damaged one, or one of another version, 66 for one that is not \
            there, 74 when reading or writing fails, 75 when another process holds the store, \
            77 without permission, 78 for a wrong configuration. Rows printed before an error are \
            correct.
            """)

    @Option(help: "The store, an SQLite file; otherwise as configured.") var store: String?
    @OptionGroup var file: ConfigurationFile
    @Option(help: "Only channels of this name or pattern; may be repeated.")
    var channel: [String] = []
    @Option(
        name: [.long, .customLong("peer")],
        help: "Only the node of this name, pattern or PeerID; may be repeated.")
    var node: [String] = []
    @Option(parsing: .unconditional, help: "From this time on.", transform: TimeArgument.parse)
    var from: TimeArgument?
    @Option(
        parsing: .unconditional, help: "Up to this time, excluded.", transform: TimeArgument.parse)
    var to: TimeArgument?
    @Option(
        parsing: .unconditional,
        help: "From so long ago until now, such as 1h; in place of --from and --to.",
        transform: Span.parse)
    var last: Span?
    @Flag(help: "Times in UTC instead of this machine's zone.") var utc = false
    @Option(
        parsing: .unconditional, help: "Print statistics over windows of this width, such as 1min.",
        transform: Span.parse)
    var window: Span?
    @Option(help: "table, csv or json.") var format = StorePrinter.Format.table
    @Option(
        parsing: .unconditional, help: "Print only the newest rows, this many, newest first.")
    var limit: Int?
    @Flag(help: "Print the readings that are lost for good, and why.") var gaps = false
    @Flag(help: "Print the runs of agents that the store knows.") var runs = false
    @Flag(
        help: """
            Names, units and values as agents sent them, whatever `agents:` says; --node and \
            --channel match either name.
            """)
    var raw = false

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
        if let window, !(Duration.milliseconds(1)...Duration.seconds(86_400) ~= window.duration) {
            throw ValidationError("--window wants a width from 1ms to 1d")
        }
        if last != nil, from != nil || to != nil {
            throw ValidationError("--last excludes --from and --to")
        }
        let narrowed = !channel.isEmpty || from != nil || to != nil || last != nil
        if gaps || runs, narrowed {
            throw ValidationError(
                "--channel, --from, --to and --last do not narrow --gaps and --runs; --node does")
        }
        let (begin, end) = bounds(now: Self.now)
        if let begin, let end, begin >= end {
            throw ValidationError("--from is not before --to: nothing can lie between them")
        }
    }

    func run() throws {
        let (path, words) = try place()
        let output = StandardOutput()
        let printer = StorePrinter(format, times: times, width: max(Terminal.size.columns, 80))
        do {
            let reader = try StoreReader(path)
            reader.words = words
            reader.isRaw = raw
            try listing.print(reader, with: printer) { output.write($0) }
            for line in reader.takeDiagnostics() { StandardErrorLog().write(.warning, line) }
        } catch {
            try output.finish()
            throw Failure(error.text(of: path), error.status)
        }
        try output.finish()
    }

    /// The store, and what its collector says of agents: nothing where only the store is given.
    private func place() throws -> (path: String, words: FleetWords) {
        if let store { return (store, .none) }
        let (paths, name) = try file.paths(orGive: "--store FILE")
        guard let store = paths.store else {
            throw Failure("\(name): the collector stores nothing (store: off)", .configuration)
        }
        do {
            return (store, FleetWords(try CollectorSettings.agents(inFile: name)))
        } catch {
            guard raw else { throw Failure([error]) }
            // Raw readings do not depend on `agents`: a mistake there is only warned of.
            StandardErrorLog().write(.warning, "\(error)")
            return (store, .none)
        }
    }

    private var listing: StoreListing {
        let kind: StoreListing.Kind =
            if gaps { .gaps } else if runs { .runs } else if let window {
                .windows(window.duration)
            } else {
                .readings
            }
        return StoreListing(kind, query, limit: limit)
    }

    private var times: ShownTimes { utc ? .utc : .local }

    private var query: StoreQuery {
        var query = StoreQuery()
        query.channels = channel.map(Glob.init)
        query.peers = node.map { text in PeerID(text: text).map { .id($0) } ?? .name(Glob(text)) }
        (query.from, query.to) = bounds(now: Self.now)
        return query
    }

    private func bounds(now: Int64) -> (from: Int64?, to: Int64?) {
        let last = last.map { now.subtractingSaturating($0.duration.nanoseconds) }
        return (
            last ?? from?.time.utc(in: times, now: now), to?.time.utc(in: times, now: now)
        )
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

extension StorePrinter.Format: ExpressibleByArgument {}

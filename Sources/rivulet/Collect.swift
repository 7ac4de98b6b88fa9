import ArgumentParser
import Collecting
import Collector
import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import Program

struct Collect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take in readings, aggregate them over windows, and print the windows.",
        discussion: """
            On a terminal the table fills the screen and is drawn anew for each window; channels \
            that have fallen silent are red. Elsewhere one table of 80 columns follows the other.

            Patterns are those of a shell: 'air.*', 'green?ouse-*', '[ab]*'. Quote them.
            deploy/readings-json.md describes json and csv.

            Exit status: 0 after Ctrl-C, SIGTERM, --for and --once, 64 for a wrong command line, \
            78 for a wrong configuration, 69 for a port that somebody else has, 74 when standard \
            output cannot be written.
            """)

    @OptionGroup var file: ConfigurationFile
    @Option(help: "table, json or csv.") var format = CollectOptions.Format.table
    @Option(help: "Only the nodes of this name, pattern or PeerID; may be repeated.")
    var node: [String] = []
    @Option(help: "Only channels of this name or pattern; may be repeated.")
    var channel: [String] = []
    @Option(help: "The span of a window, such as 10s; otherwise as configured.") var every: Span?
    @Option(name: .customLong("for"), help: "End after this time, such as 1min.") var limit: Span?
    @Flag(help: "End after the first window with readings.") var once = false
    @Option(
        name: [.long, .customLong("colour")],
        help: "auto (on a terminal, unless NO_COLOR is set), always or never.")
    var color = CollectOptions.ColourChoice.auto
    @OptionGroup var verbosity: Verbosity
    @Flag(help: "Tell of each report on standard error.") var trace = false

    func run() throws {
        let settings = try file.settings()
        var options = CollectOptions()
        options.format = format
        options.nodes = node.map(Glob.init)
        options.channels = channel.map(Glob.init)
        options.every = every?.duration
        options.limit = limit?.duration
        options.once = once
        options.colour = color
        options.logLevel = verbosity.level
        options.traces = trace
        do {
            try CollectorProgram(settings, options).run()
        } catch {
            throw Failure(error)
        }
    }
}

extension CollectOptions.Format: ExpressibleByArgument {}
extension CollectOptions.ColourChoice: ExpressibleByArgument {}
extension StandardErrorLog.Level: ExpressibleByArgument {
    public init?(argument: String) { self.init(name: argument) }

    public static var allValueStrings: [String] { allCases.map(\.name) }
}

/// How much a program that goes on for long tells on standard error.
struct Verbosity: ParsableArguments {
    @Option(help: "What is logged: error, warning, notice, info or debug.")
    var logLevel: StandardErrorLog.Level?
    @Flag(name: .shortAndLong, help: "Log warnings and errors only.") var quiet = false
    @Flag(name: .shortAndLong, help: "Log everything, for finding out what is wrong.")
    var verbose = false

    func validate() throws {
        if [quiet, verbose, logLevel != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--quiet, --verbose and --log-level exclude each other")
        }
    }

    /// Nil: what suits the program.
    var level: StandardErrorLog.Level? { logLevel ?? (quiet ? .warning : verbose ? .debug : nil) }
}

/// A duration on the command line.
struct Span: ExpressibleByArgument {
    let duration: Duration

    init(duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Settings.writtenDuration(argument), duration > .zero else {
            return nil
        }
        self.duration = duration
    }

    var defaultValueDescription: String { Settings.text(duration) }
}

/// The settings in a file, or every mistake in it.
func loaded(_ path: String) throws -> Settings {
    switch Settings.load(path) {
    case .good(let settings): return settings
    case .bad(let mistakes):
        throw Failure(mistakes)
    }
}

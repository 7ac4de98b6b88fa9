import ArgumentParser
import Collector
import CollectorConfiguration
import CollectorShell
import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

struct Collect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Receive readings, store them, and print them aggregated over time windows.",
        discussion: """
            On a terminal the table fills the screen and is redrawn for each window; channels that \
            have fallen silent are red, those without a value yellow. Elsewhere tables of 80 \
            columns follow one another.

            Patterns are those of a shell: 'air.*', 'green?ouse-*', '[ab]*'. Quote them.
            deploy/readings-json.md describes json and csv.

            Where the collector of this configuration runs already, as a service, this looks in: \
            it shows the readings that come from now on, and stores nothing.

            SIGHUP reloads outputs, alarms, the page and agents from the configuration.

            Exit status: 0 after Ctrl-C, SIGTERM, --for and --once, 64 for a wrong command line, \
            69 when another process has the port or the state directory, 74 when standard output \
            cannot be written, 78 for a wrong configuration.
            """)

    @OptionGroup var file: ConfigurationFile
    @Option(help: "table, json or csv; none prints nothing and only stores.")
    var format = CollectOptions.Format.table
    @Option(help: "Only the nodes of this name, pattern or PeerID; may be repeated.")
    var node: [String] = []
    @Option(help: "Only channels of this name or pattern; may be repeated.")
    var channel: [String] = []
    @Option(
        parsing: .unconditional,
        help: "The width of a window, such as 10s; otherwise as configured.",
        transform: Span.parse)
    var every: Span?
    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: "End after this time, such as 1min.", transform: Span.parse)
    var limit: Span?
    @Flag(help: "End after the first window with readings.") var once = false
    @Option(
        name: [.long, .customLong("colour")],
        help: "auto (on a terminal, unless NO_COLOR is set), always or never.")
    var color = CollectOptions.ColourChoice.auto
    @Flag(help: "Times in UTC instead of this machine's zone.") var utc = false
    @Flag(help: "Names, units and values as agents send them, whatever `agents:` says.")
    var raw = false
    @OptionGroup var verbosity: Verbosity
    @Flag(help: "Print a line on standard error for each report.") var trace = false

    func validate() throws {
        if let every, !(Duration.milliseconds(100)...Duration.seconds(86_400) ~= every.duration) {
            throw ValidationError("--every wants a width from 100ms to 1d")
        }
    }

    func run() throws {
        var settings = try wholeSettings()
        // Who neither stores nor prints does not look in: there the lock says what is wrong.
        if settings.node.role == .collector, format != .none,
            let node = settings.node.runningNode
        {
            StandardErrorLog().write(
                .diagnostic, "the collector is \(node); looking in, nothing is stored twice")
            settings = settings.lookingIn(settings.node.lookingIn)
        }
        var options = CollectOptions()
        options.format = format
        options.nodes = node.map(Glob.init)
        options.channels = channel.map(Glob.init)
        options.every = every?.duration
        options.limit = limit?.duration
        options.once = once
        options.colour = color
        options.utc = utc
        options.raw = raw
        options.logLevel = verbosity.level
        options.traces = trace
        do {
            try CollectorProgram(settings, options).run()
        } catch {
            throw Failure(error)
        }
    }

    private func wholeSettings() throws -> CollectorSettings {
        switch CollectorSettings.load(try file.required()) {
        case .good(let settings): return settings
        case .bad(let mistakes): throw Failure(mistakes)
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
struct Span: CustomStringConvertible {
    let duration: Duration

    static func parse(_ text: String) throws -> Span {
        guard let duration = Settings.writtenDuration(text), duration > .zero else {
            throw ValidationError("write a number and a unit: 500ms, 10s, 5min, 2h or '1 day'")
        }
        return Span(duration: duration)
    }

    var description: String { Settings.text(duration) }
}

/// What every node has of the settings in a file, or every mistake there.
func loaded(_ path: String) throws -> Settings {
    switch Settings.load(path) {
    case .good(let settings): return settings
    case .bad(let mistakes):
        throw Failure(mistakes)
    }
}

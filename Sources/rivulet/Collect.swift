import ArgumentParser
import Collecting
import Configuration
import Glibc
import NearbyCore
import Program

struct Collect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Take in readings, aggregate them over windows, and print the windows.")

    @Option(help: "The configuration file.") var config: String
    @Option(help: "table, json or csv.") var format = CollectOptions.Format.table
    @Option(help: "The span of a window, such as 10s; otherwise as configured.") var every: Span?
    @Option(name: .customLong("for"), help: "End after this time, such as 1min.") var limit: Span?
    @Flag(help: "End after the first window with readings.") var once = false
    @Flag(help: "Tell of each report on standard error.") var trace = false

    func run() throws {
        let settings = try loaded(config)
        var options = CollectOptions()
        options.format = format
        options.every = every?.duration
        options.limit = limit?.duration
        options.once = once
        options.traces = trace
        do {
            try CollectorProgram(settings, options).run()
        } catch {
            throw Failure(error)
        }
    }
}

extension CollectOptions.Format: ExpressibleByArgument {}

/// A duration on the command line, written as in the configuration.
struct Span: ExpressibleByArgument {
    let duration: Duration

    init(duration: Duration) { self.duration = duration }

    init?(argument: String) {
        guard let duration = Settings.duration(argument), duration > .zero else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { "\(duration.components.seconds)s" }
}

/// The settings in a file, or every mistake in it.
func loaded(_ path: String) throws -> Settings {
    switch Settings.load(path) {
    case .good(let settings): return settings
    case .bad(let mistakes):
        throw Failure(mistakes)
    }
}

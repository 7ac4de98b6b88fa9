import Configuration
import Glibc
import NearbyLinux

/// What `rivulet-agent` was asked to do.
enum AgentCommand: Equatable {
    case run(config: String, level: StandardErrorLog.Level?)
    /// Asks the one that runs.
    case health(config: String)
    case help
    case version

    /// Throws with what is wrong.
    init(_ arguments: [String]) throws(StartError) {
        var config: String?
        var levels: Set<StandardErrorLog.Level> = []
        var asksForHealth = false
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            switch parts.first ?? argument {
            case "-h", "--help", "help":
                self = .help
                return
            case "--version":
                self = .version
                return
            case "--health": asksForHealth = true
            case "-q", "--quiet": levels.insert(.warning)
            case "-v", "--verbose": levels.insert(.debug)
            case "--config":
                guard let path = parts.dropFirst().first ?? rest.popFirst() else {
                    throw StartError("--config wants a file", .usage)
                }
                config = path
            case "--log-level":
                guard let name = parts.dropFirst().first ?? rest.popFirst(),
                    let named = StandardErrorLog.Level(name: name)
                else {
                    let names = StandardErrorLog.Level.allCases.map(\.name)
                    throw StartError(
                        "--log-level wants one of " + names.joined(separator: ", "), .usage)
                }
                levels.insert(named)
            default:
                throw StartError(
                    "unknown argument \(PlainText.shown(argument)); "
                        + Suggestion.text(for: argument, among: Self.options), .usage)
            }
        }
        guard levels.count < 2 else {
            throw StartError("--quiet, --verbose and --log-level exclude each other", .usage)
        }
        let path = config ?? Settings.standardPath
        self = asksForHealth ? .health(config: path) : .run(config: path, level: levels.first)
    }

    private static let options = [
        "--config", "--log-level", "--quiet", "--verbose", "--health", "--version", "--help",
    ]

    static let usage = """
        usage: rivulet-agent [--config FILE] [--quiet | --verbose | --log-level LEVEL | --health]
        """

    static let helpText = """
        Runs an agent or a relay, as its configuration says, until SIGTERM or Ctrl-C. SIGHUP
        reloads the sensors. `rivulet check FILE` checks a configuration, `rivulet status` shows
        what the agent does.

        \(usage)

          --config FILE      the configuration; otherwise \(Settings.standardPath)
          --log-level LEVEL  what is logged on standard error: error, warning, notice, info
                             (the default) or debug
          -q, --quiet        log warnings and errors only
          -v, --verbose      log everything, for finding out what is wrong
          --health           ask the agent that runs whether it works: it serves, and sent a
                             beacon or has a neighbour; 75 if not, 69 if none runs
          --version          print the version
          -h, --help         print this

        Exit status: 0 after SIGTERM and Ctrl-C, 64 for a wrong command line, 78 for a wrong
        configuration; others as in sysexits.h.
        """
}

/// `rivulet-agent`: the exit status, 0 after SIGTERM.
public func agentMain(_ arguments: [String]) -> Int32 {
    StandardDescriptors.fill()
    let (path, level): (String, StandardErrorLog.Level?)
    let plain = StandardErrorLog()
    do throws(StartError) {
        switch try AgentCommand(arguments) {
        case .help:
            print(AgentCommand.helpText)
            return 0
        case .version:
            print(ProgramVersion.text)
            return 0
        case .health(let config): return health(config, plain)
        case .run(let config, let named): (path, level) = (config, named)
        }
    } catch {
        plain.write(.error, error.description)
        plain.write(.error, AgentCommand.usage)
        return error.status.rawValue
    }
    switch Settings.load(path) {
    case .bad(let mistakes):
        for mistake in mistakes { plain.write(.error, mistake.description) }
        return ExitStatus(mistakes).rawValue
    case .good(let settings):
        guard settings.role == .agent || settings.role == .relay else {
            plain.write(
                .error,
                "\(settings.file): role \(settings.role.rawValue): start it with "
                    + "`rivulet collect`")
            return ExitStatus.configuration.rawValue
        }
        let log = StandardErrorLog(threshold: level ?? .information, showsTimes: true)
        do throws(StartError) {
            try AgentProgram(settings, path: path, log: log).run()
            return 0
        } catch {
            log.write(.error, error.description)
            return error.status.rawValue
        }
    }
}

/// Prints what the agent that runs says of its health, and returns the exit status.
private func health(_ config: String, _ log: StandardErrorLog) -> Int32 {
    do {
        let paths = try ConfiguredPaths.load(config)
        let answer = try StatusQuery(anyOf: paths.controls).ask("health")
        print(answer)
        return (answer.hasPrefix(NodeHealth.good) ? ExitStatus.good : .tryAgain).rawValue
    } catch let mistake as Mistake {
        log.write(.error, mistake.description)
        return ExitStatus([mistake]).rawValue
    } catch {
        log.write(.error, "\(error)")
        return ExitStatus(error).rawValue
    }
}

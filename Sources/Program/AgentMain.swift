import Configuration
import Glibc
import NearbyLinux

/// `rivulet-agent --config FILE`: the exit status, 0 after SIGTERM.
public func agentMain(_ arguments: [String]) -> Int32 {
    let usage = "usage: rivulet-agent --config FILE"
    guard arguments.count == 2, arguments[0] == "--config" else {
        let isHelp = arguments == ["--help"]
        print(
            isHelp
                ? usage + "\nAgent or relay, as the file says; `rivulet check FILE` checks it."
                : usage)
        return isHelp ? 0 : ExitStatus.usage.rawValue
    }
    let log = StandardErrorLog()
    switch Settings.load(arguments[1]) {
    case .bad(let mistakes):
        for mistake in mistakes { log.write(.error, mistake.description) }
        return ExitStatus(mistakes).rawValue
    case .good(let settings):
        guard settings.role == .agent || settings.role == .relay else {
            log.write(.error, "role \(settings.role.rawValue): start it with `rivulet collect`")
            return ExitStatus.configuration.rawValue
        }
        do throws(StartError) {
            try AgentProgram(settings, path: arguments[1]).run()
            return 0
        } catch {
            log.write(.error, error.description)
            return error.status.rawValue
        }
    }
}

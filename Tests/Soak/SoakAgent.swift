import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Telemetry

/// An agent as it is, that also writes down each reading before it leaves: what the store is
/// compared with in the end.
///
///     soak-agent --config FILE --record FILE
///     a line: run,sequence,channel,milliseconds,value    value: a decimal, or nothing
@main struct SoakAgent {
    static func main() {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, arguments[1] == "--config", arguments[3] == "--record",
            case .good(let settings) = Settings.load(arguments[2])
        else { exit(64) }
        // Appended with one write a line: what is written stays when the process is killed.
        let record = open(arguments[4], O_WRONLY | O_CREAT | O_APPEND, 0o644)
        guard record >= 0 else { exit(74) }
        do {
            let program = try AgentProgram(settings, path: arguments[2])
            program.onReading = { run, sequence, sample in
                let value = sample.outcome.value.map { "\($0)" } ?? ""
                let milliseconds = sample.time.nanoseconds / 1_000_000
                var line = Array(
                    "\(run),\(sequence),\(sample.channel.name),\(milliseconds),\(value)\n".utf8)
                _ = write(record, &line, line.count)
            }
            try program.run()
        } catch {
            StandardErrorLog().write(.error, error.description)
            exit(1)
        }
    }
}

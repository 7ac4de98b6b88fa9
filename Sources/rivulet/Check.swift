import ArgumentParser
import CollectorConfiguration
import Configuration
import NodeShell
import Setup

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Name every mistake in a configuration, with line and column.",
        discussion: """
            With --here it also looks whether this machine has what the file names: programs, \
            files, interfaces, pins, ports and folders. Programs are run once then. \
            Warnings leave the exit status 0; mistakes make it 78.
            """)

    @Flag(help: "Also look whether it fits this machine; reads sensors once.") var here = false
    @OptionGroup var standard: ConfigurationFile
    @Argument(help: "The configuration files, if there are others; - is standard input.")
    var files: [String] = []

    func run() throws {
        var worst = ExitStatus.good
        for file in files.isEmpty ? [try standard.required()] : files {
            let status = check(file)
            if worst == .good { worst = status }
        }
        if worst != .good { throw Failure("", worst) }
    }

    private func check(_ file: String) -> ExitStatus {
        switch file == "-" ? CollectorSettings.loadStandardInput() : CollectorSettings.load(file) {
        case .bad(let mistakes):
            for mistake in mistakes { complain(mistake.description) }
            return ExitStatus(mistakes)
        case .good(let whole):
            let settings = whole.node
            for warning in settings.warnings {
                complain(
                    "\(warning.file):\(warning.mark.line):\(warning.mark.column): warning: "
                        + warning.message)
            }
            let keys = NodeKeys(settings).faults()
            for line in keys.errors { complain(line) }
            for line in keys.warnings { complain("warning: \(line)") }
            let page = whole.web.map { (bind: $0.bind, port: $0.port) }
            var findings =
                here ? MachineCheck.findings(settings, isStarting: false, page: page) : []
            if here { findings += MachineCheck.trial(settings, without: findings) }
            for finding in findings { complain(finding.description) }
            if here, let shortage = NodeSetup.shortage(settings) {
                complain("\(settings.file): warning: \(shortage)")
            }
            guard keys.errors.isEmpty, findings.allSatisfy({ !$0.isError }) else {
                return .configuration
            }
            let count = settings.sensors.count
            print(
                "\(settings.file): valid: \(settings.role.rawValue) \(settings.name) in network "
                    + "\(settings.network), \(count == 1 ? "1 sensor" : "\(count) sensors")")
            return .good
        }
    }
}

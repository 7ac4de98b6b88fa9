import ArgumentParser
import FleetTerminal
import Glibc
import NearbyLinux
import NodeShell
import Survey

struct Top: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show nodes, channels, links and drops live, as the collector here sees them.",
        discussion: """
            Asks the collector that runs on this machine once a second. 1 to 6 and Tab choose \
            between nodes, channels, links, outputs, alarms and drops; Enter follows a node, s \
            sorts, / filters, ? lists all keys, q ends. Sparklines begin when it is started.

            Where standard output is no terminal, everything is written once, as text.

            Exit status: 0 after q, Ctrl-C and SIGTERM, 69 when no collector answers at the \
            start, 77 without permission for its socket, 78 for a wrong configuration.
            """)

    @OptionGroup var node: NodeSocket
    @Flag(help: "Write everything once, as text, and end.") var once = false
    @Option(
        name: [.long, .customLong("colour")],
        help: "auto (on a terminal, unless NO_COLOR is set), always or never.")
    var color = TopColour.auto

    func run() throws {
        let query = try node.query()
        let first: FleetSource.Answer
        do {
            first = FleetSource.Answer(snapshot: try FleetAnswer.whole { try query.ask($0) })
        } catch let error as SurveyError {
            throw Failure("\(error)", .unavailable)
        } catch {
            throw Failure(error)
        }
        guard !once, Terminal.takesSequences, isatty(STDIN_FILENO) == 1 else {
            let width = Terminal.isThere ? Terminal.size.columns : 0
            print(
                TopReport.text(first.snapshot, width: width > 0 ? width : 160), terminator: "")
            return
        }
        try TopProgram(node, colours: color.isOn, first: first).run()
    }
}

/// When colours are used.
enum TopColour: String, CaseIterable, ExpressibleByArgument {
    case auto, always, never

    var isOn: Bool {
        switch self {
        case .auto: Terminal.takesColours
        case .always: true
        case .never: false
        }
    }
}

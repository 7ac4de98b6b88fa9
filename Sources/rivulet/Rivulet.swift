import ArgumentParser
import Configuration
import Program

/// The command line.
@main
struct Rivulet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rivulet",
        abstract: "Readings from small boards, over whatever network there is.",
        version: ProgramVersion.text,
        subcommands: [
            Collect.self, Check.self, Status.self, Query.self, MakeTicket.self,
            Connect.self, MakeSecret.self, Reference.self, ShowBoard.self, FindSensors.self,
        ])

    /// Ends as sysexits.h says; a wrong command line with 64.
    static func main() {
        do {
            if let word = CommandLine.arguments.dropFirst().first { try checkCommand(word) }
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as Failure {
            failure.leave()
        } catch {
            exit(withError: error)
        }
    }

    /// Names the nearest command where there is none of that name.
    private static func checkCommand(_ word: String) throws(Failure) {
        let names = configuration.subcommands.map { $0._commandName }
        let isKnown = names.contains(word) || word == "help" || word.hasPrefix("-")
        guard !isKnown else { return }
        let shown = configuration.subcommands.filter { $0.configuration.shouldDisplay }
        throw Failure(
            "rivulet has no command \(PlainText.shown(word)); "
                + Suggestion.text(for: word, among: shown.map { $0._commandName })
                + "\n`rivulet --help` lists them.", .usage)
    }
}

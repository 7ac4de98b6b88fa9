import ArgumentParser
import Configuration
import Glibc
import NodeShell

/// The command line.
@main
struct Rivulet: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rivulet",
        abstract: "Readings from small boards, over whatever network there is.",
        version: ProgramVersion.text,
        subcommands: [
            Init.self, Join.self, Collect.self, Check.self, Status.self, Browse.self,
            ShowTopology.self, Ping.self, Trace.self, SendFile.self, ReceiveFiles.self,
            Query.self, Top.self, Simulate.self, MakeTicket.self, Connect.self, MakeSecret.self,
            IdentityCommand.self,
            Reference.self, ShowBoard.self, FindSensors.self,
        ])

    /// Ends as sysexits.h says; a wrong command line with 64.
    static func main() {
        StandardDescriptors.fill()
        // That a reader went away is no fault, and no reason to end with a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            try refuseSecrets()
            if let word = CommandLine.arguments.dropFirst().first { try checkCommand(word) }
            var command = try parseAsRoot()
            try command.run()
            try StandardOutput.flushPrinted()
        } catch let failure as Failure {
            failure.leave()
        } catch let error as StartError {
            Failure(error).leave()
        } catch {
            exit(withError: error)
        }
    }

    /// What stands on the command line is seen by every user of the machine (`ps`), and kept by the
    /// shell; nor does a message of the parser repeat it.
    private static func refuseSecrets() throws(Failure) {
        guard CommandLine.arguments.dropFirst().contains(where: PlainText.resemblesSecret) else {
            return
        }
        throw Failure(
            "a network's secret is on the command line, where every user of this machine can "
                + "see it and the shell's history keeps it. Nothing was done. `rivulet join` "
                + "asks for the line, or takes it with --line-file FILE or on standard input.\n"
                + "Treat the secret as known to others: put a new one (`rivulet secret`) first in "
                + "every node's secret file, then remove the old one.", .usage)
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

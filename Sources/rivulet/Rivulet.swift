import ArgumentParser
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
            var command = try parseAsRoot()
            try command.run()
        } catch let failure as Failure {
            failure.leave()
        } catch {
            exit(withError: error)
        }
    }
}

import ArgumentParser
import Configuration
import Program

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Name every mistake in a configuration, with line and column.")

    @Argument(help: "The configuration file.") var file: String

    func run() throws {
        switch Settings.load(file) {
        case .good(let settings):
            print(
                "\(file): right: \(settings.role.rawValue) \(settings.name) in network "
                    + "\(settings.network), \(settings.sensors.count) sensors")
        case .bad(let mistakes):
            throw Failure(
                mistakes.map(\.description).joined(separator: "\n"), .configuration)
        }
    }
}

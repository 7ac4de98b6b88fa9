import ArgumentParser
import Boards
import Configuration
import NearbyCore
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
            for mistake in mistakes { print(mistake) }
            throw ExitCode(1)
        }
    }
}

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "What a running node knows: neighbours, routes, queues, and a counter for every drop.")

    @Flag(help: "Everything, as one JSON object.") var json = false
    @Option(help: "The node's control socket.") var socket = "/run/rivulet/agent.sock"

    func run() throws {
        do {
            print(try StatusQuery(socket: socket).text(json: json))
        } catch {
            throw Failure(error.description)
        }
    }
}

struct MakeSecret: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "secret",
        abstract: "Print a new network secret: 128 random bits and a checksum.")

    func run() {
        var generator = SystemRandomNumberGenerator()
        print(
            Secret.text(
                (0..<Secret.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }
}

struct Reference: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the reference of all configuration keys.", shouldDisplay: false)

    @Flag(help: "Of board files instead.") var boards = false

    func run() { print(boards ? Board.reference : Settings.reference, terminator: "") }
}

import ArgumentParser
import Boards
import CollectorConfiguration
import Configuration

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

    func run() { print(boards ? Board.reference : CollectorSettings.reference, terminator: "") }
}

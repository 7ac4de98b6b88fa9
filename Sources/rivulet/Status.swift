import ArgumentParser
import Program

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
            throw Failure(error)
        }
    }
}

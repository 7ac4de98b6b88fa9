import ArgumentParser
import Program

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "What a running node knows: the network's nodes, its sensors, and what is wrong.",
        discussion: """
            A line for each node of the network: how it is reached, and when it was last seen. \
            deploy/status.md explains it, and the JSON.
            """)

    @Flag(help: "Everything, as one JSON object.") var json = false
    @Flag(name: .shortAndLong, help: "With addresses and a counter for every drop.")
    var verbose = false
    @Option(help: "The node's control socket.") var socket = "/run/rivulet/agent.sock"

    func run() throws {
        do {
            print(try StatusQuery(socket: socket).text(json: json, isVerbose: verbose))
        } catch {
            throw Failure(error)
        }
    }
}

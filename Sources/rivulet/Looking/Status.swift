import ArgumentParser
import NodeShell

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Show what a running node knows: the network's nodes, its sensors, what is wrong.",
        discussion: """
            A line for each node of the network: how it is reached, and when it was last seen. \
            deploy/status.md explains it, and the JSON.
            """)

    @Flag(help: "Print everything as one JSON object.") var json = false
    @Flag(name: .shortAndLong, help: "Add addresses and a counter for every drop.")
    var verbose = false
    @OptionGroup var node: NodeSocket

    func run() throws {
        do {
            print(try node.query().text(json: json, isVerbose: verbose))
        } catch {
            throw Failure(error)
        }
    }
}

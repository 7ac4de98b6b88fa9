import ArgumentParser
import Program

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "What a running node knows: neighbours, routes, queues, and a counter for every drop.")

    @Flag(help: "Everything, as one JSON object.") var json = false
    @OptionGroup var node: NodeSocket

    func run() throws {
        do {
            print(try node.query().text(json: json))
        } catch {
            throw Failure(error)
        }
    }
}

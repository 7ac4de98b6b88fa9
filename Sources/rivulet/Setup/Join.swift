import ArgumentParser
import Configuration
import Glibc
import NodeShell
import Setup

struct Join: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make this machine a node of a network that exists, by its line.",
        discussion: """
            `rivulet init --show` prints the line on any node of the network. It holds the secret, \
            so it comes from the terminal, from standard input or from a file, and never stands \
            on the command line, which others can see and the shell keeps:

                rivulet join                          # asks for it
                rivulet join --name north <line.txt
                rivulet join --line-file /media/usb/line.txt --role relay

            Otherwise it does what `rivulet init` does, and ends with the same statuses; 65 if the \
            line is damaged.
            """)

    @Option(help: "The file with the line; - is standard input.") var lineFile: String?
    @OptionGroup var node: NewNodeOptions

    func run() throws {
        var wish = NodeWish()
        try node.complete(&wish)
        try Self.join(node, wish, file: lineFile)
    }

    /// Asks for the line on a terminal.
    static func ask(_ node: NewNodeOptions, _ wish: NodeWish) throws {
        try join(node, wish, file: nil)
    }

    private static func join(_ node: NewNodeOptions, _ given: NodeWish, file: String?) throws {
        let places = node.place.places
        let setup = { NodeSetup($0, places: places, tell: complain) }
        try setup(given).requireRoot()
        let isAsked = file == nil && isatty(STDIN_FILENO) == 1
        let line = isAsked ? try typedLine() : try readLine(file ?? "-")
        var wish = NodeWish(joining: line)
        try node.complete(&wish)
        if isAsked, !node.yes, !setup(wish).hasSettings, node.role == nil || node.name == nil,
            case .answers(let answers) = try node.ask(wish, joins: true)
        {
            wish = answers
        }
        try node.carryOut(setup(wish))
    }

    private static func typedLine() throws -> JoinLine {
        let prompt = "The line, as `rivulet init --show` prints it on a node of the network:\n"
        // What was pasted in parts: a line that is broken goes on in the next.
        var before = ""
        while let text = Prompt.line(prompt) {
            do throws(JoinLine.Fault) {
                return try JoinLine(text: text)
            } catch {
                if let line = try? JoinLine(text: before + text) { return line }
                before = error == .notALine ? before + text : text
                complain(error.description)
            }
        }
        throw Failure("\nno line: nothing was changed", .noInput)
    }

    private static func readLine(_ file: String) throws -> JoinLine {
        let text: [UInt8]
        do throws(SmallFile.Fault) {
            text =
                file == "-"
                ? try SmallFile.readStandardInput(limit: 4_096)
                : try SmallFile.read(file, limit: 4_096)
        } catch {
            let name = file == "-" ? "standard input" : PlainText.shown(file)
            throw Failure("\(name): \(error)", ExitStatus(code: error.systemCode))
        }
        do throws(JoinLine.Fault) {
            return try JoinLine(text: String(decoding: text, as: UTF8.self))
        } catch {
            throw Failure(error.description, .data)
        }
    }
}

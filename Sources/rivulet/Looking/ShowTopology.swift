import ArgumentParser
import Glibc
import NearbyCore
import NodeShell
import Survey

struct ShowTopology: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topology",
        abstract: "Show who reaches whom over what, as the node that runs here knows it.",
        discussion: """
            A tree from that node outwards, along the routes in use: what each node is reached \
            over from the one before it, what the whole route costs, how many frames to a \
            neighbour were not answered, and the round trip. The node here knows the next hop to \
            each node; of what lies behind that, the nodes on the way are asked. One that is only \
            somewhere behind its neighbour says `behind`.
            """)

    @Option(help: "Write a picture to this file; - is standard output.") var svg: String?
    @Flag(help: "Print one JSON object.") var json = false
    @Flag(help: "Ask no other node: only what the node here knows, at once.") var local = false
    @Option(
        parsing: .unconditional, help: "How long an answer may take, at most 10s; otherwise 500ms.",
        transform: Span.parse)
    var timeout = Span(duration: .milliseconds(500))
    @OptionGroup var node: NodeSocket

    func validate() throws {
        if json, svg == "-" { throw ValidationError("--json and --svg - exclude each other") }
        try timeout.requirePatience()
    }

    func run() throws {
        if let svg { try Self.requireFolder(of: svg) }
        let asker = try Asker(node)
        let findings =
            local
            ? [:]
            : try Topology.probe(asker.map) {
                try asker.ask($0, hopLimit: $1, patience: timeout.duration)
            }
        let topology = Topology(asker.map, findings: findings)
        if let svg {
            let picture = TopologyPicture(topology).text
            if svg == "-" { return print(picture, terminator: "") }
            try Self.write(picture, to: svg)
        }
        if json { print(topology.json) } else if svg == nil { topology.lines.forEach { print($0) } }
    }

    /// So that nobody waits for a picture that cannot be written.
    static func requireFolder(of path: String) throws {
        guard let folder = path.pathFolder, folder != "/" else { return }
        guard access(folder, F_OK) != 0, errno == ENOENT else { return }
        throw Failure("\(path) cannot be created: there is no folder \(folder)", .cannotCreate)
    }

    static func write(_ text: String, to path: String) throws {
        func fault() -> Failure {
            let code = errno
            return Failure(
                "\(path) cannot be written: \(String(cString: strerror(code)))",
                [EACCES, EPERM].contains(code) ? ExitStatus(code: code) : .cannotCreate)
        }
        guard let file = fopen(path, "w") else { throw fault() }
        let bytes = Array(text.utf8)
        let count = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, count == bytes.count else { throw fault() }
    }
}

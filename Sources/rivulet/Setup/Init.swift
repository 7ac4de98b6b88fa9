import ArgumentParser
import Configuration
import NodeShell
import Setup

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make this machine a node: secret, folders, configuration, service.",
        discussion: """
            Asks on a terminal what was not given. Unattended:

                rivulet init --network greenhouse --role collector

            makes a secret, a configuration with the sensors that are attached, checks it, and \
            starts the service. Standard output gets the line that the next board needs: give it \
            to `rivulet join` there. Whoever has the line is let in.

            What is there already is kept: a second run finishes what the first could not, and \
            prints the line again. --force replaces what differs, and keeps the old as .bak.

            Exit status: 0, 64 for a wrong command line, 69 when the service does not start, 73 \
            when something else is there already, 77 without permission, 78 when the configuration \
            does not fit this machine.
            """)

    @Option(help: "The network's name: 1 to 15 of a–z, 0–9 and hyphen.") var network: String?
    @OptionGroup var node: NewNodeOptions
    @Option(help: "A secret to use instead of a new one; - is standard input.")
    var secretFile: String?
    @Flag(help: "Change nothing; print what the next board needs, and a QR code.") var show = false
    @Flag(help: "Only let the service open what the configuration needs now.") var devices = false

    func validate() throws {
        if show, devices { throw ValidationError("--show and --devices exclude each other") }
        if show || devices, network != nil || secretFile != nil || node.isGiven {
            throw ValidationError("--show and --devices go by the configuration that is there")
        }
    }

    func run() throws {
        let places = node.place.places
        if show {
            return try node.printLine(NodeSetup(NodeWish(), places: places, tell: complain))
        }
        if devices { return try allowDevices(places) }
        var wish = NodeWish()
        wish.network = network
        try node.complete(&wish)
        if let secretFile { wish.secrets = try secrets(secretFile) }
        let setup = { NodeSetup($0, places: places, tell: complain) }
        try setup(wish).requireRoot()
        if !node.yes, !setup(wish).hasSettings, network == nil || node.role == nil {
            switch try node.ask(wish, joins: false) {
            case .answers(let answers): wish = answers
            case .joins: return try Join.ask(node, wish)
            }
        }
        try node.carryOut(setup(wish))
    }

    private func secrets(_ file: String) throws -> [[UInt8]] {
        switch file == "-" ? Secret.loadStandardInput() : Secret.load(file) {
        case .success(let secrets): return secrets
        case .failure(let fault): throw Failure("the secret: \(fault)", .data)
        }
    }

    private func allowDevices(_ places: Places) throws {
        let settings = try loaded(places.configuration)
        guard places.isSystem else {
            // No service goes by it: only shown.
            return print(NodeSetup.dropIn(for: settings), terminator: "")
        }
        let setup = NodeSetup(NodeWish(), places: places, tell: complain)
        try setup.requireRoot()
        guard try setup.allowDevices(settings) else {
            return complain("nothing to change: the service may open what it needs")
        }
        if !setup.restartService(settings) { throw Failure("", .unavailable) }
    }
}

import ArgumentParser
import Configuration
import Glibc
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

/// Where a node's files are.
struct NodePlace: ParsableArguments {
    @Option(help: "The configuration file; otherwise /etc/rivulet/config.yaml.")
    var config: String?
    @Option(help: "Keep everything in this folder, without a service: for trying out.")
    var directory: String?

    func validate() throws {
        if config != nil, directory != nil {
            throw ValidationError("--config and --directory exclude each other")
        }
    }

    var places: Places {
        directory.map { Places(directory: $0) } ?? config.map { Places(configuration: $0) }
            ?? Places()
    }
}

/// What `rivulet init` and `rivulet join` have in common.
struct NewNodeOptions: ParsableArguments {
    @Option(help: "agent, relay or collector; otherwise agent.") var role: ConfiguredRole?
    @Option(help: "The node's name; otherwise the host name.") var name: String?
    @OptionGroup var place: NodePlace
    @Flag(help: "Replace what is there; the old is kept as .bak.") var force = false
    @Flag(name: .shortAndLong, help: "Ask nothing: use the defaults for what is not given.")
    var yes = false
    @Flag(help: "Print the line as a QR code too; a terminal always gets it.") var qr = false

    enum Answers {
        case answers(NodeWish)
        case joins
    }

    /// Whether anything was given that changes a node.
    var isGiven: Bool { role != nil || name != nil || force }

    func complete(_ wish: inout NodeWish) throws {
        wish.role = role
        wish.name = name
        wish.isForced = force
    }

    /// Asks on the terminal for what the wish leaves open.
    func ask(_ wish: NodeWish, joins: Bool) throws -> Answers {
        guard isatty(STDIN_FILENO) == 1 else {
            throw Failure(
                "there is no terminal to ask on; give \(joins ? "" : "--network and ")--role, or "
                    + "--yes for the defaults", .usage)
        }
        var dialogue = Dialogue(wish, joins: joins)
        while dialogue.outcome == .open {
            guard let line = Prompt.line(dialogue.prompt) else {
                throw Failure("\nno answer: nothing was changed", .noInput)
            }
            if let complaint = dialogue.answer(line) { complain(complaint) }
        }
        switch dialogue.outcome {
        case .joins: return .joins
        case .agreed, .open: return .answers(dialogue.wish)
        case .refused: throw Failure("nothing was changed", .good)
        }
    }

    func carryOut(_ setup: NodeSetup) throws {
        let outcome = try setup.run()
        let isStarted = setup.startService(outcome)
        try show(setup, outcome.settings)
        if !isStarted { throw Failure("", .unavailable) }
    }

    func printLine(_ setup: NodeSetup) throws {
        let places = place.places
        guard geteuid() == 0 || access(places.secret, F_OK) != 0 || access(places.secret, R_OK) == 0
        else {
            throw Failure(
                "\(places.secret) is only for the node and root; run this with sudo",
                .notPermitted)
        }
        try show(setup, try loaded(places.configuration))
    }

    private func show(_ setup: NodeSetup, _ settings: Settings) throws {
        guard !StandardStream.isJournal(STDOUT_FILENO) else {
            return complain("`rivulet init --show` prints what the next board needs")
        }
        guard !settings.secrets.isEmpty else {
            return complain(
                settings.trust.isByKey
                    ? "`trust` goes by keys: the next board needs the same `network` and `trust`; "
                        + "`rivulet identity` shows its own key"
                    : "anybody is let in: the next board needs no secret")
        }
        let line = try setup.joinLine(settings)
        complain(
            "The next board joins with `rivulet join` and this line. Whoever has it is let in:")
        print(line.text)
        if qr || isatty(STDOUT_FILENO) == 1 { print(try QRCode(line.text.uppercased()).text) }
    }
}

extension ConfiguredRole: ExpressibleByArgument {}

/// A line that somebody types.
enum Prompt {
    /// Nil at the end of the input.
    static func line(_ prompt: String) -> String? {
        var bytes = Array(prompt.utf8)
        _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
        return readLine()
    }
}

enum StandardStream {
    /// Whether it leads into systemd's journal, which keeps what it gets (systemd.exec(5),
    /// `JOURNAL_STREAM`).
    static func isJournal(_ file: Int32) -> Bool {
        guard let text = getenv("JOURNAL_STREAM").map({ String(cString: $0) }) else { return false }
        var status = stat()
        return fstat(file, &status) == 0 && text == "\(status.st_dev):\(status.st_ino)"
    }
}

/// A line for people, on standard error.
func complain(_ line: String) {
    var bytes = Array((line + "\n").utf8)
    _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
}

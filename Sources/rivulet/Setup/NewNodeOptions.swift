import ArgumentParser
import Configuration
import Glibc
import NodeShell
import Setup

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
        guard !StandardOutput.isJournal else {
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

import Boards
import CollectorConfiguration
import Configuration
import Glibc
import NearbyCore
import NodeShell

/// What a node shall be. Nil: as it is already, else as usual.
public struct NodeWish: Equatable, Sendable {
    public var network: String?
    public var role: ConfiguredRole?
    public var name: String?
    /// 16 bytes each.
    public var secrets: [[UInt8]]?
    public var collectors: [PeerID] = []
    public var peers: [TransportAddress] = []
    /// Whether what is there may be replaced; it is kept beside as `.bak`.
    public var isForced = false

    public init() {}

    public init(joining line: JoinLine) {
        network = line.network
        secrets = line.secrets
        collectors = line.collectors
        peers = line.addresses
    }

    /// What was not asked for stays as these settings have it.
    func filled(from settings: Settings) -> NodeWish {
        var wish = self
        wish.role = role ?? settings.role
        wish.name = name ?? settings.name
        // Who joins a network goes by its line alone.
        guard network == nil || network == settings.network, secrets == nil else { return wish }
        wish.network = settings.network
        wish.collectors = settings.collectors
        return wish
    }
}

/// Makes this machine a node: secret, folders, identity, what the service is allowed, and last the
/// configuration, without which none of the services starts. Each file is whole or not there, also
/// when the power goes; what is there already is kept, so that a second run finishes the first.
public struct NodeSetup {
    private(set) var wish: NodeWish
    let places: Places
    /// Where the kernel's files and the services' units are; tests give another.
    let root: String
    /// Told what happens, a line at a time.
    let tell: (String) -> Void
    let files: SetupFiles

    public init(
        _ wish: NodeWish, places: Places, root: String = "", tell: @escaping (String) -> Void
    ) {
        self.wish = wish
        self.places = places
        self.root = root
        self.tell = tell
        files = SetupFiles(
            owner: places.isSystem && geteuid() == 0 ? Owner(user: SystemdUnit.user) : nil)
    }

    /// What there is then.
    public struct Outcome: Sendable {
        public let settings: Settings
        /// Whether a service that runs has to be started anew for it.
        let isNew: Bool
    }

    public func run() throws(StartError) -> Outcome {
        try requireRoot()
        // What others shall see is made so whatever the shell says.
        umask(0o022)
        BoardRemark(root: root).lines.forEach(tell)
        let isThere = access(places.configuration, F_OK) == 0
        if isThere, !wish.isForced { return try keepWhatIsThere() }
        var setup = self
        if let settings = present { setup.wish = wish.filled(from: settings) }
        return try setup.makeAnew()
    }

    public func requireRoot() throws(StartError) {
        guard places.needsRoot, geteuid() != 0 else { return }
        throw StartError(
            "this writes \(places.configuration), \(places.secret) and \(places.state), and must "
                + "be run by root (with sudo); `--directory DIR` keeps everything in a folder of "
                + "your own", .notPermitted)
    }

    // MARK: What is there

    /// The settings that are in force; nil if there are none, or none that are good.
    private var present: Settings? {
        guard case .good(let settings) = CollectorSettings.load(places.configuration) else {
            return nil
        }
        return settings.node
    }

    /// Whether nothing has to be asked: there are settings to go by.
    public var hasSettings: Bool {
        access(places.configuration, F_OK) == 0 && (!wish.isForced || present != nil)
    }

    /// Finishes what an earlier run began, or somebody by hand.
    private func keepWhatIsThere() throws(StartError) -> Outcome {
        let settings: Settings
        switch CollectorSettings.load(places.configuration) {
        case .bad(let mistakes):
            throw StartError(
                mistakes.map(\.description).joined(separator: "\n")
                    + "\nmend it, or replace it with --force: the old one is kept as "
                    + "\(places.configuration).bak", ExitStatus(mistakes))
        case .good(let found): settings = found.node
        }
        let what = Self.summary(settings)
        if let difference = difference(from: settings) {
            throw StartError(
                "\(places.configuration) is there already: \(what). \(difference); --force "
                    + "replaces it and keeps the old one as \(places.configuration).bak",
                .cannotCreate)
        }
        tell("\(places.configuration) is there already: \(what)")
        if let file = settings.secretFile { try adopt(file) }
        if settings.state == places.state { try makeState() }
        return Outcome(settings: settings, isNew: try allowDevices(settings))
    }

    static func summary(_ settings: Settings) -> String {
        "\(settings.role.rawValue) \(PlainText.shown(settings.name)) in network "
            + settings.network
    }

    private func difference(from settings: Settings) -> String? {
        if let network = wish.network, network != settings.network {
            return "You asked for the network \(PlainText.shown(network))"
        }
        if let role = wish.role, role != settings.role {
            return "You asked for the role \(role.rawValue)"
        }
        if let name = wish.name, name != settings.name {
            return "You asked for the name \(PlainText.shown(name))"
        }
        if let secrets = wish.secrets, secrets != settings.secrets {
            return "Another secret was given"
        }
        return nil
    }

    // MARK: What is made

    private func makeAnew() throws(StartError) -> Outcome {
        try checkWish()
        try makeConfigurationFolder()
        try makeSecret()
        try makeState()
        var collectors = wish.collectors
        if role == .collector {
            let own = try ownPeer(state: places.state)
            // The list of a network's only collector would name itself.
            if !collectors.isEmpty, !collectors.contains(own) {
                collectors.append(own)
                tell("nodes set up earlier send here once \(own) is among their `collectors`")
            }
        }
        let text = Array(configuration(collectors).text.utf8)
        let settings = try checked(text)
        try allowDevices(settings)
        if try files.keepOld(places.configuration, permissions: 0o644) {
            tell("kept the old \(places.configuration) as \(places.configuration).bak")
        }
        try files.write(text, to: places.configuration, permissions: 0o644)
        tell("wrote \(places.configuration): \(Self.summary(settings))")
        return Outcome(settings: settings, isNew: true)
    }

    private var role: ConfiguredRole { wish.role ?? .agent }

    /// What the wish says is looked at before anything is written.
    private func checkWish() throws(StartError) {
        var trial = configuration([]).text.split(separator: "\n").filter {
            !$0.hasPrefix("secret-file:")
        }
        trial.append("trust: any")
        let text = Array(trial.joined(separator: "\n").utf8)
        guard case .bad(let mistakes) = Settings.decode(text, file: places.configuration) else {
            return
        }
        throw StartError(mistakes.map(\.message).joined(separator: "\n"), .usage)
    }

    private func configuration(_ collectors: [PeerID]) -> StarterConfiguration {
        StarterConfiguration(
            name: wish.name ?? Settings.hostName, network: wish.network ?? "rivulet", role: role,
            places: places, collectors: collectors, peers: wish.peers,
            sensors: role == .agent
                ? AttachedSensors(root: root).yaml(drivers: SensorSettings.names) : "")
    }

    /// By the code of `rivulet check --here`; warnings are told.
    private func checked(_ text: [UInt8]) throws(StartError) -> Settings {
        switch Settings.decode(text, file: places.configuration) {
        case .bad(let mistakes):
            throw StartError(
                mistakes.map(\.description).joined(separator: "\n"), ExitStatus(mistakes))
        case .good(let settings):
            var findings = MachineCheck.findings(settings, isStarting: false)
            findings += MachineCheck.trial(settings, without: findings)
            for warning in settings.warnings { tell("warning: \(warning.message)") }
            for finding in findings where !finding.isError { tell("warning: \(finding.text)") }
            let errors = findings.filter(\.isError).map(\.text)
            guard errors.isEmpty else {
                throw StartError(errors.joined(separator: "\n"), .configuration)
            }
            return settings
        }
    }
}

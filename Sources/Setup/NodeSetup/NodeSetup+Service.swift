import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

/// The service, and what the next board needs.
extension NodeSetup {
    /// What `rivulet init --devices` writes.
    public static func dropIn(for settings: Settings, root: String = "") -> String {
        let needs = ServiceNeeds(settings, on: MachineFacts(settings, root: root))
        return ServiceDropIn(needs: needs, configuration: settings.file).text
    }

    /// What the installed service does not allow of what these settings need; empty also where no
    /// service goes by them. A line for people.
    public static func shortage(_ settings: Settings, root: String = "") -> String? {
        guard settings.file == Settings.standardPath, let service = SystemdUnit(settings.role),
            let unit = service.directives(root: root)
        else { return nil }
        let needs = ServiceNeeds(settings, on: MachineFacts(settings, root: root))
        let missing = needs.missing(in: unit)
        guard !missing.isEmpty else { return nil }
        return "\(service.name) does not allow what this needs (\(missing.joined(separator: ", ")))"
            + "; run `rivulet init --devices`"
    }

    /// Lets the service open what the settings need. Returns whether anything changed.
    @discardableResult
    public func allowDevices(_ settings: Settings) throws(StartError) -> Bool {
        guard places.isSystem, let service = SystemdUnit(settings.role),
            service.unit(root: root) != nil
        else { return false }
        let path = service.dropIn(root: root)
        let text = Array(Self.dropIn(for: settings, root: root).utf8)
        guard try files.read(path) != text else { return false }
        try files.makeFolder(Places.folder(of: path), permissions: 0o755)
        try files.write(text, to: path, permissions: 0o644)
        tell("wrote \(path): what \(service.name) may open")
        return true
    }

    /// Has the service run now and from each boot on, and ends the one of another role. Returns
    /// false if it did not start.
    public func startService(_ outcome: Outcome) -> Bool {
        let settings = outcome.settings
        guard places.isSystem, let service = SystemdUnit(settings.role) else {
            tell("start it with `\(command(settings))`")
            return true
        }
        guard service.unit(root: root) != nil else {
            tell("\(service.name) is not installed; start it with `\(command(settings))`")
            return true
        }
        for other in SystemdUnit.all where other != service && other.unit() != nil {
            guard Systemd.control("is-enabled", "--quiet", other.name) else { continue }
            tell("\(other.name) is ended: this node is a \(settings.role.rawValue)")
            _ = Systemd.control("disable", Systemd.isRunning ? "--now" : "", other.name)
        }
        guard Systemd.control("enable", "--quiet", service.name) else {
            tell("`systemctl enable \(service.name)` failed")
            return false
        }
        guard Systemd.isRunning else {
            tell("\(service.name) starts with the system")
            return true
        }
        return restart(service, outcome.isNew ? "restart" : "start")
    }

    /// Takes up changed permissions, if the service runs.
    public func restartService(_ settings: Settings) -> Bool {
        guard places.isSystem, Systemd.isRunning, let service = SystemdUnit(settings.role),
            service.unit() != nil
        else { return true }
        return restart(service, "try-restart")
    }

    private func restart(_ service: SystemdUnit, _ verb: String) -> Bool {
        guard Systemd.control("daemon-reload"), Systemd.control(verb, service.name) else {
            tell("\(service.name) did not start; `journalctl -u \(service.name) -n 20` says why")
            return false
        }
        tell("\(service.name) runs; `rivulet status` asks it")
        return true
    }

    private func command(_ settings: Settings) -> String {
        let program = SystemdUnit(settings.role) == .agent ? "rivulet-agent" : "rivulet collect"
        let isStandard = places.configuration == Settings.standardPath
        return program + (isStandard ? "" : " --config \(Places.shellWord(places.configuration))")
    }

    // MARK: The next board

    /// What the next board needs to join the network of these settings.
    public func joinLine(_ settings: Settings) throws(StartError) -> JoinLine {
        guard !settings.secrets.isEmpty else {
            throw StartError(
                "this network has no secret; the next board needs no more than `network: "
                    + "\(settings.network)` and the same `trust`", .configuration)
        }
        var collectors = settings.collectors
        if settings.role == .collector {
            let own = try ownPeer(
                state: settings.state, rule: settings.trust.isByKey ? .refuse : .makeNew)
            if !collectors.contains(own) { collectors.append(own) }
        }
        return JoinLine(
            network: settings.network, secrets: settings.secrets, collectors: collectors,
            addresses: Self.addresses(settings))
    }

    /// With a fixed port, where this node is; and where it finds others itself.
    private static func addresses(_ settings: Settings) -> [TransportAddress] {
        let own =
            settings.udp.isOn && settings.udp.port != 0
            ? OwnAddresses.all.prefix(4).map { $0.with(port: settings.udp.port) } : []
        let peers = settings.udp.peers.compactMap { peer in
            try? AddressText(parsing: peer.text)
        }
        return own + peers.filter { $0.interface == nil }.map(\.address)
    }
}

/// systemd's own command.
enum Systemd {
    /// sd_booted(3)
    static var isRunning: Bool { access("/run/systemd/system", F_OK) == 0 }

    /// Whether `systemctl` with these arguments, empty ones left out, succeeded. What it says goes
    /// to standard error.
    static func control(_ arguments: String...) -> Bool {
        let words = ["systemctl"] + arguments.filter { !$0.isEmpty }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, "systemctl", &actions, nil, &pointers, Glibc.environ)
        guard code == 0 else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return false } }
        return status == 0
    }
}

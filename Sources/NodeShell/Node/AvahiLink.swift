import Configuration
import NearbyAvahi
import NearbyCore
import NearbyLinux

/// Avahi beside the node: tells the daemon of us, and the node where to try.
final class AvahiLink {
    private let service: AvahiService
    private let runner: NodeRunner

    /// Begins at once; the daemon may be absent. `onWork`: the library has worked.
    init(_ runner: NodeRunner, network: String, onWork: @escaping () -> Void) {
        self.runner = runner
        let configuration = runner.options.configuration
        let record = ServiceRecord(
            peer: runner.node.ownPeer, role: configuration.role, port: runner.port,
            info: configuration.info)
        service = AvahiService(
            AvahiService.ServiceAdvertisement(
                network: network, name: configuration.name, record: record),
            loop: runner.loop)
        service.onEndpoints = { [unowned self] in
            self.runner.handle(.advertisedPeers($0, by: .avahi), at: MonotonicClock.now())
        }
        service.onDiagnostic = { [unowned self] in
            self.runner.log.write($0.level, $0.text(self.runner))
        }
        service.onWork = onWork
        service.start()
        service.use(runner.links.inUse)
    }

    func linksChanged() { service.use(runner.links.inUse) }

    func stop() { service.stop() }

    /// What a service calls itself that names this peer; unproved.
    func name(of peer: PeerID) -> String? {
        service.machine.peers.first { $0.record.peer == peer }?.name
    }

    var drops: DropCounters { service.drops }

    // MARK: Status

    /// For people.
    var summaryLine: String {
        guard case .serving = service.machine.phase else { return "avahi      \(state)" }
        let count = service.machine.serviceCount
        return "avahi      \(state), \(count) service\(count == 1 ? "" : "s") seen"
    }

    var status: JSONValue {
        let machine = service.machine
        return .object([
            ("state", .string(state)),
            ("serviceName", .string(machine.serviceName)),
            ("services", .integer(machine.serviceCount)),
            ("peers", .array(machine.peers.map(peer))),
        ])
    }

    private var state: String {
        switch service.machine.phase {
        case .idle, .connecting: "connecting"
        case .retrying, .noDaemon: "no daemon; trying again"
        case .serving(.none): "waits for the daemon or a link"
        case .serving(.registering): "publishing \"\(service.machine.serviceName)\""
        case .serving(.published): "published as \"\(service.machine.serviceName)\""
        case .serving(.backingOff): "not published; trying again"
        }
    }

    private func peer(_ found: FoundPeer) -> JSONValue {
        .object([
            ("peer", .string(found.record.peer.description)),
            ("name", .string(found.name)),
            ("role", .text(found.record.role.map { "\($0)" })),
            ("at", .array(found.endpoints.map { .string(runner.text($0)) })),
        ])
    }
}

extension AvahiDiagnostic {
    fileprivate var level: StandardErrorLog.Level {
        switch self {
        case .daemonLost, .libraryMissing: .diagnostic
        case .publishingFailed: .warning
        case .noDaemon, .published, .found, .changed, .lost, .silenced: .information
        }
    }

    fileprivate func text(_ runner: NodeRunner) -> String {
        switch self {
        case .noDaemon: "avahi: no daemon; trying again"
        case .libraryMissing(let reason):
            "avahi: cannot load its library (\(reason)); is libavahi-client3 installed?"
        case .daemonLost(let reason): "avahi: \(reason); trying again"
        case .published(let name): "avahi: published as \"\(name)\""
        case .publishingFailed(let reason): "avahi: not published: \(reason); trying again"
        case .found(let peer): "avahi: found \(peer.text(runner))"
        case .changed(let peer): "avahi: changed \(peer.text(runner))"
        case .lost(let peer): "avahi: lost \(peer.text(runner))"
        case .silenced: "avahi: more services come and go than are told of"
        }
    }
}

extension FoundPeer {
    fileprivate func text(_ runner: NodeRunner) -> String {
        let role = record.role.map { "\($0) " } ?? ""
        let places = endpoints.map(runner.text).joined(separator: ", ")
        return "\(role)\"\(name)\", \(record.peer), at \(places)"
    }
}

import NearbyCore
import NearbyEngine
import NearbyLinux

/// What `rivulet status --json` shows of a node at one moment.
struct NodeStatus {
    private let program: NodeProgram
    private let now = MonotonicClock.now()
    private var runner: NodeRunner { program.runner }
    private var node: Node { program.runner.node }

    init(_ program: NodeProgram) { self.program = program }

    /// Everything.
    var json: JSONValue {
        let settings = program.settings
        var members: [(String, JSONValue)] = [
            ("name", .string(settings.name)),
            ("peer", .string(node.ownPeer.description)),
            ("run", .string(program.run.description)),
            ("role", .string(settings.role.rawValue)),
            ("version", .string(ProgramVersion.text)),
            ("network", .string(settings.network)),
            ("ephemeral", .flag(runner.identity.ephemeral)),
            ("uptimeSeconds", .integer(program.uptime(now).milliseconds / 1_000)),
            ("worstLatenessMilliseconds", .integer(program.loop.worstLateness.milliseconds)),
            ("port", .integer(runner.port)),
            ("collector", .text(node.collector?.description)),
            ("collectorName", .text(node.collector.flatMap(node.name(of:)))),
            ("neighbours", .array(node.neighbourStatus.map(neighbour))),
            ("peers", .array(node.peerStatus.map(peer))),
            ("routes", .array(node.routes.map(route))),
            ("nodes", program.nodeListing(now: now).json),
            ("refused", .array(node.refusedNodes(now: now).map(refused))),
            ("refusalsOmitted", .integer(node.omittedRefusals)),
            ("interfaces", .array(runner.links.memberships.map(interface))),
            ("bluetooth", runner.bluetooth.status),
            ("tables", .object(node.tableSizes.map { ($0.name, .integer($0.count)) })),
            ("sent", .traffic(runner.links.transport.sent)),
            ("received", .traffic(runner.links.transport.received)),
        ]
        members += program.additions.details?() ?? []
        if let avahi = program.avahi { members.append(("avahi", avahi.status)) }
        let drops = program.allDrops.all.map { ($0.reason.rawValue, JSONValue.integer($0.count)) }
        members.append(("drops", .object(drops)))
        return .object(members)
    }

    // MARK: Parts

    private func neighbour(_ neighbour: NeighbourStatus) -> JSONValue {
        let queues = zip(Priority.allCases, neighbour.waiting)
        return .object([
            ("peer", .string(neighbour.peer.description)),
            ("name", .string(neighbour.name)),
            ("role", .text(neighbour.role.map { "\($0)" })),
            ("at", .string(runner.text(neighbour.endpoint))),
            ("interface", .string(runner.name(of: neighbour.endpoint.link))),
            ("link", .string(neighbour.linkClass.word)),
            ("links", .integer(neighbour.linkCount)),
            ("cost", .integer(neighbour.cost)),
            ("lossPercent", .integer(neighbour.lossPercent)),
            ("waiting", .object(queues.map { ("\($0)", .integer($1)) })),
        ])
    }

    private func peer(_ peer: PeerStatus) -> JSONValue {
        .object([
            ("peer", .string(peer.peer.description)),
            ("name", .string(peer.name)),
            ("role", .string("\(peer.role)")),
            ("encrypted", .flag(peer.isEncrypted)),
            ("neighbour", .flag(peer.isNeighbour)),
            // Since the boot.
            ("openedAtMilliseconds", .integer(peer.since.nanoseconds / 1_000_000)),
        ])
    }

    private func route(_ route: Route) -> JSONValue {
        .object([
            ("destination", .string(route.destination.description)),
            ("name", .text(node.name(of: route.destination))),
            ("via", .text(node.name(of: route.nextHop))),
            ("metric", .integer(route.metric)),
            ("seqno", .integer(route.seqno)),
            ("isCollector", .flag(route.kind == .collector)),
        ])
    }

    private func refused(_ refused: RefusedNode) -> JSONValue {
        .object([
            ("peer", .string(refused.peer.description)),
            ("name", .text(runner.distinctName(of: refused.peer))),
            ("at", .string(runner.text(refused.endpoint))),
            ("interface", .string(runner.name(of: refused.endpoint.link))),
            ("cause", .string(refused.cause.rawValue)),
            ("lastSeenSeconds", .integer((now - refused.lastHeard).milliseconds / 1_000)),
        ])
    }

    private func interface(
        _ entry: (link: LinkID, membership: BeaconSocket.GroupMembership)
    ) -> JSONValue {
        .object([
            ("name", .string(runner.name(of: entry.link))),
            ("ipv4", .flag(entry.membership.ipv4)),
            ("ipv6", .flag(entry.membership.ipv6)),
        ])
    }
}

extension JSONValue {
    static func traffic(_ counts: (datagrams: UInt64, bytes: UInt64)) -> JSONValue {
        .object([("datagrams", .integer(counts.datagrams)), ("bytes", .integer(counts.bytes))])
    }
}

extension LinkClass {
    /// As commands show it.
    package var word: String {
        switch self {
        case .ethernet: "ethernet"
        case .wifi: "wifi"
        case .bluetooth: "bluetooth"
        }
    }
}

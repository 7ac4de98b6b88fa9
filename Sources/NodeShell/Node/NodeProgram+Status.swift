import Configuration
import NearbyBluetooth
import NearbyCore
import NearbyEngine
import NearbyLinux

/// What agents and collectors add to what each node says of itself.
package struct StatusAdditions {
    /// A line for people, and further ones.
    package var summary: (() -> String)?
    package var lines: (() -> [String])?
    /// Members of the JSON object.
    package var details: (() -> [(String, JSONValue)])?
    /// Nodes that were there before this start, the last seen first, of those that are asked for.
    package var formerNodes: (((PeerID) -> Bool) -> [FormerNode])?
}

/// A node that is known from before this start only, as it is shown.
package struct FormerNode {
    let row: NodeTable.Row
    let member: JSONValue

    package init(row: NodeTable.Row, member: JSONValue) {
        self.row = row
        self.member = member
    }
}

extension NodeProgram {
    /// Everything that `rivulet status --json` shows.
    var status: JSONValue {
        let node = runner.node
        var members: [(String, JSONValue)] = [
            ("name", .string(settings.name)),
            ("peer", .string(node.ownPeer.description)),
            ("run", .string(run.description)),
            ("role", .string(settings.role.rawValue)),
            ("version", .string(ProgramVersion.text)),
            ("network", .string(settings.network)),
            ("ephemeral", .flag(runner.identity.ephemeral)),
            ("uptimeSeconds", .integer((MonotonicClock.now() - started).milliseconds / 1_000)),
            ("worstLatenessMilliseconds", .integer(loop.worstLateness.milliseconds)),
            ("port", .integer(runner.transport.port)),
            ("collector", .text(node.collector?.description)),
            ("collectorName", .text(node.collector.flatMap(node.name(of:)))),
            ("neighbours", .array(node.neighbourStatus.map(neighbour))),
            ("peers", .array(node.peerStatus.map(peer))),
            ("routes", .array(node.routes.map(route))),
            ("nodes", nodeStatus(now: MonotonicClock.now())),
            ("refused", .array(node.refusedNodes(now: MonotonicClock.now()).map(refused))),
            ("refusalsOmitted", .integer(node.omittedRefusals)),
            ("interfaces", .array(runner.memberships.map(interface))),
            ("bluetooth", bluetooth),
            ("tables", .object(node.tableSizes.map { ($0.name, .integer($0.count)) })),
            ("sent", traffic(runner.transport.sent)),
            ("received", traffic(runner.transport.received)),
        ]
        members += additions.details?() ?? []
        if let avahi { members.append(("avahi", avahi.status)) }
        members.append(
            ("drops", .object(allDrops.all.map { ($0.reason.rawValue, .integer($0.count)) })))
        return .object(members)
    }

    /// Everything that `rivulet browse` shows: who is heard on our links.
    package var near: JSONValue {
        let now = MonotonicClock.now()
        return .array(
            runner.node.sightings.map { sighting in
                var links: [LinkID] = []
                for endpoint in sighting.endpoints where !links.contains(endpoint.link) {
                    links.append(endpoint.link)
                }
                return .object([
                    ("peer", .string(sighting.peer.description)),
                    ("name", .text(knownName(of: sighting.peer))),
                    ("role", .string("\(runner.node.role(of: sighting.peer) ?? sighting.role)")),
                    ("interfaces", .array(links.map { .string(runner.name(of: $0)) })),
                    ("sinceSeconds", .integer((now - sighting.since).milliseconds / 1_000)),
                    ("connected", .flag(isConnected(sighting.peer))),
                    ("info", .object(sighting.info.pairs.map { ($0.key, .string($0.value)) })),
                ])
            })
    }

    /// A channel outlasts its peer for a while, which may come back to it.
    private func isConnected(_ peer: PeerID) -> Bool {
        runner.node.name(of: peer) != nil && runner.node.knownNode(peer)?.isReachable == true
    }

    /// One line.
    var health: String {
        let radio = runner.bluetooth?.sent.datagrams ?? 0
        return NodeHealth.text(
            sent: runner.transport.sent.datagrams &+ radio,
            neighbours: runner.node.neighbourStatus.count)
    }

    /// What people look at first: this node, what is wrong, and the network's nodes. Verbose: with
    /// addresses and the counters of drops.
    func summary(isVerbose: Bool) -> [String] {
        let node = runner.node
        let now = MonotonicClock.now()
        var lines = [
            "\(settings.name) (\(settings.role.rawValue)) in network \(settings.network), up "
                + AgeText.text(now - started),
            "peer       \(node.ownPeer)\(runner.identity.ephemeral ? " (ephemeral)" : "")",
        ]
        // A collector has none.
        if settings.role == .agent || settings.role == .relay {
            let name = node.collector.map { shown(runner.name(of: $0)) }
            lines.append("collector  \(name ?? "none in reach")")
        }
        if let line = additions.summary?() { lines.append(line) }
        lines += additions.lines?() ?? []
        for entry in runner.memberships where !entry.membership.ipv4 && !entry.membership.ipv6 {
            lines.append("multicast  not heard on \(runner.name(of: entry.link))")
        }
        if let avahi { lines.append(avahi.summaryLine) }
        if let bluetooth = runner.bluetooth { lines.append("bluetooth  \(bluetooth.summary)") }
        for refused in node.refusedNodes(now: now) {
            lines.append("refused    \(shown(whole: runner.text(refused)))")
        }
        if node.omittedRefusals > 0 {
            lines.append("refused    others too, \(node.omittedRefusals) times")
        }
        lines += [""] + nodeTable(now: now).lines
        return isVerbose ? lines + [""] + details : lines
    }

    private var details: [String] {
        let neighbours = runner.node.neighbourStatus.map { neighbour in
            "neighbour  \(shown(neighbour.name)) at \(runner.text(neighbour.endpoint)), "
                + "\(runner.name(of: neighbour.endpoint.link)), cost \(neighbour.cost)"
        }
        let dropped = allDrops.all.filter { $0.count > 0 }.map {
            "dropped    \($0.reason.rawValue): \($0.count)"
        }
        return neighbours + dropped
    }

    private func refused(_ node: RefusedNode) -> JSONValue {
        .object([
            ("peer", .string(node.peer.description)),
            ("name", .text(knownName(of: node.peer))),
            ("at", .string(runner.text(node.endpoint))),
            ("interface", .string(runner.name(of: node.endpoint.link))),
            ("cause", .string(node.cause.rawValue)),
            (
                "lastSeenSeconds",
                .integer((MonotonicClock.now() - node.lastHeard).milliseconds / 1_000)
            ),
        ])
    }

    private func knownName(of peer: PeerID) -> String? {
        let name = runner.name(of: peer)
        return name == peer.shortText ? nil : name
    }

    /// A line without control characters, at its whole length.
    private func shown(whole line: String) -> String {
        PlainText.isPrintable(line) ? line : PlainText.shown(line)
    }

    /// Of the node and of all that is around it.
    package var allDrops: DropCounters {
        var drops = runner.node.dropCounters
        drops.add(runner.shellDrops)
        if let avahi { drops.add(avahi.drops) }
        return drops
    }

    private var bluetooth: JSONValue {
        guard let bluetooth = runner.bluetooth else { return .null }
        let status = bluetooth.status
        return .object([
            ("adapter", .text(status.adapter.map { "hci\($0.index)" })),
            ("address", .text(status.adapter.map { "\($0.address)" })),
            ("state", .string(status.state)),
            ("content", .flag(status.isContent)),
            ("links", .array(status.links.map { .string("\($0)") })),
            ("sent", traffic(bluetooth.sent)),
            ("received", traffic(bluetooth.received)),
            ("receptionRestarts", .integer(bluetooth.receptionRestarts)),
        ])
    }

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
        let node = runner.node
        return .object([
            ("destination", .string(route.destination.description)),
            ("name", .text(node.name(of: route.destination))),
            ("via", .text(node.name(of: route.nextHop))),
            ("metric", .integer(route.metric)),
            ("seqno", .integer(route.seqno)),
            ("isCollector", .flag(route.kind == .collector)),
        ])
    }

    private func interface(_ entry: (link: LinkID, membership: BeaconSocket.GroupMembership))
        -> JSONValue
    {
        .object([
            ("name", .string(runner.name(of: entry.link))),
            ("ipv4", .flag(entry.membership.ipv4)),
            ("ipv6", .flag(entry.membership.ipv6)),
        ])
    }

    private func traffic(_ counts: (datagrams: UInt64, bytes: UInt64)) -> JSONValue {
        .object([("datagrams", .integer(counts.datagrams)), ("bytes", .integer(counts.bytes))])
    }
}

import NearbyBluetooth
import NearbyCore
import NearbyEngine
import NearbyLinux

extension NodeProgram {
    /// Everything that `rivulet status --json` shows.
    var status: JSONValue {
        let node = runner.node
        var members: [(String, JSONValue)] = [
            ("name", .string(settings.name)),
            ("peer", .string(node.ownPeer.description)),
            ("run", .string(run.description)),
            ("role", .string(settings.role.rawValue)),
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
            ("interfaces", .array(runner.hearing.map(interface))),
            ("bluetooth", bluetooth),
            ("tables", .object(node.tableSizes.map { ($0.name, .integer($0.count)) })),
            ("sent", traffic(runner.transport.sent)),
            ("received", traffic(runner.transport.received)),
        ]
        members += statusDetails?() ?? []
        if let avahi { members.append(("avahi", avahi.status)) }
        members.append(
            ("drops", .object(drops.all.map { ($0.reason.rawValue, .integer($0.count)) })))
        return .object(members)
    }

    /// What people look at first.
    var summary: [String] {
        let node = runner.node
        var lines = [
            "\(settings.name) (\(settings.role.rawValue)) in network \(settings.network)",
            "peer       \(node.ownPeer)\(runner.identity.ephemeral ? " (ephemeral)" : "")",
            "collector  \(node.collector.map { node.name(of: $0) ?? "\($0)" } ?? "none in reach")",
        ]
        if let line = summaryLine?() { lines.append(line) }
        for neighbour in node.neighbourStatus {
            lines.append(
                "neighbour  \(neighbour.name) at \(runner.text(neighbour.endpoint)), "
                    + "\(runner.name(of: neighbour.endpoint.link)), cost \(neighbour.cost)")
        }
        for entry in runner.hearing where !entry.hearing.ipv4 && !entry.hearing.ipv6 {
            lines.append("multicast  not heard on \(runner.name(of: entry.link))")
        }
        if let avahi { lines.append(avahi.summaryLine) }
        if let bluetooth = runner.bluetooth { lines.append("bluetooth  \(bluetooth.summary)") }
        for drop in drops.all where drop.count > 0 {
            lines.append("dropped    \(drop.reason.rawValue): \(drop.count)")
        }
        return lines
    }

    /// Of the node and of all that is around it.
    private var drops: DropCounters {
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

    private func neighbour(_ neighbour: Node.NeighbourStatus) -> JSONValue {
        let queues = zip(Priority.allCases, neighbour.waiting)
        return .object([
            ("peer", .string(neighbour.peer.description)),
            ("name", .string(neighbour.name)),
            ("role", .text(neighbour.role.map { "\($0)" })),
            ("at", .string(runner.text(neighbour.endpoint))),
            ("interface", .string(runner.name(of: neighbour.endpoint.link))),
            ("links", .integer(neighbour.linkCount)),
            ("cost", .integer(neighbour.cost)),
            ("waiting", .object(queues.map { ("\($0)", .integer($1)) })),
        ])
    }

    private func peer(_ peer: Node.PeerStatus) -> JSONValue {
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

    private func interface(_ entry: (link: LinkID, hearing: BeaconSocket.Hearing)) -> JSONValue {
        .object([
            ("name", .string(runner.name(of: entry.link))),
            ("ipv4", .flag(entry.hearing.ipv4)),
            ("ipv6", .flag(entry.hearing.ipv6)),
        ])
    }

    private func traffic(_ counts: (datagrams: UInt64, bytes: UInt64)) -> JSONValue {
        .object([("datagrams", .integer(counts.datagrams)), ("bytes", .integer(counts.bytes))])
    }
}

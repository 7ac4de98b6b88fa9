import NearbyCore
import NearbyEngine
import NearbyLinux

/// What `rivulet browse` shows: who is heard on a node's links.
package struct NodeSightings {
    private let runner: NodeRunner

    package init(_ program: NodeProgram) { runner = program.runner }

    package var json: JSONValue {
        let now = MonotonicClock.now()
        return .array(runner.node.sightings.map { member($0, now) })
    }

    private func member(_ sighting: Sighting, _ now: Instant) -> JSONValue {
        let (peer, node) = (sighting.peer, runner.node)
        var links: [LinkID] = []
        for endpoint in sighting.endpoints where !links.contains(endpoint.link) {
            links.append(endpoint.link)
        }
        return .object([
            ("peer", .string(peer.description)),
            ("name", .text(runner.distinctName(of: peer))),
            ("role", .string("\(node.role(of: peer) ?? sighting.role)")),
            ("interfaces", .array(links.map { .string(runner.name(of: $0)) })),
            ("sinceSeconds", .integer((now - sighting.since).milliseconds / 1_000)),
            ("connected", .flag(isConnected(peer))),
            ("info", .object(sighting.info.pairs.map { ($0.key, .string($0.value)) })),
        ])
    }

    /// A channel outlasts its peer for a while, which may come back to it.
    private func isConnected(_ peer: PeerID) -> Bool {
        runner.node.name(of: peer) != nil && runner.node.knownNode(peer)?.isReachable == true
    }
}

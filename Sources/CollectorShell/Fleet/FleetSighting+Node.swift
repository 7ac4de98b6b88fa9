import Fleet
import NearbyCore
import NearbyEngine
import NodeShell

extension FleetSighting {
    /// A node as ours knows it.
    ///
    /// - Parameters:
    ///   - name: nil if it is unknown.
    ///   - link: the last one on the way to it; empty if that is unknown.
    init(_ node: KnownNode, name: String?, link: String, now: Instant) {
        self.init(peer: node.peer, role: node.roleWord)
        self.name = name ?? ""
        version = node.software
        isOnline = node.isReachable
        age = max(now - node.lastReachable, .zero)
        let isNeighbour = node.nextHop == node.peer
        via = isNeighbour ? nil : node.nextHop
        if node.isReachable {
            hops = isNeighbour ? 1 : node.hops.flatMap { $0 > 1 ? $0 : nil }
        }
        self.link = link
    }
}

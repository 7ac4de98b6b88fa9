import NearbyCore
import NearbyEngine
import NearbyWire

/// Links to the collectors of networks.
extension Station {
    func useCollectors(
        _ linked: LinkedCollectors, _ isStarted: Bool, _ now: Instant
    ) throws(NearbyError) {
        guard isStarted else {
            return collectorViews.removeAll { $0.linked === linked }
        }
        guard !collectorViews.contains(where: { $0.linked === linked }) else { return }
        let node = try node(for: linked.service, now)
        let view = CollectorView(linked)
        collectorViews.append(view)
        // The node may have found some for another link.
        if let collector = node.collector { view.tell(.collector(names.peer(collector))) }
        if !node.viewers.isEmpty { view.tell(.viewers(node.viewers.map(names.peer))) }
    }

    func tellCollector(
        _ bytes: [UInt8], _ peer: PeerID, _ linked: LinkedCollectors, _ isReliable: Bool,
        _ now: Instant
    ) {
        linked.taken()
        guard let node = nodes.first(where: { $0.service == linked.service }) else { return }
        node.node.handle(
            isReliable
                ? .sendReliable(bytes, to: peer) : .sendUnreliable(bytes, to: peer, .fresh),
            now: now)
    }

    /// The node has another collector, or others look in.
    func addresseesChanged(_ event: Node.Event, of node: ServiceNode) {
        switch event {
        case .collector(let peer):
            node.collector = peer
            tellCollectorLinks(of: node, .collector(peer.map(names.peer)))
        case .viewers(let peers):
            node.viewers = peers
            tellCollectorLinks(of: node, .viewers(peers.map(names.peer)))
        default: break
        }
    }

    private func tellCollectorLinks(of node: ServiceNode, _ event: CollectorLink.Event) {
        for view in collectorViews where view.linked.service == node.service { view.tell(event) }
    }

    /// - Returns: whether the message was for links to collectors.
    func takeFromCollector(_ bytes: [UInt8], _ peer: PeerID, _ node: ServiceNode) -> Bool {
        guard peer == node.collector || node.viewers.contains(peer) else { return false }
        tellCollectorLinks(of: node, .message(bytes, from: names.peer(peer)))
        return true
    }
}

/// A link to collectors whose program is told.
final class CollectorView {
    let linked: LinkedCollectors

    init(_ linked: LinkedCollectors) { self.linked = linked }

    func tell(_ event: CollectorLink.Event) { linked.events.push(event, .news) }
}

import NearbyCore
import NearbyEngine
import NearbyWire

/// Links to the collectors of networks, whose programs are told.
struct CollectorViews {
    private var all: [LinkedCollectors] = []

    var isEmpty: Bool { all.isEmpty }

    var services: [Service] { all.map(\.service) }

    func contains(_ linked: LinkedCollectors) -> Bool { all.contains { $0 === linked } }

    /// The node may have found some for another link.
    mutating func add(_ linked: LinkedCollectors, at node: ServiceNode, _ names: PeerNames) {
        all.append(linked)
        if let collector = node.collector {
            linked.tell(.collector(names.peer(collector)))
        }
        if !node.viewers.isEmpty { linked.tell(.viewers(node.viewers.map(names.peer))) }
    }

    mutating func remove(_ linked: LinkedCollectors) { all.removeAll { $0 === linked } }

    /// The node has another collector, or others look in.
    func addresseesChanged(_ event: Node.Event, of node: ServiceNode, _ names: PeerNames) {
        switch event {
        case .collector(let peer):
            node.collector = peer
            tell(.collector(peer.map(names.peer)), of: node)
        case .viewers(let peers):
            node.viewers = peers
            tell(.viewers(peers.map(names.peer)), of: node)
        default: break
        }
    }

    /// - Returns: whether the message was for links to collectors.
    func take(_ bytes: [UInt8], _ peer: PeerID, _ node: ServiceNode, _ names: PeerNames) -> Bool {
        guard peer == node.collector || node.viewers.contains(peer) else { return false }
        tell(.message(bytes, from: names.peer(peer)), of: node)
        return true
    }

    private func tell(_ event: CollectorLink.Event, of node: ServiceNode) {
        for linked in all where linked.service == node.service { linked.tell(event) }
    }
}

extension LinkedCollectors {
    fileprivate func tell(_ event: CollectorLink.Event) { events.push(event, .news) }
}

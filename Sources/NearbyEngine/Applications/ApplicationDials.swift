import NearbyCore
import NearbyWire

/// What a node does for applications; nothing in one that serves none.
public enum ApplicationDials {
    /// Bytes of reliable messages that the peer may not have yet: 0–`reliableQueueBytesMax`.
    public static func queuedReliableBytes(for peer: PeerID, at node: Node) -> Int {
        node.peers[peer]?.queuedReliableBytes ?? 0
    }

    static func handle(_ input: ApplicationInput, of node: Node, _ now: Instant) {
        guard node.configuration.application != nil else { return }
        switch input {
        case .dial(let peer):
            guard peer != node.own else { return }
            node.tellInvitation(.dialed(peer, true), now)
            node.tellMesh(.addressees(.dialed(peer, true)), now)
        case .release(let peer):
            node.tellInvitation(.dialed(peer, false), now)
            node.tellMesh(.addressees(.dialed(peer, false)), now)
            node.tellChannels(.abandonDials(to: peer), now)
            guard let association = node.peers[peer], !node.peers.isNeighbour(peer) else { return }
            node.tellChannels(.close(association.channel, .leaving), now)
        case .advertise(let info): node.tellRendezvous(.advertise(info), now)
        case .prefer(let preference):
            node.tellChannels(.prefer(preference), now)
            node.tellRendezvous(.prefer(preference), now)
        case .encrypt(let peer):
            guard let association = node.peers[peer],
                association.channel.seal?.isEncrypted == false
            else { return }
            association.renewKeys(from: now)
        }
    }

    /// People look at a list: who is out of reach of everybody is not in sight either.
    static func tell(_ event: NodeEvent, by node: Node, _ now: Instant) {
        node.outbox.add(event)
        guard node.configuration.application != nil,
            case .diagnostic(.nodesVanished(let gone)) = event
        else { return }
        for known in gone { node.tellDiscovery(.forget(known.peer), now) }
    }

    static func refused(_ peer: PeerID, _ reason: DropReason, by node: Node) {
        guard node.configuration.application != nil, let cause = RefusedNode.Cause(reason) else {
            return
        }
        node.outbox.add(.application(.refused(peer, cause)))
    }
}

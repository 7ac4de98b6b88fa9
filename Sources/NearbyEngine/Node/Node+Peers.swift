import NearbyCore
import NearbyWire

/// What becomes of peers with an open channel.
extension Node {
    var peers: Peers { peering.peers }

    func perform(_ output: PeerMachine.Output, _ now: Instant) {
        switch output {
        case .enqueue(let payload, let peer, let priority):
            enqueue(payload, to: peer, priority, now)
        case .send(let payload, let channel, let path):
            let hop = view(toward: path.node)
            outbox.send(payload, on: channel, over: path, seeing: hop, now: now)
        case .frame(let payload, let channel, let arrival):
            received(payload, on: channel, arrival, now)
        case .routing(let message, let peer, let isOvertaken):
            tellRouting(.received(message, from: peer, isOvertaken: isOvertaken), now)
        case .heard(let peer, let hops): tellMesh(.heard(peer, hops: hops), now)
        case .event(let event): outbox.add(event)
        case .invitation(let input): tellInvitation(input, now)
        case .associated(let peer): tellMesh(.addressees(.associated(peer)), now)
        case .dissociated(let peer): tellMesh(.addressees(.dissociated(peer)), now)
        case .neighbourUp(let neighbour):
            tellDiscovery(.inUse(neighbour.peer, true), now)
            tellRouting(.neighbourUp(neighbour.peer, cost: neighbour.hop.cost), now)
            tell(.sighted(neighbour.peer, rendezvous.endpoints(of: neighbour.peer)), now)
        case .neighbourDown(let neighbour):
            tellRouting(.neighbourDown(neighbour.peer), now)
            tellDiscovery(.inUse(neighbour.peer, false), now)
        case .neighbourRestarted(let peer): tellRouting(.neighbourDown(peer), now)
        case .outOfReach(let association, let endpoint):
            outOfReach(association, before: endpoint, now)
        case .costChanged(let peer, let cost): tellRouting(.costChanged(peer, cost), now)
        case .renewKeys(let peer, let path, let attempt):
            tellChannels(.renew(peer, over: path, attempt: attempt, nonce: nonce()), now)
        case .close(let channel, let reason): tellChannels(.close(channel, reason), now)
        case .drop(let reason): outbox.drop(reason)
        }
    }

    /// Asks at its other addresses; the mesh may still lead there.
    private func outOfReach(
        _ association: Association, before endpoint: Endpoint, _ now: Instant
    ) {
        let peer = association.peer
        guard peers[peer] === association, !peers.isNeighbour(peer) else { return }
        tell(association, .nextHop(mesh.routing.nextHop(to: peer.short)), now)
        for other in links.reachable(rendezvous.endpoints(of: peer)) where other != endpoint {
            tell(.challenge(association.channel, at: other), now)
        }
    }
}

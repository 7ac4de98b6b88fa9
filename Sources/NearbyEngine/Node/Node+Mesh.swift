import NearbyCore
import NearbyWire

/// Routes, packets, and what leaves over a hop.
extension Node {
    func perform(_ output: MeshMachine.Output, _ now: Instant) {
        switch output {
        case .send(let message, let peer):
            guard peers.isNeighbour(peer) else { return }
            enqueue(message.bytes, to: peer, .control, now)
        case .nextHop(let peer, let hop):
            guard let association = peers[peer] else { return }
            tell(association, .nextHop(peers.isNeighbour(peer) ? peer : hop), now)
        case .dial(let peer): beginHandshake(with: peer, over: .mesh(peer.short), attempt: 0, now)
        case .giveUp(let peer): tellChannels(.abandonDials(to: peer), now)
        case .costToCollector(let cost): tellRendezvous(.costToCollector(cost), now)
        case .event(let event):
            outbox.add(event)
            if case .diagnostic(.nodesVanished(let gone)) = event {
                tellApplication(.vanished(gone.map(\.peer)), now)
            }
        case .drop(let reason): outbox.drop(reason)
        }
    }

    // MARK: Packets

    func packetReceived(_ packet: MeshPacket, from neighbour: PeerID, _ now: Instant) {
        if packet.isEcho, packet.destination == own.short || packet.hopLimit <= 1 {
            return tellEchoes(.received(packet, from: neighbour), toward: packet.source, now)
        }
        if packet.destination == own.short {
            let arrival = Arrival(
                path: .mesh(packet.source), hops: packet.hopCount, firstHop: neighbour)
            return received(Array(packet.inside), arrival, isMulticast: false, now)
        }
        let hop = mesh.routing.forwardingHop(to: packet.destination, now: now)
        outbox.forward(packet, to: hop.flatMap(peers.neighbour))
    }

    // MARK: Sending

    /// With the neighbour that leads to a node.
    @inline(never) func view(toward node: ShortID?) -> Outbox.View {
        let hop = node.flatMap { mesh.routing.nextHop(to: $0) }
        return Outbox.View(peers: peers, hop: hop.flatMap(peers.neighbour))
    }

    /// A frame for a peer, with what else waits for the next hop.
    func enqueue(_ payload: [UInt8], to peer: PeerID, _ priority: Priority, _ now: Instant) {
        // A neighbour needs no route: none is looked up.
        let far = peers.isNeighbour(peer) ? nil : peer.short
        outbox.enqueue(payload, to: peer, priority, seeing: view(toward: far), now: now)
    }

    /// What waits for neighbours, sealed.
    func flushNeighbours(_ now: Instant) {
        while let neighbour = outbox.nextWaiting(among: peers) {
            while let isData = outbox.sendNext(to: neighbour, among: peers, now: now) {
                tell(neighbour, .frameSent(isData: isData), now)
            }
            settle(now)
        }
    }
}

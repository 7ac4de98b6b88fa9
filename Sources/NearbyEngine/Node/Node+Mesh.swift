import NearbyCore
import NearbyWire

/// Routes, packets, and what leaves over a hop.
extension Node {
    mutating func perform(_ output: MeshMachine.Output, _ now: Instant) {
        switch output {
        case .send(let message, let peer):
            guard peers.isNeighbour(peer) else { return }
            outbox.enqueue(message.bytes, to: peer, .control, seeing: outboxView, now: now)
        case .nextHop(let peer, let hop):
            guard let association = peers[peer] else { return }
            tell(association, .nextHop(peers.isNeighbour(peer) ? peer : hop), now)
        case .call(let peer): beginHandshake(with: peer, over: .mesh(peer.short), attempt: 0, now)
        case .giveUp(let peer): channels.abandonCalls(to: peer)
        case .costToCollector(let cost): tellRendezvous(.costToCollector(cost), now)
        case .event(let event): outbox.add(event)
        case .drop(let reason): outbox.drop(reason)
        }
    }

    // MARK: Packets

    mutating func packetReceived(_ packet: MeshPacket, from neighbour: PeerID, _ now: Instant) {
        if packet.destination == own.short {
            let arrival = Arrival(
                path: .mesh(packet.source), hops: packet.hopCount, firstHop: neighbour)
            return received(Array(packet.inside), arrival, isMulticast: false, now)
        }
        outbox.forward(packet, seeing: outboxView, now: now)
    }

    // MARK: Sending

    var outboxView: Outbox.View {
        @inline(never) get { Outbox.View(peers: peers, routing: mesh.routing) }
    }

    /// A frame on this very channel, past all queues.
    mutating func send(_ payload: [UInt8], on channel: Channel, over path: Path, _ now: Instant) {
        outbox.send(payload, on: channel, over: path, seeing: outboxView, now: now)
    }

    /// What waits for neighbours, sealed.
    mutating func flushNeighbours(_ now: Instant) {
        while let neighbour = outbox.nextWaiting(seeing: outboxView) {
            while let isData = outbox.sendNext(to: neighbour, seeing: outboxView, now: now) {
                tell(neighbour, .frameSent(isData: isData), now)
            }
            settle(now)
        }
    }
}

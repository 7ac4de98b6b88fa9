import NearbyCore
import NearbyWire

/// Routes, packets, and what leaves over a hop.
extension Node {
    mutating func perform(_ output: RoutingMachine.Output, _ now: Instant) {
        switch output {
        case .send(let message, let peer): enqueue(message.bytes, to: peer, .control, now)
        case .drop(let reason): drops.count(reason)
        case .routeChanged(let peer, let hop, let metric, let kind):
            work.add(book.routeChanged(peer, nextHop: hop, kind, now: now), as: Work.book)
            reachabilityChanged(peer, nextHop: hop, now)
            tellAddressees(.routeChanged(peer, kind, metric: hop == nil ? nil : metric), now)
        }
    }

    mutating func perform(_ output: NodeBook.Output) {
        switch output {
        case .vanished(let gone):
            tell(.notice(.nodesVanished(gone.compactMap { book[$0] })))
        case .returned(let peer):
            tell(.notice(.nodesReturned([peer].compactMap { book[$0] })))
        }
    }

    mutating func routingReceived(
        _ message: RoutingMessage, from peer: PeerID, on channel: Channel, _ counter: UInt64,
        _ now: Instant
    ) {
        let isOvertaken = isOvertaken(counter, by: peer, on: channel)
        if message.number != 0, !isOvertaken { channel.routingCounter = counter }
        tellRouting(.received(message, from: peer, isOvertaken: isOvertaken), now)
    }

    /// Whether a later numbered routing message of this peer was here before the frame.
    private func isOvertaken(_ counter: UInt64, by peer: PeerID, on channel: Channel) -> Bool {
        if let newest = channel.routingCounter, counter < newest { return true }
        guard let current = peers[peer]?.token, current != channel.token else { return false }
        // A channel that was replaced.
        return channels[current]?.routingCounter != nil
    }

    // MARK: Packets

    mutating func packetReceived(_ packet: MeshPacket, from neighbour: PeerID, _ now: Instant) {
        if packet.destination == own.short {
            let arrival = Arrival(
                path: .mesh(packet.source), hops: packet.hopCount, firstHop: neighbour)
            return received(Array(packet.inside), arrival, isMulticast: false, now)
        }
        guard configuration.forwards, packet.source != own.short else {
            return drops.count(.packetNoRoute)
        }
        guard let onward = packet.forwarded() else { return drops.count(.packetHopLimit) }
        guard let hop = routing.forwardingHop(to: packet.destination, now: now) else {
            return drops.count(.packetNoRoute)
        }
        hand(onward, to: hop)
    }

    /// Puts a datagram into a mesh packet of our own.
    mutating func originate(
        _ datagram: [UInt8], to destination: ShortID, _ priority: Priority, _ now: Instant
    ) {
        guard let hop = routing.nextHop(to: destination) else { return drops.count(.packetNoRoute) }
        let packet = MeshPacket(
            priority: priority, source: own.short, destination: destination, inside: datagram[...])
        hand(packet, to: hop)
    }

    private mutating func hand(_ packet: MeshPacket, to hop: PeerID) {
        guard let neighbour = peers.neighbour(hop) else { return drops.count(.packetNoRoute) }
        var writer = ByteWriter(reserving: packet.inside.count + MeshPacket.headerByteCount + 1)
        writer.write(FrameKind.packet.rawValue)
        packet.emit(into: &writer)
        peers.push(writer.bytes, to: neighbour, packet.priority, counting: &drops)
    }

    // MARK: Sending

    /// A frame for a peer: over the hop if it is a neighbour, otherwise sealed for it and into the
    /// mesh.
    mutating func enqueue(_ payload: [UInt8], to peer: PeerID, _ priority: Priority, _ now: Instant)
    {
        if let neighbour = peers.neighbour(peer) {
            return peers.push(payload, to: neighbour, priority, counting: &drops)
        }
        guard let association = peers[peer], let channel = channels[association.token]
        else { return drops.count(.packetNoRoute) }
        guard let datagram = seal(payload, on: channel, priority, now) else { return }
        originate(datagram, to: peer.short, priority, now)
    }

    /// Seals a frame on this very channel and sends it over a path of its own, past all queues.
    mutating func send(_ payload: [UInt8], on channel: Channel, over path: Path, _ now: Instant) {
        guard let datagram = seal(payload, on: channel, .control, now) else { return }
        transmit(datagram, over: path, now)
    }

    /// A datagram on its way: straight out on a link, or into a mesh packet at control priority.
    mutating func transmit(_ datagram: [UInt8], over path: Path, _ now: Instant) {
        switch path {
        case .link(let endpoint): transmit(.unicast(datagram, to: endpoint))
        case .mesh(let destination): originate(datagram, to: destination, .control, now)
        }
    }

    /// What waits for neighbours, sealed.
    mutating func flushNeighbours(_ now: Instant) {
        while let neighbour = peers.popWaiting() {
            guard let association = peers[neighbour.peer],
                let channel = channels[association.token]
            else { continue }
            while let frame = neighbour.queue.popFrame(byteBudget: Limits.frameBytesMax) {
                guard let datagram = seal(frame.payload, on: channel, frame.priority, now) else {
                    break
                }
                transmit(.unicast(datagram, to: neighbour.endpoint))
                let kind = frame.payload.first.flatMap(FrameKind.init)
                let isData = kind != .liveness && kind != .empty
                tell(neighbour, .frameSent(isData: isData), now)
            }
            settle(now)
        }
    }

    /// The frame sealed with the channel's keys; nil, and counted, if they may seal no more.
    @inline(never)
    private mutating func seal(
        _ payload: [UInt8], on channel: Channel, _ priority: Priority, _ now: Instant
    ) -> [UInt8]? {
        guard let datagram = channel.seal?.seal(payload, priority: priority) else {
            drops.count(.sealExhausted)
            return nil
        }
        if channel.isClient, channel.seal?.isWorn(after: configuration.rekeyFrames) == true,
            let association = peers[over: channel], !association.isRenewing
        {
            association.rekeyAt = min(association.rekeyAt, now)
        }
        return datagram
    }
}

extension Limits {
    /// A payload that makes a datagram of the largest size when sealed, bytes.
    public static let frameBytesMax =
        datagramBytesMax - SealedHeader.byteCount - frameTagByteCount
}

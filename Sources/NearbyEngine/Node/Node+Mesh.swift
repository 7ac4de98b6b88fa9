import NearbyCore
import NearbyWire

/// Neighbours, routes and packets.
extension Node {
    // MARK: Frames of one hop

    mutating func hopFrameReceived(
        _ frame: HopFrame, on channel: Channel, _ arrival: Arrival, _ now: Instant
    ) {
        // A hop counts only on a link between the two: never out of a mesh packet.
        guard case .link(let endpoint) = arrival.path, let peer = channel.peer else {
            return drops.count(.frameWrongLink)
        }
        guard let neighbour = neighbours[peer] else { return challenge(channel, at: endpoint, now) }
        heard(neighbour, at: endpoint, now)
        switch frame {
        case .liveness(let frame): livenessReceived(frame, from: neighbour, at: endpoint, now)
        case .empty: heard(neighbour, carriesData: false, now)
        case .routing(let message):
            heard(neighbour, carriesData: true, now)
            routingReceived(message, from: peer, on: channel, arrival.counter, now)
        case .packet(let packet):
            heard(neighbour, carriesData: true, now)
            packetReceived(packet, from: peer, now)
        case .bundle(let bundle):
            heard(neighbour, carriesData: true, now)
            for frame in bundle.frames {
                payloadReceived(frame, on: channel, arrival, now)
            }
        }
    }

    private mutating func livenessReceived(
        _ frame: LivenessFrame, from neighbour: Neighbour, at endpoint: Endpoint, _ now: Instant
    ) {
        if frame == .probe, neighbour.endpoint != endpoint {
            probed(by: neighbour, at: endpoint, now)
        }
        interpret(neighbour.liveness.handle(.received(frame), now: now), of: neighbour, now)
    }

    mutating func heard(_ neighbour: Neighbour, carriesData: Bool, _ now: Instant) {
        interpret(
            neighbour.liveness.handle(.frameReceived(isData: carriesData), now: now), of: neighbour,
            now)
    }

    private mutating func routingReceived(
        _ message: RoutingMessage, from peer: PeerID, on channel: Channel, _ counter: UInt64,
        _ now: Instant
    ) {
        let isOvertaken = isOvertaken(counter, by: peer, on: channel)
        if message.number != 0, !isOvertaken { channel.routingCounter = counter }
        interpret(
            routing.handle(
                .received(message, from: peer, isOvertaken: isOvertaken), now: now), now)
    }

    /// Whether a later numbered routing message of this peer was here before the frame.
    private func isOvertaken(_ counter: UInt64, by peer: PeerID, on channel: Channel) -> Bool {
        if let newest = channel.routingCounter, counter < newest { return true }
        guard let current = associations[peer]?.token, current != channel.token else {
            return false
        }
        // A channel that was replaced.
        return channels[current]?.routingCounter != nil
    }

    // MARK: Packets

    private mutating func packetReceived(
        _ packet: MeshPacket, from neighbour: PeerID, _ now: Instant
    ) {
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
        hand(onward, to: hop, now)
    }

    /// Puts a datagram into a mesh packet of our own.
    mutating func originate(
        _ datagram: [UInt8], to destination: ShortID, _ priority: Priority, _ now: Instant
    ) {
        guard let hop = routing.nextHop(to: destination) else { return drops.count(.packetNoRoute) }
        let packet = MeshPacket(
            priority: priority, source: own.short, destination: destination, inside: datagram[...])
        hand(packet, to: hop, now)
    }

    private mutating func hand(_ packet: MeshPacket, to hop: PeerID, _ now: Instant) {
        guard let neighbour = neighbours[hop] else { return drops.count(.packetNoRoute) }
        var writer = ByteWriter(reserving: packet.inside.count + MeshPacket.headerByteCount + 1)
        writer.write(FrameKind.packet.rawValue)
        packet.emit(into: &writer)
        push(writer.bytes, to: neighbour, packet.priority, now)
    }

    // MARK: Sending

    /// A frame for a peer: over the hop if it is a neighbour, otherwise sealed for it and into the
    /// mesh.
    mutating func enqueue(_ payload: [UInt8], to peer: PeerID, _ priority: Priority, _ now: Instant)
    {
        if let neighbour = neighbours[peer] { return push(payload, to: neighbour, priority, now) }
        guard let association = associations[peer], let channel = channels[association.token]
        else { return drops.count(.packetNoRoute) }
        guard let datagram = seal(payload, on: channel, priority, now) else { return }
        originate(datagram, to: peer.short, priority, now)
    }

    private mutating func push(
        _ payload: [UInt8], to neighbour: Neighbour, _ priority: Priority, _ now: Instant
    ) {
        neighbour.queue.push(payload, priority: priority, counting: &drops)
        guard !neighbour.isWaiting else { return }
        neighbour.isWaiting = true
        waiting.append(neighbour.peer)
    }

    mutating func flushNeighbours(_ now: Instant) {
        var index = 0
        while index < waiting.count {
            let peer = waiting[index]
            index += 1
            if let neighbour = neighbours[peer] { flush(neighbour, now) }
        }
        waiting.removeAll(keepingCapacity: true)
    }

    private mutating func flush(_ neighbour: Neighbour, _ now: Instant) {
        neighbour.isWaiting = false
        guard let association = associations[neighbour.peer],
            let channel = channels[association.token]
        else { return }
        while let frame = neighbour.queue.popFrame(byteBudget: Limits.frameBytesMax) {
            guard let datagram = seal(frame.payload, on: channel, frame.priority, now) else {
                return
            }
            transmit(.unicast(datagram, to: neighbour.endpoint))
            let kind = frame.payload.first.flatMap(FrameKind.init)
            let isData = kind != .liveness && kind != .empty
            interpret(
                neighbour.liveness.handle(.frameSent(isData: isData), now: now), of: neighbour, now)
        }
    }

    // MARK: Neighbours

    /// Takes a peer as neighbour at an address where it has shown to answer.
    ///
    /// - Parameter isNew: the channel was just opened there.
    mutating func adopt(
        _ peer: PeerID, at endpoint: Endpoint, _ channel: Channel, _ now: Instant,
        isNew: Bool = false
    ) {
        let way = way(to: endpoint)
        if let neighbour = neighbours[peer] {
            let input = isNew ? LinkChoice.Input.opened(way) : .answered(way)
            return interpret(neighbour.ways.handle(input, now: now), of: neighbour, now)
        }
        let name = channel.peerTerms?.name ?? ""
        let neighbour = Neighbour(
            peer: peer, name: name, ways: LinkChoice(way: way, decides: own < peer, now: now),
            liveness: LivenessMachine(linkClass: way.linkClass, seed: random.next(), now: now),
            queue: SendQueue(), timers: timers)
        neighbours[peer] = neighbour
        if let association = associations[peer] {
            association.unreachableSince = nil
            wayChanged(of: association, to: peer, now)
        }
        tell(.notice(.neighbourUp(peer, name: name, at: endpoint)))
        interpret(discovery.handle(.inUse(peer, true), now: now), now)
        interpret(routing.handle(.neighbourUp(peer, cost: neighbour.liveness.cost), now: now), now)
        considerWays(to: neighbour, now)
    }

    /// The hop does not answer any more. Its channel stays while the mesh may still reach the peer.
    mutating func neighbourLost(_ peer: PeerID, _ now: Instant) {
        guard let neighbour = neighbours.removeValue(forKey: peer) else { return }
        tell(.notice(.neighbourLost(peer, name: neighbour.name)))
        interpret(routing.handle(.neighbourDown(peer), now: now), now)
        interpret(discovery.handle(.inUse(peer, false), now: now), now)
        if let association = associations[peer] {
            let hop = routing.nextHop(to: peer.short)
            if hop == nil { association.unreachableSince = now }
            wayChanged(of: association, to: hop, now)
            interpret(invitation.handle(.channelClosed(association.token), now: now), now)
            challengeElsewhere(peer, except: neighbour.endpoint, now)
        }
    }

    /// The peer has restarted: what it told is void, and it has to be told everything anew.
    mutating func forgetNeighbour(_ peer: PeerID, _ now: Instant) {
        guard neighbours.removeValue(forKey: peer) != nil else { return }
        interpret(routing.handle(.neighbourDown(peer), now: now), now)
    }

    mutating func neighbourDeadlineReached(_ peer: PeerID, _ now: Instant) {
        guard let neighbour = neighbours[peer] else { return }
        if neighbour.ways.nextDeadline ?? .distantFuture <= now {
            interpret(neighbour.ways.handle(.deadlineReached, now: now), of: neighbour, now)
        }
        if neighbour.liveness.nextDeadline ?? .distantFuture <= now {
            interpret(neighbour.liveness.handle(.deadlineReached, now: now), of: neighbour, now)
        }
    }
}

extension Limits {
    /// A payload that makes a datagram of the largest size when sealed, bytes.
    public static let frameBytesMax =
        datagramBytesMax - SealedHeader.byteCount - frameTagByteCount
}

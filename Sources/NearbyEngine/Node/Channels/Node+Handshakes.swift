import NearbyCore
import NearbyWire

/// From the first datagram of a handshake to keys.
extension Node {
    /// Every datagram enters here: from a link, or out of a mesh packet addressed to us.
    mutating func received(_ bytes: [UInt8], from path: Path, isMulticast: Bool, _ now: Instant) {
        guard let first = bytes.first else { return }
        switch DatagramKind(firstByte: first) {
        case .discovery:
            guard case .link(let endpoint) = path else { return drops.count(.frameWrongLink) }
            discoveryFrameReceived(bytes, from: endpoint, isMulticast: isMulticast, now)
        case _ where isMulticast: drops.count(.frameUnknownType)
        case .sealed: sealedFrameReceived(bytes, from: path, now)
        case .handshake: envelopeReceived(bytes, from: path, now)
        case .record:
            guard case .link = path else { return drops.count(.frameWrongLink) }
            let key = Channel.AttemptKey(path: path, attempt: nil, isClient: false)
            recordsReceived(bytes[...], key, introduction: nil, now)
        case .unknownChannel: unknownChannelHint(bytes, from: path, now)
        case .unknown: drops.count(.frameUnknownType)
        }
    }

    private mutating func envelopeReceived(_ bytes: [UInt8], from path: Path, _ now: Instant) {
        guard let envelope = try? HandshakeEnvelope(parsing: bytes[...]) else {
            return drops.count(.handshakeMalformed)
        }
        let key = Channel.AttemptKey(
            path: path, attempt: envelope.attempt, isClient: envelope.isFromServer)
        recordsReceived(envelope.records, key, introduction: envelope.introduction, now)
    }

    private mutating func recordsReceived(
        _ records: ArraySlice<UInt8>, _ key: Channel.AttemptKey,
        introduction: HandshakeEnvelope.Introduction?, _ now: Instant
    ) {
        if let token = tokensByAttempt[key], let channel = channels[token] {
            channel.isAnswered = true
            channel.lastHeard = now
            channel.handshake?.receive(records, now: now)
            if channel.stage == .handshaking, let peer = channel.expectedPeer {
                interpret(invitation.handle(.progress(peer, channel.attemptNumber), now: now), now)
            }
            return drive(channel, now)
        }
        guard !key.isClient else { return drops.count(.handshakeUnknown) }
        if let reason = refusal(ofHandshakeOver: key.path) { return drops.count(reason) }
        let known = introduction.flatMap { sightings[$0.peer] }?.endpoints ?? []
        let origin = InboundHandshakes.Origin(
            key.path, firstHop: firstHopInHand,
            isExpected: key.path.endpoint.map(known.contains) ?? false)
        let admission = inboundHandshakes.admission(of: origin, now: now)
        if case .refused(let reason) = admission { return drops.count(reason) }
        guard channels.count < Limits.channelsMax else {
            return drops.count(.handshakeTableFull)
        }
        switch cryptography.listen(records, from: cookieSource(key), now: now) {
        case .reply(let reply): transmit(handshake: reply, key, introduced: false, now)
        case .dropped(let reason): drops.count(reason)
        case .accepted(let handshake):
            if let introduction {
                interpret(
                    invitation.handle(
                        .handshakeSeen(
                            from: introduction.peer, run: introduction.run,
                            attempt: introduction.attempt),
                        now: now), now)
            }
            if case .inPlaceOf(let token) = admission, let evicted = channels[token] {
                drops.count(.handshakeEvicted)
                remove(evicted)
            }
            let channel = add(
                handshake, key, attemptNumber: introduction?.attempt ?? 0, expectedPeer: nil, now)
            inboundHandshakes.begin(channel.token, from: origin, now: now)
            drive(channel, now)
        }
    }

    /// Begins a handshake with a peer at one of its addresses, or over the mesh.
    mutating func beginHandshake(
        with peer: PeerID, over path: Path, attemptNumber: UInt16, _ now: Instant
    ) {
        guard channels.count < Limits.channelsMax else { return drops.count(.channelTableFull) }
        let key = Channel.AttemptKey(
            path: path, attempt: UInt32(truncatingIfNeeded: random.next()), isClient: true)
        let channel = add(
            cryptography.makeClient(now: now), key, attemptNumber: attemptNumber,
            expectedPeer: peer,
            now)
        if associations[peer] == nil, peer != own { tell(.peer(peer, .connecting)) }
        drive(channel, now)
    }

    /// Before anything came back, each repetition tries the next of the peer's addresses: one that
    /// leads nowhere costs no attempt.
    mutating func tryNextAddress(_ channel: Channel, _ now: Instant) {
        guard channel.isClient, !channel.isAnswered, let peer = channel.expectedPeer,
            let endpoint = channel.key.path.endpoint,
            now - channel.startedAt >= Limits.addressPatience
        else { return }
        let others = reachable(peer)
        guard let index = others.firstIndex(of: endpoint), others.count > 1 else { return }
        tokensByAttempt[channel.key] = nil
        channel.move(to: .link(others[(index + 1) % others.count]))
        tokensByAttempt[channel.key] = channel.token
    }

    /// Sends what the handshake has to send, and goes on when it is finished or has failed.
    mutating func drive(_ channel: Channel, _ now: Instant) {
        guard let handshake = channel.handshake else { return }
        for datagram in handshake.takeOutgoing() {
            transmit(handshake: datagram, channel.key, introduced: true, now, channel.attemptNumber)
        }
        drops.add(handshake.takeDrops())
        guard channel.stage == .handshaking else { return }
        switch handshake.state {
        case .running: break
        case .failed(let reason, let text): fail(channel, reason, text, now)
        case .finished(let result): finish(channel, result, now)
        }
    }

    private mutating func finish(_ channel: Channel, _ result: HandshakeResult, _ now: Instant) {
        guard result.peer != own else { return ownKeyProved(channel, result) }
        if let expected = channel.expectedPeer, expected != result.peer {
            return fail(
                channel, .handshakeWrongPeer, "\(result.peer) answered for \(expected)", now)
        }
        if let holder = peersByShortID[result.peer.short], holder != result.peer {
            return fail(
                channel, .admissionShortIDTaken, "\(holder) has the same first 8 bytes", now)
        }
        guard let keys = ChannelKeys(result.exporter, cryptography) else {
            return fail(channel, .handshakeFailed, "no keying material", now)
        }
        let seal = FrameSeal(keys, isClient: channel.isClient)
        guard tokensByIndex[seal.localIndex] == nil else {
            return fail(channel, .handshakeFailed, "channel index taken", now)
        }
        tokensByIndex[seal.localIndex] = channel.token
        channel.seal = seal
        channel.peer = result.peer
        channel.stage = .admitting
        beginAdmission(channel, result.peer, binding: Array(keys.admission), now)
    }

    mutating func fail(_ channel: Channel, _ reason: DropReason, _ text: String, _ now: Instant) {
        drops.count(reason)
        if channel.expectedPeer == own { return remove(channel) }
        let peer = channel.peer ?? channel.expectedPeer
        if let peer, let endpoint = channel.path.endpoint, let cause = RefusedNode.Cause(reason) {
            refuse(peer, at: endpoint, cause, now)
        } else {
            tell(.notice(.refused(peer, reason, at: channel.path.endpoint, text: text)))
        }
        let isMeshCall = channel.key.path.endpoint == nil
        remove(channel)
        guard let peer else { return }
        if associations[peer] == nil { tell(.peer(peer, .notConnected)) }
        if channel.isClient, !isMeshCall {
            interpret(invitation.handle(.failed(peer, channel.attemptNumber), now: now), now)
        }
    }

    /// Forgets a channel altogether.
    mutating func remove(_ channel: Channel) {
        channels[channel.token] = nil
        tokensByAttempt[channel.key] = nil
        if !channel.isClient { inboundHandshakes.end(channel.token) }
        if let seal = channel.seal { tokensByIndex[seal.localIndex] = nil }
    }

    private mutating func add(
        _ handshake: any SecureChannel, _ key: Channel.AttemptKey, attemptNumber: UInt16,
        expectedPeer: PeerID?, _ now: Instant
    ) -> Channel {
        let token = ChannelToken(value: nextToken)
        nextToken &+= 1
        let channel = Channel(
            token: token, key: key, attemptNumber: attemptNumber, expectedPeer: expectedPeer,
            handshake: handshake, timers: timers, now: now)
        channels[token] = channel
        tokensByAttempt[key] = token
        return channel
    }

    private func cookieSource(_ key: Channel.AttemptKey) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(contentsOf: key.path.bytes)
        writer.write(key.attempt ?? 0)
        return writer.bytes
    }

    private mutating func transmit(
        handshake records: [UInt8], _ key: Channel.AttemptKey, introduced: Bool, _ now: Instant,
        _ attemptNumber: UInt16 = 0
    ) {
        guard let attempt = key.attempt else { return transmit(records, over: key.path, now) }
        let introduction = HandshakeEnvelope.Introduction(
            peer: own, run: configuration.run, attempt: attemptNumber)
        let envelope = HandshakeEnvelope(
            isFromServer: !key.isClient, attempt: attempt,
            introduction: key.isClient && introduced ? introduction : nil, records: records[...])
        transmit(envelope.bytes, over: key.path, now)
    }

    /// A datagram on its way: straight out on a link, or into a mesh packet at control priority.
    mutating func transmit(_ datagram: [UInt8], over path: Path, _ now: Instant) {
        switch path {
        case .link(let endpoint): transmit(.unicast(datagram, to: endpoint))
        case .mesh(let destination): originate(datagram, to: destination, .control, now)
        }
    }
}

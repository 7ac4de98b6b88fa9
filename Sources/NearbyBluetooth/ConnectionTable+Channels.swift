import NearbyCore

/// Connecting, sending, and the end of channels.
extension ConnectionTable {
    /// How long the higher PeerID leaves the lower one to connect; up to a second is added.
    static let yieldTime = Duration.seconds(3)
    static let connectTime = Duration.seconds(10)
    /// A channel without traffic is closed after this time.
    static let idleTime = Duration.seconds(90)
    /// A channel on which nothing answers for so long is dead, whatever the controller thinks: a
    /// peer's that lost its power without a word keeps ours from advertising.
    static let answerTime = Duration.seconds(20)
    /// A datagram that has waited so long is not worth another attempt.
    static let waitingTime = Duration.seconds(30)
    /// More than neighbours leave between two hellos.
    static let quietTime = Duration.seconds(4)
    /// What a handshake over Bluetooth takes at most, with retransmissions.
    static let strangerTime = Duration.seconds(15)
    /// Linux's EBUSY.
    private static let busy: Int32 = 16
    /// Linux's EMLINK: the controller holds no more connections.
    private static let tooManyLinks: Int32 = 31

    static func deadline(of peer: PeerConnection) -> Instant? {
        var next = peer.attemptAt ?? .distantFuture
        for channel in peer.channels { next = min(next, channel.deadline) }
        if let heard = peer.heardAt, peer.channels.isEmpty { next = min(next, heard + lifetime) }
        return next == .distantFuture ? nil : next
    }

    // MARK: Sending

    mutating func send(
        _ bytes: [UInt8], to address: BluetoothAddress, _ now: Instant
    ) -> [Output] {
        guard let index = index(of: address) else { return [.drop(.bluetoothUnknownPeer)] }
        // The newest that can be used.
        if let channel = peers[index].channels.lastIndex(where: \.isOpen),
            case .open(let most, let isBlocked) = peers[index].channels[channel].state
        {
            guard bytes.count <= most else { return [.drop(.bluetoothTooLong)] }
            if isBlocked { return enqueue(bytes, index, now) }
            peers[index].channels[channel].wrote(now)
            return [.write(bytes, on: peers[index].channels[channel].id)]
        }
        guard peers[index].psm != nil,
            address.kind != .classic || !isReached(byLowEnergy: address, now)
        else { return [.drop(.bluetoothUnknownPeer)] }
        let dropped = enqueue(bytes, index, now)
        guard !peers[index].isConnecting, peers[index].attemptAt == nil else { return dropped }
        let wait =
            connectsFirst(to: peers[index])
            ? .zero : Self.yieldTime + random.duration(in: .zero ..< .seconds(1))
        peers[index].attemptAt = max(now + wait, peers[index].backoff.at ?? now)
        return dropped + attempt(index, now)
    }

    private mutating func enqueue(_ bytes: [UInt8], _ index: Int, _ now: Instant) -> [Output] {
        peers[index].queue.append(Waiting(bytes: bytes, since: now))
        guard peers[index].queue.count > Limits.bluetoothQueueMax else { return [] }
        peers[index].queue.removeFirst()
        return [.drop(.bluetoothQueueFull)]
    }

    /// The lower PeerID; where it is not known, the lower address.
    private func connectsFirst(to peer: PeerConnection) -> Bool {
        if let prefix = peer.prefix, prefix != peerPrefix { return peerPrefix < prefix }
        return (own?.value ?? 0) < peer.address.value
    }

    private mutating func attempt(_ index: Int, _ now: Instant) -> [Output] {
        guard let at = peers[index].attemptAt, at <= now, let psm = peers[index].psm else {
            return []
        }
        let address = peers[index].address
        room.tryMore(now)
        guard let closed = makePlace(for: address, upTo: room.most - 1, now) else {
            peers[index].backoff.fail(now, using: &random)
            peers[index].attemptAt = peers[index].backoff.at
            return [.drop(.bluetoothConnectionLimit)] + yieldPlace(to: index, now)
        }
        peers[index].attemptAt = nil
        let id = makeID()
        peers[index].channels.append(
            L2CAPChannel(
                id: id, state: .connecting(since: now), lastTraffic: now, lastReceived: now,
                openedAt: now, isOurs: true))
        return closed + [.connect(id, to: address, psm: psm)]
    }

    // MARK: Channels

    mutating func accept(
        _ id: BluetoothChannelID, _ address: BluetoothAddress, _ most: Int, _ now: Instant
    ) -> [Output] {
        guard own != nil,
            var closed = makePlace(for: address, upTo: Limits.bluetoothConnectionsMax, now)
        else { return [.drop(.bluetoothConnectionLimit), .close(id)] }
        guard makeRoom(for: address) else {
            return closed + [.drop(.bluetoothTableFull), .close(id)]
        }
        room.held(openCount(beside: address) + 1)
        // The place that it took was the last one.
        closed += makePlace(for: address, upTo: room.most - 1, now) ?? []
        let index = insert(address)
        if peers[index].channels.count >= Limits.bluetoothChannelsPerPeerMax {
            closed.append(.close(peers[index].channels.removeFirst().id))
        }
        return closed + opened(id, most, index, isOurs: false, now)
    }

    mutating func connected(_ id: BluetoothChannelID, _ most: Int, _ now: Instant) -> [Output] {
        guard let place = place(of: id) else { return [.close(id)] }
        peers[place.peer].channels.remove(at: place.channel)
        room.held(openCount(beside: peers[place.peer].address) + 1)
        return opened(id, most, place.peer, isOurs: true, now)
    }

    /// The newest channel: what waited goes out over it.
    private mutating func opened(
        _ id: BluetoothChannelID, _ most: Int, _ index: Int, isOurs: Bool, _ now: Instant
    ) -> [Output] {
        peers[index].channels.append(
            L2CAPChannel(
                id: id, state: .open(messageBytesMax: most, isBlocked: false), lastTraffic: now,
                lastReceived: now, openedAt: now, isOurs: isOurs))
        peers[index].attemptAt = nil
        peers[index].refusedSince = nil
        peers[index].backoff.succeed()
        return writeQueue(index, on: id, most)
    }

    private mutating func writeQueue(
        _ index: Int, on id: BluetoothChannelID, _ most: Int
    ) -> [Output] {
        defer { peers[index].queue = [] }
        return peers[index].queue.map { waiting in
            waiting.bytes.count > most
                ? .drop(.bluetoothTooLong) : .write(waiting.bytes, on: id)
        }
    }

    mutating func blocked(
        _ id: BluetoothChannelID, _ bytes: [UInt8], _ now: Instant
    ) -> [Output] {
        guard let (index, channel) = place(of: id),
            case .open(let most, _) = peers[index].channels[channel].state
        else { return [] }
        peers[index].channels[channel].state = .open(messageBytesMax: most, isBlocked: true)
        return enqueue(bytes, index, now)
    }

    mutating func writable(_ id: BluetoothChannelID, _ now: Instant) -> [Output] {
        guard let (index, channel) = place(of: id),
            case .open(let most, _) = peers[index].channels[channel].state
        else { return [] }
        peers[index].channels[channel].state = .open(messageBytesMax: most, isBlocked: false)
        peers[index].channels[channel].wrote(now)
        return writeQueue(index, on: id, most)
    }

    mutating func received(_ id: BluetoothChannelID, _ now: Instant) {
        guard let (index, channel) = place(of: id) else { return }
        peers[index].channels[channel].lastTraffic = now
        peers[index].channels[channel].lastReceived = now
        peers[index].channels[channel].unansweredSince = nil
    }

    mutating func ended(_ id: BluetoothChannelID, _ code: Int32, _ now: Instant) -> [Output] {
        guard let (index, channel) = place(of: id) else { return [] }
        let gone = peers[index].channels.remove(at: channel)
        let wasOpen = gone.isOpen
        let wasInUse = wasOpen && now - gone.lastReceived < Self.quietTime
        let outputs = wasOpen ? [] : [failed(index, code, now)]
        if wasOpen { room.ended(now) }
        if wasInUse, code == 0 { leave(index, now) }
        if !wasOpen, code == Self.tooManyLinks {
            room.refused(beside: openCount(beside: peers[index].address), now)
            peers[index].refusedSince = peers[index].refusedSince ?? now
        }
        return isGone(peers[index], now) ? outputs + forget(index) : outputs
    }

    /// Tries again while the last datagram is worth it.
    private mutating func failed(_ index: Int, _ code: Int32, _ now: Instant) -> Output {
        if code == Self.busy {
            // The kernel connects to one LE device at a time.
            let soon = Duration.milliseconds(300) ..< .milliseconds(700)
            peers[index].backoff.postpone(until: now + random.duration(in: soon))
        } else {
            peers[index].backoff.fail(now, using: &random)
        }
        if let last = peers[index].queue.last, now - last.since < Self.waitingTime,
            !peers[index].isConnected
        {
            peers[index].queue = [last]
            peers[index].attemptAt = peers[index].backoff.at
        } else {
            peers[index].queue = []
            peers[index].attemptAt = nil
        }
        return .drop(.bluetoothConnectFailed)
    }

    // MARK: Time

    mutating func expire(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for index in peers.indices.reversed() {
            for channel in peers[index].channels where channel.deadline <= now {
                peers[index].channels.removeAll { $0.id == channel.id }
                outputs.append(.close(channel.id))
                if !channel.isOpen { outputs.append(failed(index, 0, now)) }
            }
            outputs += attempt(index, now)
            if isGone(peers[index], now) { outputs += forget(index) }
        }
        return outputs
    }

    private func isGone(_ peer: PeerConnection, _ now: Instant) -> Bool {
        peer.channels.isEmpty && !peer.wasHeard(now) && !configured.contains(peer.address)
    }

    private mutating func forget(_ index: Int) -> [Output] {
        Self.dropped(peers.remove(at: index).queue.count)
    }

    /// Datagrams that waited for somebody who is gone.
    static func dropped(_ count: Int) -> [Output] {
        count > 0 ? [.drop(.bluetoothUnknownPeer, count: count)] : []
    }
}

extension ConnectionTable.L2CAPChannel {
    /// When an attempt has taken too long, or nothing was heard for too long.
    var deadline: Instant {
        switch state {
        case .connecting(let since): since + ConnectionTable.connectTime
        case .open:
            min(
                lastTraffic + ConnectionTable.idleTime,
                (unansweredSince ?? .distantFuture) + ConnectionTable.answerTime)
        }
    }

    fileprivate mutating func wrote(_ now: Instant) {
        lastTraffic = now
        if unansweredSince == nil { unansweredSince = now }
    }
}

import NearbyCore

/// Connecting, sending, and the end of channels.
extension ConnectionTable {
    /// How long the higher PeerID leaves the lower one to connect; up to a second is added.
    static let courtesy = Duration.seconds(3)
    static let connectTime = Duration.seconds(10)
    /// A channel without traffic is closed after this time.
    static let idleTime = Duration.seconds(90)
    /// A datagram that has waited so long is not worth another attempt.
    static let waitingTime = Duration.seconds(30)
    /// Linux, also where this is read elsewhere.
    private static let busy: Int32 = 16

    static func deadlines(of peer: Peer) -> [Instant] {
        var result = peer.channels.map { channel in
            switch channel.state {
            case .connecting(let since): since + connectTime
            case .open: channel.lastTraffic + idleTime
            }
        }
        if let attempt = peer.attemptAt { result.append(attempt) }
        if let heard = peer.heardAt, peer.channels.isEmpty { result.append(heard + forgetting) }
        return result
    }

    // MARK: Sending

    mutating func send(_ bytes: [UInt8], to address: BluetoothAddress, _ now: Instant) {
        guard var peer = peers[address] else { return drops.count(.bluetoothUnknownPeer) }
        defer { peers[address] = peer }
        // The newest that can be used.
        if let index = peer.channels.lastIndex(where: \.isOpen),
            case .open(let most, let isBlocked) = peer.channels[index].state
        {
            guard bytes.count <= most else { return drops.count(.bluetoothTooLong) }
            if isBlocked { return enqueue(bytes, &peer, now) }
            peer.channels[index].lastTraffic = now
            outputs.append(.write(bytes, on: peer.channels[index].id))
            return
        }
        guard peer.psm != nil else { return drops.count(.bluetoothUnknownPeer) }
        guard address.kind != .classic || !isReached(byLowEnergy: address, now) else {
            return drops.count(.bluetoothUnknownPeer)
        }
        enqueue(bytes, &peer, now)
        guard !peer.isConnecting, peer.attemptAt == nil else { return }
        let wait =
            connectsFirst(to: address, peer)
            ? .zero : Self.courtesy + random.duration(in: .zero ..< .seconds(1))
        peer.attemptAt = max(now + wait, peer.backoff.at ?? now)
        attempt(address, &peer, now)
    }

    private mutating func enqueue(_ bytes: [UInt8], _ peer: inout Peer, _ now: Instant) {
        if peer.queue.count >= Limits.bluetoothQueueMax {
            peer.queue.removeFirst()
            drops.count(.bluetoothQueueFull)
        }
        peer.queue.append(Waiting(bytes: bytes, since: now))
    }

    /// The lower PeerID; where it is not known, the lower address.
    private func connectsFirst(to address: BluetoothAddress, _ peer: Peer) -> Bool {
        if let prefix = peer.prefix, prefix != peerPrefix { return peerPrefix < prefix }
        return (own?.value ?? 0) < address.value
    }

    private mutating func attempt(
        _ address: BluetoothAddress, _ peer: inout Peer, _ now: Instant
    ) {
        guard let at = peer.attemptAt, at <= now, let psm = peer.psm else { return }
        let others = peers.filter { $0.key != address && !$0.value.channels.isEmpty }.count
        guard others < Limits.bluetoothConnectionsMax else {
            drops.count(.bluetoothConnectionLimit)
            peer.backoff.fail(now, using: &random)
            peer.attemptAt = peer.backoff.at
            return
        }
        peer.attemptAt = nil
        let id = makeID()
        peer.channels.append(
            Channel(id: id, state: .connecting(since: now), lastTraffic: now))
        outputs.append(.connect(id, to: address, psm: psm))
    }

    // MARK: Channels

    mutating func accept(
        _ id: BluetoothChannelID, _ address: BluetoothAddress, _ most: Int, _ now: Instant
    ) {
        let others = peers.filter { $0.key != address && !$0.value.channels.isEmpty }.count
        guard own != nil, others < Limits.bluetoothConnectionsMax, makeRoom(for: address) else {
            drops.count(.bluetoothConnectionLimit)
            outputs.append(.close(id))
            return
        }
        var peer = peers[address] ?? Peer()
        if peer.channels.count >= Limits.bluetoothChannelsPerPeerMax {
            outputs.append(.close(peer.channels.removeFirst().id))
        }
        peer.channels.append(
            Channel(
                id: id, state: .open(messageBytesMax: most, isBlocked: false), lastTraffic: now))
        opened(&peer, now)
        peers[address] = peer
    }

    mutating func connected(_ id: BluetoothChannelID, _ most: Int, _ now: Instant) {
        guard let address = address(of: id), var peer = peers[address],
            let index = peer.channels.firstIndex(where: { $0.id == id })
        else { return outputs.append(.close(id)) }
        var channel = peer.channels.remove(at: index)
        channel.state = .open(messageBytesMax: most, isBlocked: false)
        channel.lastTraffic = now
        peer.channels.append(channel)
        opened(&peer, now)
        peers[address] = peer
    }

    /// What waited goes out over the newest channel.
    private mutating func opened(_ peer: inout Peer, _ now: Instant) {
        peer.attemptAt = nil
        peer.backoff.succeed()
        guard let channel = peer.channels.last, case .open(let most, _) = channel.state else {
            return
        }
        for waiting in peer.queue {
            if waiting.bytes.count > most {
                drops.count(.bluetoothTooLong)
            } else {
                outputs.append(.write(waiting.bytes, on: channel.id))
            }
        }
        peer.queue = []
    }

    mutating func blocked(_ id: BluetoothChannelID, _ bytes: [UInt8], _ now: Instant) {
        guard let address = address(of: id), var peer = peers[address] else { return }
        for index in peer.channels.indices where peer.channels[index].id == id {
            guard case .open(let most, _) = peer.channels[index].state else { return }
            peer.channels[index].state = .open(messageBytesMax: most, isBlocked: true)
        }
        enqueue(bytes, &peer, now)
        peers[address] = peer
    }

    mutating func writable(_ id: BluetoothChannelID, _ now: Instant) {
        guard let address = address(of: id), var peer = peers[address],
            let index = peer.channels.firstIndex(where: { $0.id == id }),
            case .open(let most, _) = peer.channels[index].state
        else { return }
        peer.channels[index].state = .open(messageBytesMax: most, isBlocked: false)
        peer.channels[index].lastTraffic = now
        let queue = peer.queue
        peer.queue = []
        for waiting in queue where waiting.bytes.count <= most {
            outputs.append(.write(waiting.bytes, on: id))
        }
        peers[address] = peer
    }

    mutating func ended(_ id: BluetoothChannelID, _ code: Int32, _ now: Instant) {
        guard let address = address(of: id), var peer = peers[address],
            let index = peer.channels.firstIndex(where: { $0.id == id })
        else { return }
        let channel = peer.channels.remove(at: index)
        if !channel.isOpen { failed(&peer, code, now) }
        peers[address] = peer
        forgetIfGone(address, now)
    }

    /// Tries again while the last datagram is worth it.
    private mutating func failed(_ peer: inout Peer, _ code: Int32, _ now: Instant) {
        drops.count(.bluetoothConnectFailed)
        if code == Self.busy {
            // The kernel connects to one LE device at a time.
            let soon = Duration.milliseconds(300) ..< .milliseconds(700)
            peer.backoff.postpone(until: now + random.duration(in: soon))
        } else {
            peer.backoff.fail(now, using: &random)
        }
        peer.queue = peer.queue.suffix(1).filter { now - $0.since < Self.waitingTime }
        peer.attemptAt = peer.queue.isEmpty || peer.isConnected ? nil : peer.backoff.at
    }

    // MARK: Time

    mutating func expire(_ now: Instant) {
        for address in peers.keys.sorted() {
            guard var peer = peers[address] else { continue }
            for channel in peer.channels {
                switch channel.state {
                case .connecting(let since):
                    guard since + Self.connectTime <= now else { continue }
                    peer.channels.removeAll { $0.id == channel.id }
                    outputs.append(.close(channel.id))
                    failed(&peer, 0, now)
                case .open:
                    guard channel.lastTraffic + Self.idleTime <= now else { continue }
                    peer.channels.removeAll { $0.id == channel.id }
                    outputs.append(.close(channel.id))
                }
            }
            attempt(address, &peer, now)
            peers[address] = peer
            forgetIfGone(address, now)
        }
    }

    private mutating func forgetIfGone(_ address: BluetoothAddress, _ now: Instant) {
        guard let peer = peers[address], peer.channels.isEmpty, !configured.contains(address)
        else { return }
        if let heard = peer.heardAt, now - heard < Self.forgetting { return }
        drops.count(.bluetoothUnknownPeer, UInt64(peer.queue.count))
        peers[address] = nil
    }

    mutating func change(_ id: BluetoothChannelID, _ body: (inout Channel) -> Void) {
        guard let address = address(of: id),
            let index = peers[address]?.channels.firstIndex(where: { $0.id == id })
        else { return }
        if var channel = peers[address]?.channels[index] {
            body(&channel)
            peers[address]?.channels[index] = channel
        }
    }
}

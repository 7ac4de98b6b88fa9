import NearbyCore

/// Whether another node has our key, as a copied card has.
///
/// A beacon in our name with another run may be a replay of our own past, and nothing follows from
/// it but a handshake with its sender; only a key that was proved there is told.
extension Node {
    /// Asks who sends beacons in our name for the proof of our key, at most now and then.
    mutating func seekClone(at endpoint: Endpoint, _ now: Instant) {
        guard clonePause.isOver(now) else { return drops.count(.beaconEcho) }
        clonePause.begin(now)
        beginHandshake(with: own, over: .link(endpoint), attemptNumber: 0, now)
    }

    /// A handshake in which the other side has proved our own key. Whoever passes our datagrams
    /// back to us makes us prove it to ourselves: then both sides of it are ours, and end with the
    /// same secret, the server's first.
    mutating func ownKeyProved(_ channel: Channel, _ result: HandshakeResult) {
        drops.count(.handshakeWrongPeer)
        remove(channel)
        let secret = cryptography.sha256(result.exporter)
        guard channel.isClient else {
            if ownKeySecrets.count >= Limits.ownKeySecretsMax { ownKeySecrets.removeFirst() }
            return ownKeySecrets.append(secret)
        }
        if let endpoint = channel.path.endpoint, !ownKeySecrets.contains(secret) {
            tell(.notice(.ownIdentityElsewhere(endpoint)))
        }
    }
}

extension Limits {
    /// Between two handshakes with whoever uses our name.
    static let clonePauseFirst = Duration.seconds(10)
    static let clonePauseMax = Duration.seconds(640)
    /// Handshakes in which we, as server, were shown our own key: the latest.
    static let ownKeySecretsMax = 8
}

import NearbyCore

/// The peers that the node has a channel with.
struct ReachTable: Sendable {
    private struct Reach: Sendable {
        var isEncrypted: Bool
        /// How often it said `connect` since then.
        var connects = 0
        var since: Instant
    }

    private var peers: [PeerID: Reach] = [:]

    func isReachable(_ peer: PeerID) -> Bool { peers[peer] != nil }

    /// Whether others can read what goes to the peer.
    func isReadable(_ peer: PeerID) -> Bool { peers[peer]?.isEncrypted == false }

    /// - Returns: false if it was there.
    mutating func add(_ peer: PeerID, isEncrypted: Bool, _ now: Instant) -> Bool {
        guard peers[peer] == nil else { return false }
        peers[peer] = Reach(isEncrypted: isEncrypted, since: now)
        return true
    }

    /// - Returns: false if it was so, or is not there.
    mutating func change(_ peer: PeerID, isEncrypted: Bool) -> Bool {
        guard peers[peer] != nil, peers[peer]?.isEncrypted != isEncrypted else { return false }
        peers[peer]?.isEncrypted = isEncrypted
        return true
    }

    /// - Returns: false if it was not there.
    mutating func remove(_ peer: PeerID) -> Bool { peers.removeValue(forKey: peer) != nil }

    /// Whether the peer may say `connect` once more: each costs us a signature.
    mutating func mayConnect(_ peer: PeerID, _ now: Instant) -> Bool {
        guard var reach = peers[peer] else { return true }
        if now - reach.since >= Limits.connectsTime { (reach.since, reach.connects) = (now, 0) }
        reach.connects += 1
        peers[peer] = reach
        return reach.connects <= Limits.connectsOfAPeerMax
    }
}

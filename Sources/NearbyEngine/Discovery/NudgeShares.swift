import NearbyCore

/// How many nudges count: of one peer one in 200 ms, and of one address those of a few peers that
/// nobody has heard of. What is beyond means nothing, or is somebody's flood.
///
/// Both tables forget what was entered longest ago. A flood from many addresses is bounded by the
/// table of peers.
struct NudgeShares: Sendable {
    private struct Share: Sendable {
        let address: TransportAddress
        let since: Instant
        var count: Int
    }

    /// The peers whose nudges counted last, oldest first.
    private var recent: [(peer: PeerID, at: Instant)] = []
    /// Addresses from which unknown peers nudged, oldest first.
    private var shares: [Share] = []

    /// Whether this one counts.
    mutating func take(
        _ peer: PeerID, isKnown: Bool, from address: TransportAddress, now: Instant
    ) -> Bool {
        recent.removeAll { now - $0.at >= Limits.nudgeSpacing }
        guard !recent.contains(where: { $0.peer == peer }) else { return false }
        guard isKnown || takeUnknown(from: address.withPort(0), now: now) else { return false }
        if recent.count >= Limits.nudgeSharesMax { recent.removeFirst() }
        recent.append((peer, now))
        return true
    }

    private mutating func takeUnknown(from address: TransportAddress, now: Instant) -> Bool {
        shares.removeAll { now - $0.since >= Limits.unknownNudgesTime }
        if let index = shares.firstIndex(where: { $0.address == address }) {
            guard shares[index].count < Limits.unknownNudgesPerAddress else { return false }
            shares[index].count += 1
            return true
        }
        if shares.count >= Limits.nudgeSharesMax { shares.removeFirst() }
        shares.append(Share(address: address, since: now, count: 1))
        return true
    }
}

extension Limits {
    /// Peers, and addresses, whose nudges are remembered.
    static let nudgeSharesMax = 64
    /// Between two nudges of one peer that count. The next one is due after `nudgeTimeout`.
    static let nudgeSpacing = Duration.milliseconds(200)
    /// Peers unknown so far whose nudges count, of one address, within this time.
    static let unknownNudgesPerAddress = 16
    static let unknownNudgesTime = Duration.seconds(10)
}

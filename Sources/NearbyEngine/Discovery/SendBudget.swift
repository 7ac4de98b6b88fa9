import NearbyCore

extension Limits {
    /// Discovery frames that a node sends in any second, beacons included.
    public static let discoveryFramesPerSecond = 10
    /// Of these, requests and unicast beacons: fewer, so that a node that asks many still answers
    /// some.
    public static let discoveryRequestsPerSecond = 4
    /// What beacons may claim in advance; the rest serves answers even on a node of many links.
    public static let discoveryBeaconReserve = 6
}

/// How much discovery may send: 10 frames in any second, and of those to one address one of a kind.
///
/// Beacons of the links are never held back; everything else leaves only where it still fits, with
/// the beacons that are to come in the next second. Keeps at most 32 entries.
struct SendBudget: Sendable {
    enum Kind: Equatable, Sendable { case beacon, request, answer, infoReply, nudge }

    private struct Sent: Sendable {
        let time: Instant
        let kind: Kind
        let address: TransportAddress?
    }

    private var sent: [Sent] = []

    /// True, and counted, if a frame may leave now. `reserved` is how many beacons are to come
    /// within a second.
    mutating func take(_ kind: Kind, to address: TransportAddress, reserved: Int, now: Instant)
        -> Bool
    {
        forgetOld(now: now)
        let room = Limits.discoveryFramesPerSecond - min(reserved, Limits.discoveryBeaconReserve)
        guard sent.count < room else { return false }
        switch kind {
        case .beacon: break
        case .request:
            let requests = sent.count { $0.kind == .request }
            guard requests < Limits.discoveryRequestsPerSecond else { return false }
        case .answer, .infoReply, .nudge:
            guard !sent.contains(where: { $0.kind == kind && $0.address == address }) else {
                return false
            }
        }
        sent.append(Sent(time: now, kind: kind, address: address))
        return true
    }

    /// A beacon left on a link, in so many datagrams.
    mutating func countBeacons(_ count: Int, now: Instant) {
        forgetOld(now: now)
        for _ in 0..<min(max(0, count), Self.entriesMax - sent.count) {
            sent.append(Sent(time: now, kind: .beacon, address: nil))
        }
    }

    private mutating func forgetOld(now: Instant) {
        sent.removeAll { now - $0.time >= .seconds(1) }
    }

    private static let entriesMax = 32
}

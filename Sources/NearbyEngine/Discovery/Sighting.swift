import NearbyCore
import NearbyWire

/// A peer that was heard, from any source.
public struct Sighting: Equatable, Sendable {
    public var peer: PeerID
    public var run: RunID
    /// Where it may be reached, last heard first.
    public var endpoints: [Endpoint]
    public var role: Role
    public var flags: DiscoveryFrame.Flags
    /// Nil where it knows no way to a collector.
    public var costToCollector: UInt16?
    public var info: DiscoveryInfo
}

/// What discovery remembers of a peer.
struct SightingEntry: Sendable {
    var run: RunID
    var endpoints: [Endpoint]
    var presence: DiscoveryFrame.Presence
    var info: DiscoveryInfo?
    var lastHeard: Instant
    var isInUse = false
    var isAnnounced = false
    /// When it is announced without its info.
    var announceBy: Instant
    var infoAsked: Instant?
    var answeredAt: Instant?

    init(frame: DiscoveryFrame, presence: DiscoveryFrame.Presence, endpoint: Endpoint, now: Instant)
    {
        run = frame.run
        endpoints = [endpoint]
        self.presence = presence
        lastHeard = now
        announceBy = now + Limits.infoPatience
        if presence.infoDigest == 0 { info = DiscoveryInfo() }
    }

    var hasCurrentInfo: Bool { info?.digest == presence.infoDigest }

    mutating func heard(at endpoint: Endpoint) {
        endpoints.removeAll { $0 == endpoint }
        endpoints.insert(endpoint, at: 0)
        if endpoints.count > Limits.endpointsPerPeerMax { endpoints.removeLast() }
    }

    func sighting(of peer: PeerID) -> Sighting {
        Sighting(
            peer: peer, run: run, endpoints: endpoints, role: presence.role, flags: presence.flags,
            costToCollector: presence.costToCollector == .max ? nil : presence.costToCollector,
            info: info ?? DiscoveryInfo())
    }
}

extension Limits {
    /// Peers that discovery remembers.
    public static let sightingsMax = 1_024
    public static let endpointsPerPeerMax = 4
    /// `found` waits so long for the discovery info.
    public static let infoPatience = Duration.seconds(1)
    /// A peer that is not in use is lost after so long without a beacon.
    public static let sightingTime = Duration.seconds(100)
    /// Unicast discovery frames a second.
    public static let discoveryAnswersPerSecond = 6
}

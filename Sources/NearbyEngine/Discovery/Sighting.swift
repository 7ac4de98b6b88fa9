import NearbyCore
import NearbyWire

/// What is known of a peer from discovery alone: hints, unproved.
public struct Sighting: Equatable, Sendable {
    public var peer: PeerID
    public var run: RunID
    /// Where to reach it, best first: 1–8; none only for a peer in use that lost its links.
    public var endpoints: [Endpoint]
    public var role: Role
    /// Metric of its route to the nearest collector; nil without one.
    public var costToCollector: UInt16?
    public var flags: BeaconFlags
    /// Empty until it was fetched. After a change the old one stays until the new one is there.
    public var info: DiscoveryInfo
    /// When it was heard first.
    public var since: Instant
    private let extensions: [UInt8]

    public init(
        peer: PeerID, run: RunID, endpoints: [Endpoint], role: Role, costToCollector: UInt16?,
        flags: BeaconFlags, info: DiscoveryInfo, since: Instant = .zero, extensions: [UInt8] = []
    ) {
        self.peer = peer
        self.run = run
        self.endpoints = endpoints
        self.role = role
        self.costToCollector = costToCollector
        self.flags = flags
        self.info = info
        self.since = since
        self.extensions = extensions
    }

    /// What it calls itself; nil: its beacons carry no name.
    public var name: String? { BeaconName(in: extensions)?.text }
}

extension Limits {
    /// Candidate endpoints of one peer.
    static let candidatesPerPeer = 8
}

/// The endpoints at which one peer was heard, bounded.
///
/// Order: those of the current run first, then those that answered us, then the one heard first. A
/// copy of a beacon that is replayed from elsewhere thus adds a last candidate and moves no other.
/// At the limit the endpoint heard longest ago makes room, if it has been silent for 30 s or
/// belongs to an old run; otherwise the new one is refused.
struct CandidateList: Sendable {
    private struct Candidate: Sendable {
        let endpoint: Endpoint
        var run: RunID
        var lastHeard: Instant
        var answered: Bool
        /// Beacons from there, up to 255.
        var heardCount: UInt8 = 1
    }

    private var candidates: [Candidate] = []

    enum Change: Equatable { case none, added, refused }

    mutating func heard(at endpoint: Endpoint, run: RunID, now: Instant) -> Change {
        if let index = candidates.firstIndex(where: { $0.endpoint == endpoint }) {
            candidates[index].lastHeard = now
            candidates[index].heardCount = min(candidates[index].heardCount, 254) + 1
            guard candidates[index].run != run else { return .none }
            candidates[index].run = run
            return .added
        }
        if candidates.count >= Limits.candidatesPerPeer, !makeRoom(for: run, now: now) {
            return .refused
        }
        candidates.append(Candidate(endpoint: endpoint, run: run, lastHeard: now, answered: false))
        return .added
    }

    func contains(_ endpoint: Endpoint) -> Bool { candidates.contains { $0.endpoint == endpoint } }

    func heardCount(at endpoint: Endpoint) -> UInt8 {
        candidates.first { $0.endpoint == endpoint }?.heardCount ?? 0
    }

    /// It replied to what we sent there: the path works in both directions.
    mutating func markAnswered(_ endpoint: Endpoint) {
        if let index = candidates.firstIndex(where: { $0.endpoint == endpoint }) {
            candidates[index].answered = true
        }
    }

    /// True if anything was removed.
    mutating func removeAll(on link: LinkID) -> Bool {
        let count = candidates.count
        candidates.removeAll { $0.endpoint.link == link }
        return candidates.count != count
    }

    var isEmpty: Bool { candidates.isEmpty }

    /// Best first.
    func ordered(run: RunID) -> [Endpoint] {
        let current = candidates.filter { $0.run == run }
        let parts = [
            current.filter(\.answered), current.filter { !$0.answered },
            candidates.filter { $0.run != run },
        ]
        return parts.flatMap { $0.map(\.endpoint) }
    }

    private mutating func makeRoom(for run: RunID, now: Instant) -> Bool {
        let removable = candidates.indices.filter {
            candidates[$0].run != run || now - candidates[$0].lastHeard >= Self.silence
        }
        let oldest = removable.min { candidates[$0].lastHeard < candidates[$1].lastHeard }
        guard let oldest else { return false }
        candidates.remove(at: oldest)
        return true
    }

    private static let silence: Duration = .seconds(30)
}

extension TransportAddress {
    /// The same host's other port; unchanged where there are no ports.
    func withPort(_ port: UInt16) -> TransportAddress {
        switch self {
        case .ipv4(let address, _): .ipv4(address: address, port: port)
        case .ipv6(let high, let low, _): .ipv6(high: high, low: low, port: port)
        case .bluetooth, .simulated: self
        }
    }
}

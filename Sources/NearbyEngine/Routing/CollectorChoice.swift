import NearbyCore
import NearbyWire

/// Which collector an agent addresses: the cheapest; another only when the chosen one is out of
/// reach, or when the other was a fifth cheaper for a minute.
public struct CollectorChoice: Sendable {
    public enum Input: Equatable, Sendable {
        /// A way to a collector, or none any more.
        case route(PeerID, metric: UInt16?)
        case deadlineReached
    }

    public enum Output: Equatable, Sendable { case chosen(PeerID?) }

    private var metrics: [PeerID: UInt16] = [:]
    public private(set) var current: PeerID?
    private var challenger: (peer: PeerID, since: Instant)?

    public init() {}

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        if case .route(let peer, let metric) = input {
            if metrics[peer] == nil, metrics.count >= Limits.collectorsMax { return [] }
            metrics[peer] = metric
        }
        let cheapest = metrics.min { ($0.value, $0.key) < ($1.value, $1.key) }?.key
        guard let current, let cost = metrics[current] else { return choose(cheapest) }
        guard let cheapest, cheapest != current, let other = metrics[cheapest],
            UInt32(other) * 5 <= UInt32(cost) * 4
        else {
            challenger = nil
            return []
        }
        if challenger?.peer != cheapest { challenger = (cheapest, now) }
        guard let since = challenger?.since, now - since >= Limits.collectorPatience else {
            return []
        }
        return choose(cheapest)
    }

    /// Whether it is one of those to choose among.
    func knows(_ peer: PeerID) -> Bool { metrics[peer] != nil }

    public var nextDeadline: Instant? { challenger.map { $0.since + Limits.collectorPatience } }

    private mutating func choose(_ peer: PeerID?) -> [Output] {
        challenger = nil
        guard peer != current else { return [] }
        current = peer
        return [.chosen(peer)]
    }
}

extension Limits {
    /// Collectors that an agent chooses among.
    public static let collectorsMax = 32
    /// How long another collector must have been cheaper.
    public static let collectorPatience = Duration.seconds(60)
}

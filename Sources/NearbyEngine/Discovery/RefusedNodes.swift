import NearbyCore
import NearbyWire

/// A node in reach that cannot be a neighbour. What it says of itself is unproved.
public struct RefusedNode: Equatable, Sendable {
    public enum Cause: String, CaseIterable, Sendable {
        case otherNetwork = "other-network"
        case otherSecret = "other-secret"
        /// It proves no secret at all (`trust: any`).
        case noSecret = "no-secret"
        /// One side requires encryption and the other refuses it.
        case encryption
        /// No wire version that both speak.
        case version
        /// `trust: pinned` does not list it.
        case notListed = "not-listed"
        /// It is a collector or a viewer, and its certificate does not say so.
        case role
        /// Its certificate is not valid at this date.
        case expired
    }

    public var peer: PeerID
    public var endpoint: Endpoint
    public var cause: Cause
    public var lastHeard: Instant
}

/// Remembers whom we refused and why, so that it is told once instead of with each beacon.
///
/// Anybody can invent such nodes. So the table is bounded, one address has few places in it, and
/// what finds no place is counted and not told.
struct RefusedNodes: Sendable {
    private struct Entry {
        var node: RefusedNode
        var lastTold: Instant
    }

    private var entries: [PeerID: Entry] = [:]
    /// Refusals that found no place.
    private(set) var omittedCount = 0

    /// - Returns: whether to tell of it now: it is new, its cause changed, or it is still there
    ///   after hours.
    mutating func record(
        _ peer: PeerID, at endpoint: Endpoint, _ cause: RefusedNode.Cause, now: Instant
    ) -> Bool {
        let node = RefusedNode(peer: peer, endpoint: endpoint, cause: cause, lastHeard: now)
        if let known = entries[peer] {
            let silence =
                known.node.cause == cause
                ? Limits.refusalRepeatInterval : Limits.refusalChangeInterval
            let isDue = now - known.lastTold >= silence
            // An invented cause does not hide the one that was told.
            guard isDue || known.node.cause == cause else { return false }
            entries[peer] = Entry(node: node, lastTold: isDue ? now : known.lastTold)
            return isDue
        }
        guard makeRoom(for: endpoint, now) else {
            omittedCount += 1
            return false
        }
        entries[peer] = Entry(node: node, lastTold: now)
        return true
    }

    /// The peer was admitted after all.
    mutating func remove(_ peer: PeerID) { entries[peer] = nil }

    /// Those heard lately, in the order of their PeerIDs.
    func recent(now: Instant) -> [RefusedNode] {
        entries.keys.sorted().compactMap { entries[$0]?.node }
            .filter { now - $0.lastHeard < Limits.refusalMemory }
    }

    subscript(peer: PeerID) -> RefusedNode? { entries[peer]?.node }

    private mutating func makeRoom(for endpoint: Endpoint, _ now: Instant) -> Bool {
        let host = endpoint.address.withPort(0)
        let neighbours = entries.values.filter {
            $0.node.endpoint.link == endpoint.link
                && $0.node.endpoint.address.withPort(0) == host
        }
        if neighbours.count >= Limits.refusedNodesPerAddress {
            return evictSilent(among: neighbours, now)
        }
        return entries.count < Limits.refusedNodesMax || evictSilent(among: entries.values, now)
    }

    private mutating func evictSilent(
        among candidates: some Sequence<Entry>, _ now: Instant
    ) -> Bool {
        let oldest = candidates.min {
            ($0.node.lastHeard, $0.node.peer) < ($1.node.lastHeard, $1.node.peer)
        }
        guard let oldest, now - oldest.node.lastHeard >= Limits.refusalMemory else { return false }
        entries[oldest.node.peer] = nil
        return true
    }
}

extension RefusedNode.Cause {
    /// Why an attempt at a channel was refused; nil where it says nothing of the peer's settings.
    init?(_ reason: DropReason) {
        switch reason {
        case .admissionSecret: self = .otherSecret
        case .admissionPreference: self = .encryption
        case .admissionVersion: self = .version
        case .admissionNotListed: self = .notListed
        case .admissionRole: self = .role
        case .certificateExpired: self = .expired
        default: return nil
        }
    }
}

extension Limits {
    static let refusedNodesMax = 32
    /// Of one host on one link.
    static let refusedNodesPerAddress = 4
    /// How long one that fell silent is shown and keeps its place.
    static let refusalMemory = Duration.seconds(900)
    /// One that is still there is told again after this time.
    static let refusalRepeatInterval = Duration.seconds(21_600)
    /// The same with another cause.
    static let refusalChangeInterval = Duration.seconds(60)
}

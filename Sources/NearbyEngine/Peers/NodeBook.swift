import NearbyCore
import NearbyWire

/// What is known of a node of the network, in reach or gone.
public struct KnownNode: Equatable, Sendable {
    public var peer: PeerID
    /// As it said when a channel to it was opened; nil: there never was one.
    public var name: String?
    public var role: Role?
    /// The version of its program; empty: it did not say.
    public var software = ""
    /// As routing has it.
    public var kind: DestinationKind
    /// The neighbour on the route to it, or on the last one: itself if it is a neighbour.
    public var nextHop: PeerID?
    /// Links that its last message crossed.
    public var hops: Int?
    public var isReachable: Bool
    /// When it was last in reach; of one that is, when its route last changed.
    public var lastReachable: Instant
}

/// The nodes of the network since our start: who is in reach, and who was.
///
/// Of those behind other nodes it also says when they vanish and return; who loses a neighbour
/// hears that from the neighbourhood itself.
struct NodeBook: Sendable {
    enum Output: Equatable {
        /// Out of reach for `Limits.vanishedAfter`; in the order of their PeerIDs.
        case vanished([PeerID])
        /// One of these is in reach again.
        case returned(PeerID)
    }

    private struct Entry {
        var node: KnownNode
        /// That was said.
        var hasVanished = false
    }

    private var entries: [PeerID: Entry] = [:]
    /// When those out of reach count as vanished.
    private var due = DeadlineTable<PeerID>()

    /// The next hop to a destination changed; nil: there is no route.
    mutating func routeChanged(
        _ peer: PeerID, nextHop: PeerID?, _ kind: DestinationKind, now: Instant
    ) -> [Output] {
        guard var entry = entries[peer] ?? (nextHop == nil ? nil : add(peer, kind, now)) else {
            return []
        }
        let wasReachable = entry.node.isReachable
        entry.node.kind = kind
        entry.node.isReachable = nextHop != nil
        if wasReachable || nextHop != nil { entry.node.lastReachable = now }
        var outputs: [Output] = []
        if let nextHop {
            if entry.hasVanished { outputs.append(.returned(peer)) }
            entry.node.nextHop = nextHop
            entry.hasVanished = false
            due[peer] = nil
        } else if wasReachable, entry.node.nextHop != peer, kind != .viewer {
            due[peer] = now + Limits.vanishedAfter
        }
        entries[peer] = entry
        return outputs
    }

    /// What the peer said of itself when its channel was opened.
    mutating func record(_ peer: PeerID, _ terms: AdmitFrame, now: Instant) {
        guard var entry = entries[peer] ?? add(peer, DestinationKind(terms.role), now) else {
            return
        }
        entry.node.name = terms.name
        entry.node.role = terms.role
        entry.node.software = terms.software
        entries[peer] = entry
    }

    mutating func heard(_ peer: PeerID, hops: Int) { entries[peer]?.node.hops = hops }

    mutating func deadlineReached(now: Instant) -> [Output] {
        let vanished = due.takeDue(now: now)
        for peer in vanished {
            entries[peer]?.hasVanished = true
        }
        return vanished.isEmpty ? [] : [.vanished(vanished)]
    }

    var nextDeadline: Instant? { due.earliest }

    subscript(peer: PeerID) -> KnownNode? { entries[peer]?.node }

    /// In the order of their PeerIDs.
    var nodes: [KnownNode] { entries.keys.sorted().compactMap { entries[$0]?.node } }

    /// A full book forgets who has been gone longest; nil if everybody is in reach.
    private mutating func add(_ peer: PeerID, _ kind: DestinationKind, _ now: Instant) -> Entry? {
        if entries.count >= Limits.nodesRememberedMax {
            let gone = entries.values.map(\.node).filter { !$0.isReachable }
            let oldest = gone.min { ($0.lastReachable, $0.peer) < ($1.lastReachable, $1.peer) }
            guard let oldest else { return nil }
            entries[oldest.peer] = nil
            due[oldest.peer] = nil
        }
        return Entry(
            node: KnownNode(
                peer: peer, kind: kind, isReachable: false, lastReachable: now))
    }
}

extension Limits {
    /// Nodes whose names and routes are kept for `rivulet status`.
    static let nodesRememberedMax = 1_024
    /// A route that is found again sooner was never lost, to people.
    static let vanishedAfter = Duration.seconds(10)
}

import NearbyCore

/// What a peer says of itself that asks a full node for a place, and who makes room for it.
struct PlaceRequest: Sendable, Hashable {
    /// Over which it asks; nil if that is none on which a node wants somebody.
    var link: LinkID?
    var hasRoute: Bool
    /// The way over us would be far cheaper than its own.
    var seeksShortcut: Bool
    var neighbourCount: Int
}

extension PairTable {
    /// A neighbour that can do without us. For a peer that has no route to a collector, or fewer
    /// than two neighbours, one that seems to; for one that only has a far longer way otherwise,
    /// one that certainly can.
    func dispensable(
        for request: PlaceRequest, of reaches: [NeighbourReach], besides dialed: Set<PeerID>
    ) -> PeerID? {
        if !request.hasRoute || request.neighbourCount < 2 {
            return dispensable(of: reaches, besides: dialed)
        }
        guard request.seeksShortcut else { return nil }
        return dispensable(of: reaches.filter(\.leadsToCollector), besides: dialed)
    }

    /// A neighbour that reaches at least three others by other routes and is neither a collector
    /// nor a way of ours to one, those that lead to a collector last.
    func dispensable(of reaches: [NeighbourReach], besides dialed: Set<PeerID>) -> PeerID? {
        let dispensable = reaches.filter {
            $0.others >= 3 && !$0.isOurWay && !dialed.contains($0.neighbour)
                && !isAloneOnLink($0.neighbour)
                && self[$0.neighbour]?.sighting?.role != .collector
        }
        return dispensable.min {
            ($0.usefulness, $0.neighbour) < ($1.usefulness, $1.neighbour)
        }?.neighbour
    }
}

/// What keeps a crowd from pushing each other out for ever, and beacons that promise too much from
/// handshakes without end.
struct PlacePauses: Sendable, Hashable {
    /// Between evictions of neighbours, or places beyond the usual number, for peers with a route.
    private var eviction = GrowingPause(
        first: Limits.shortcutPauseFirst, longest: Limits.shortcutPauseMax)
    private var shortcut = GrowingPause(
        first: Limits.shortcutPauseFirst, longest: Limits.shortcutPauseMax)
    /// Until then no other bridge is taken on these links: the last one is being admitted.
    private var bridgesFrom: [LinkID: Instant] = [:]
    /// When one of too many neighbours is to go.
    private(set) var trimAt: Instant?
    private var trimPatience = Limits.trimPatience

    /// - Parameter room: for so many more.
    mutating func takesBridge(on link: LinkID, room: Int, _ now: Instant) -> Bool {
        bridgesFrom = bridgesFrom.filter { $0.value > now }
        guard bridgesFrom[link] == nil, bridgesFrom.count < room else { return false }
        bridgesFrom[link] = now + Limits.bridgePatience
        return true
    }

    /// Whoever has a route asks for a better one: ever more rarely. Who was just dropped pushes out
    /// nobody: while no collector is there, all would take turns without end.
    func mayEvict(for request: PlaceRequest, isDropped: Bool?, _ now: Instant) -> Bool {
        isDropped != true && (!request.hasRoute || eviction.isOver(now))
    }

    mutating func evicted(for request: PlaceRequest, _ now: Instant) {
        if request.hasRoute { eviction.begin(now) }
    }

    func takesShortcut(_ now: Instant) -> Bool { shortcut.isOver(now) }

    mutating func triedShortcut(_ now: Instant) { shortcut.begin(now) }

    mutating func planTrimming(_ isTooMany: Bool, _ now: Instant) {
        trimAt = isTooMany ? trimAt ?? now + trimPatience : nil
        if !isTooMany { trimPatience = Limits.trimPatience }
    }

    /// Whether one is to go now; the next plan begins anew.
    mutating func takeTrimming(_ now: Instant) -> Bool {
        guard trimAt ?? .distantFuture <= now else { return false }
        trimAt = nil
        return true
    }

    /// Where none could go it takes longer until the next is looked for. A plan follows.
    mutating func trimmed(_ isDone: Bool) {
        trimPatience = isDone ? Limits.trimPatience : min(trimPatience * 2, Limits.trimPatienceMax)
        trimAt = nil
    }
}

extension Limits {
    /// With too many neighbours, before one is let go; doubles to the maximum while none may.
    static let trimPatience = Duration.seconds(2)
    static let trimPatienceMax = Duration.seconds(64)
    /// Between two tries for a shortcut, or two places given for one; doubles to the maximum.
    static let shortcutPauseFirst = Duration.seconds(1)
    static let shortcutPauseMax = Duration.seconds(64)
    /// Until a peer that was taken on a bare link has its channel.
    static let bridgePatience = Duration.seconds(2)
}

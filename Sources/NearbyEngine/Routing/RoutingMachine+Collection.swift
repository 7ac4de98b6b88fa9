import NearbyCore
import NearbyWire

/// What is taken in, and what is forgotten with time.
extension RoutingMachine {
    /// A destination is told of for the first time. A neighbour's word on itself always finds room.
    /// Returns why there is none; nil if there is.
    mutating func add(
        _ id: PeerID, _ kind: DestinationKind, by peer: PeerID, _ now: Instant
    ) -> DropReason? {
        if let reason = refusal(of: id, from: peer, now) {
            neighbours.change(peer) { $0.hasRefused = true }
            collect(by: now + Limits.refusedRouteRetry)
            return reason
        }
        destinations.add(Destination(id, kind: kind, introducer: peer))
        return nil
    }

    /// Why there is no room for a destination that this neighbour tells of; nil if there is.
    private mutating func refusal(
        of id: PeerID, from peer: PeerID, _ now: Instant
    ) -> DropReason? {
        if id == peer {
            return destinations.count < Self.destinationsMax ? nil : .routingTableFull
        }
        if destinations.count >= Limits.routingShareMax {
            if destinations.share(of: peer) >= Limits.routingShareMax { makeRoom(now) }
            if destinations.share(of: peer) >= Limits.routingShareMax { return .routingShareFull }
        }
        guard destinations.count >= Limits.routesMax else { return nil }
        makeRoom(now)
        return destinations.count < Limits.routesMax ? nil : .routingTableFull
    }

    /// Forgets the oldest of what nobody tells of any more and nobody believes to be reached
    /// through us: what a liar invented is gone soon after it.
    private mutating func makeRoom(_ now: Instant) {
        if let roomSearchFrom, now < roomSearchFrom { return }
        roomSearchFrom = now + Limits.roomSearchPause
        var idle = destinations.all.values.filter {
            $0.candidates.isEmpty && now >= $0.believedUntil ?? now
                && now >= ($0.routelessSince ?? now) + Limits.retractionTime
        }
        guard !idle.isEmpty, let believed else { return }
        idle.removeAll { believed.contains($0.peer.short) }
        idle.sort { ($0.routelessSince ?? now, $0.peer) < ($1.routelessSince ?? now, $1.peer) }
        for destination in idle.prefix(Limits.roomMade) { destinations.remove(destination.peer) }
    }

    /// A neighbour that we lost may take some time to lose us.
    mutating func holdBelieved(by lost: RoutingNeighbour, _ now: Instant) {
        let believed = lost.believed
        destinations.changeAll { destination in
            guard believed?.contains(destination.peer.short) ?? true else { return }
            destination.believedUntil = now + Limits.restartedForwardingDelay
        }
    }

    /// Another PeerID of the same short ID is in use. A neighbour's is proved.
    mutating func rename(_ id: PeerID, _ new: PeerID) -> [Output] {
        guard id != new, let selected = destinations[id]?.selected else { return [] }
        destinations.rename(id, to: new)
        markChanged(id)
        markChanged(new)
        guard selected.hop != nil else { return [] }
        let metric = RoutingMessage.metricInfinite
        return [.routeChanged(id, nextHop: nil, metric: metric, kind: selected.kind)]
    }

    // MARK: Expiry

    /// Forgets destinations that nobody has reached for long, and feasibility distances that
    /// nothing meets; asks again where no way is feasible.
    mutating func collect(_ now: Instant) -> [Output] {
        guard let due = nextCollection, now >= due else { return [] }
        nextCollection = nil
        raiseIfWanted(now)
        let forgettable = forgettable(now)
        var outputs: [Output] = []
        for id in destinations.sortedIDs {
            guard let destination = destinations[id] else { continue }
            let isForgettable = forgettable.contains(id)
            let changes = expire(destination, isForgettable: isForgettable, now)
            if !changes.isEmpty { outputs += changes }
        }
        askForRefused(now)
        return outputs
    }

    /// One without a way (RFC 8966 §3.2.5).
    private mutating func expire(
        _ destination: Destination, isForgettable: Bool, _ now: Instant
    ) -> [Output] {
        guard let since = destination.routelessSince else { return [] }
        let id = destination.peer
        if let askAt = destination.askAt, now < askAt {
            collect(by: askAt)
        } else if !destination.candidates.isEmpty {
            let isAsked = destination.seqnoToRequest { neighbours.cost(of: $0) } != nil
            destinations.change(id) {
                $0.putOffAsking(isAsked: isAsked, now: now)
                if isForgettable { $0.forgetFeasibility() }
            }
            return select(id, now)
        } else if now >= since + Limits.sourceTime {
            destinations.remove(id)
        } else {
            collect(by: since + Limits.sourceTime)
        }
        return []
    }

    /// The destinations whose feasibility distance protects nobody any more: all neighbours have
    /// confirmed that there is no way through us, and those that we lost have lost us by now. So no
    /// way of anybody leads through us, and none that we take can come back.
    ///
    /// RFC 8966 §3.2.5 waits for three minutes only; here the neighbours confirm as well.
    private func forgettable(_ now: Instant) -> Set<PeerID> {
        if let lastLoss, now < lastLoss + Limits.feasibilityHold { return [] }
        let old = destinations.all.values.filter {
            !$0.candidates.isEmpty && now >= ($0.routelessSince ?? now) + Limits.feasibilityHold
        }
        guard !old.isEmpty, let believed else { return [] }
        return Set(old.map(\.peer).filter { !believed.contains($0.short) })
    }

    /// To what some neighbour may believe that there is a way through us; nil: to anything.
    private var believed: Set<ShortID>? {
        var believed: Set<ShortID> = []
        for neighbour in neighbours.values {
            guard let its = neighbour.believed else { return nil }
            believed.formUnion(its)
        }
        return believed
    }

    /// Updates are deltas: what was refused is not told again unless somebody asks.
    private mutating func askForRefused(_ now: Instant) {
        guard neighbours.values.contains(where: \.hasRefused) else { return }
        collect(by: now + Limits.refusedRouteRetry)
        if destinations.count + Limits.roomAsked > Limits.routesMax { makeRoom(now) }
        guard destinations.count + Limits.roomAsked <= Limits.routesMax else { return }
        for peer in neighbours.sortedPeers {
            guard let neighbour = neighbours[peer], neighbour.hasRefused,
                now >= neighbour.asksForAllFrom ?? now,
                destinations.share(of: peer) + Limits.roomAsked <= Limits.routingShareMax
            else { continue }
            neighbours.change(peer) {
                $0.hasRefused = false
                $0.asksForAllFrom = now + Limits.everythingPause
                $0.requests[.everything] = .init(seqno: 0, hopLimit: 1)
            }
        }
    }

    mutating func collect(by time: Instant) {
        nextCollection = min(nextCollection ?? .distantFuture, time)
    }
}

extension PeerID {
    /// In a request: all that the neighbour knows (RFC 8966 §3.8.1.1, a wildcard request).
    static let everything = PeerID(high: 0, low: 0)
}

extension Limits {
    /// Destinations that one neighbour may have told of first.
    public static let routingShareMax = 768
    /// How long a destination must have been without a way, and no neighbour been lost, until its
    /// feasibility distance may be forgotten (RFC 8966 §3.2.5).
    static let feasibilityHold = sourceTime
    /// Between two looks whether there is room for what was refused.
    static let refusedRouteRetry = Duration.milliseconds(500)
    /// Between two such requests to one neighbour.
    static let everythingPause = Duration.seconds(1)
    /// Between two answers to such requests of one neighbour.
    static let tellAllPause = Duration.milliseconds(500)
    /// Places that must be free until what was refused is asked for.
    static let roomAsked = 64
    /// Destinations forgotten at once to make room.
    static let roomMade = 256
    /// Between two searches for such.
    static let roomSearchPause = Duration.milliseconds(200)
    /// How long a destination must have been without a way until it may be forgotten to make room:
    /// by then a retraction has reached the whole mesh, and nobody tells of what is no more.
    static let retractionTime = Duration.seconds(1)
}

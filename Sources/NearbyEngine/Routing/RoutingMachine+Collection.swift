import NearbyCore
import NearbyWire

/// Which destinations are added, which are evicted, and what expires.
extension RoutingMachine {
    /// A destination is announced for the first time. What a neighbour announces of itself always
    /// finds room. Returns why there is none; nil if there is.
    mutating func add(
        _ id: PeerID, _ kind: DestinationKind, by peer: PeerID, _ now: Instant
    ) -> DropReason? {
        if let reason = refusal(of: id, kind, from: peer, now) {
            neighbours.refuse(kind, of: peer)
            collect(by: now + Limits.refusedRouteRetry)
            return reason
        }
        destinations.add(Destination(id, kind: kind, introducer: peer))
        if id != peer { neighbours.remindRefused(except: peer) }
        return nil
    }

    /// Why there is no room for a destination that this neighbour announces; nil if there is.
    private mutating func refusal(
        of id: PeerID, _ kind: DestinationKind, from peer: PeerID, _ now: Instant
    ) -> DropReason? {
        if id == peer {
            return destinations.count < Self.destinationsMax ? nil : .routingTableFull
        }
        let more = kind == .node ? 0 : Limits.urgentShareMax
        let shareMax = Limits.routingShareMax + more
        if destinations.count >= shareMax {
            if destinations.share(of: peer) >= shareMax { makeRoom(now) }
            if destinations.share(of: peer) >= shareMax { return .routingShareFull }
        }
        guard destinations.count >= Limits.routesMax + more else { return nil }
        makeRoom(now)
        return destinations.count < Limits.routesMax + more ? nil : .routingTableFull
    }

    /// Evicts the oldest destinations that nobody announces any more and that nobody believes to be
    /// reached through us: what a liar invented is gone soon after the liar.
    private mutating func makeRoom(_ now: Instant) {
        if let evictionSearchFrom, now < evictionSearchFrom { return }
        evictionSearchFrom = now + Limits.evictionSearchInterval
        var idle = destinations.all.values.filter {
            $0.candidates.isEmpty && now >= $0.believedUntil ?? now
                && now >= ($0.routelessSince ?? now) + Limits.retractionTime
        }
        idle.removeAll { neighbours.mayBelieve(in: $0.peer.short) }
        idle.sort { ($0.routelessSince ?? now, $0.peer) < ($1.routelessSince ?? now, $1.peer) }
        for destination in idle.prefix(Limits.routesEvictedAtOnce) {
            destinations.remove(destination.peer)
        }
    }

    /// A neighbour that we lost may take some time to lose us.
    mutating func holdBelieved(by lost: RoutingNeighbour, _ now: Instant) {
        destinations.changeAll { destination in
            guard lost.mayBelieve(in: destination.peer.short) else { return }
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
    /// nothing meets; asks again where no route is feasible.
    mutating func collect(_ now: Instant) -> [Output] {
        guard let due = nextCollection, now >= due else { return [] }
        nextCollection = nil
        raiseIfWanted(now)
        let forgettable = forgettable(now)
        var outputs: [Output] = []
        for id in destinations.routeless.sorted() {
            guard let destination = destinations[id] else { continue }
            let isForgettable = forgettable.contains(id)
            let changes = expire(destination, isForgettable: isForgettable, now)
            if !changes.isEmpty { outputs += changes }
        }
        for id in destinations.constrained.sorted() { requestCheaper(id, now) }
        requestRefused(now)
        return outputs
    }

    /// A far cheaper route has been offered for long enough, and is not feasible.
    @inline(never) private mutating func requestCheaper(_ id: PeerID, _ now: Instant) {
        guard let destination = destinations[id], let since = destination.constrainedSince else {
            return
        }
        let due = since + destination.cheaperRoutePatience
        guard now >= due else { return collect(by: due) }
        let wish = neighbours.seqnoForCheaper(to: destination)
        destinations.change(id) { $0.restartConstraint(wish == nil ? nil : now) }
        guard let wish else { return }
        request(id, wish.seqno, of: wish.offeredBy, now)
        collect(by: now + destination.cheaperRoutePatience)
    }

    /// One without a route (RFC 8966 §3.2.5).
    private mutating func expire(
        _ destination: Destination, isForgettable: Bool, _ now: Instant
    ) -> [Output] {
        guard let since = destination.routelessSince else { return [] }
        let id = destination.peer
        if let requestAt = destination.requestAt, now < requestAt {
            collect(by: requestAt)
        } else if !destination.candidates.isEmpty {
            let isRequested = destination.seqnoToRequest { neighbours.cost(of: $0) } != nil
            destinations.change(id) {
                $0.postponeRequest(isRequested: isRequested, now: now)
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
    /// confirmed that they have no route through us, and those that we lost have lost us by now. So
    /// nobody's route leads through us, and none that we select can lead back.
    ///
    /// RFC 8966 §3.2.5 only waits for three minutes; here the neighbours confirm as well.
    private func forgettable(_ now: Instant) -> Set<PeerID> {
        if let lastLoss, now < lastLoss + Limits.feasibilityHold { return [] }
        let old = destinations.routeless.compactMap { destinations[$0] }.filter {
            !$0.candidates.isEmpty && now >= ($0.routelessSince ?? now) + Limits.feasibilityHold
        }
        return Set(old.map(\.peer).filter { !neighbours.mayBelieve(in: $0.short) })
    }

    /// Asks those for everything again of whose offers some were refused and may find room now.
    private mutating func requestRefused(_ now: Instant) {
        guard !neighbours.refused.isEmpty else { return }
        collect(by: now + Limits.refusedRouteRetry)
        let isFull = neighbours.refused.keys.contains {
            destinations.share(of: $0) >= Limits.routingShareMax
        }
        if isFull || destinations.count + Limits.freeRoutesForRequest > Limits.routesMax {
            makeRoom(now)
        }
        for (peer, offers) in neighbours.refused.sorted(by: { $0.key < $1.key })
        where mayFindRoom(offers, of: peer) && now >= neighbours[peer]?.fullRequestFrom ?? now {
            neighbours.requestAll(of: peer, now)
        }
    }

    private func mayFindRoom(_ offers: RefusedOffers, of peer: PeerID) -> Bool {
        if offers.isWorthRequest { return true }
        let (share, free) = (destinations.share(of: peer), Limits.freeRoutesForRequest)
        if destinations.count + free <= Limits.routesMax, share + free <= Limits.routingShareMax {
            return true
        }
        let more = Limits.urgentShareMax - Limits.freeUrgentForRequest
        return offers.hasUrgent && destinations.count <= Limits.routesMax + more
            && share <= Limits.routingShareMax + more
    }

    mutating func collect(by time: Instant) {
        nextCollection = min(nextCollection ?? .distantFuture, time)
    }
}

extension PeerID {
    /// In a request: all that the neighbour knows (RFC 8966 §3.8.1.1, a wildcard request).
    static let wildcard = PeerID(high: 0, low: 0)
}

extension Limits {
    /// Destinations that one neighbour may have been the first to announce.
    public static let routingShareMax = 768
    /// So many more of these, and in the whole table, if they are collectors or viewers: a node
    /// whose only neighbour is one of a thousand must not lack the one that it is there for.
    public static let urgentShareMax = 64
    /// How long a destination must have been without a route, and no neighbour been lost, until its
    /// feasibility distance may be forgotten (RFC 8966 §3.2.5).
    static let feasibilityHold = sourceTime
    /// Between two checks whether there is room for what was refused.
    static let refusedRouteRetry = Duration.milliseconds(500)
    /// Between two wildcard requests to one neighbour.
    static let fullRequestInterval = Duration.seconds(1)
    /// Between two full updates of one neighbour: after wildcard requests, and after resyncs.
    static let fullUpdateInterval = Duration.milliseconds(500)
    /// Places that must be free before what was refused is requested.
    static let freeRoutesForRequest = 64
    /// The same, of those for collectors and viewers alone.
    static let freeUrgentForRequest = 16
    /// Destinations evicted at once to make room.
    static let routesEvictedAtOnce = 256
    /// Between two searches for destinations to evict.
    static let evictionSearchInterval = Duration.milliseconds(200)
    /// How long a destination must have been without a route before it may be evicted: by then a
    /// retraction has crossed some fifty links even where each holds it back
    /// (`routingPaceInterval`), and hardly anybody announces what is gone.
    static let retractionTime = Duration.seconds(1)
}

import NearbyCore
import NearbyWire

/// What is taken in, and what is forgotten with time.
extension RoutingMachine {
    /// A destination is told of for the first time. A neighbour's word on itself always finds room.
    mutating func add(
        _ id: PeerID, _ update: RoutingMessage.RouteUpdate, by peer: PeerID, _ now: Instant,
        _ outputs: inout [Output]
    ) -> Destination? {
        guard update.metric != RoutingMessage.metricInfinite else { return nil }
        if let reason = refusal(of: id, from: peer, now) {
            if neighbours[peer]?.refused.count ?? 0 < Limits.refusedRoutesMax {
                neighbours[peer]?.refused[id] = update.seqno
                collect(by: now + Limits.refusedRouteRetry)
            }
            outputs.append(.drop(reason))
            return nil
        }
        destinationsByShortID[id.short] = id
        return Destination(id, kind: update.kind, introducer: peer)
    }

    /// Why there is no room for a destination that this neighbour tells of; nil if there is.
    private mutating func refusal(
        of id: PeerID, from peer: PeerID, _ now: Instant
    ) -> DropReason? {
        if id == peer {
            return destinations.count < Self.destinationsMax ? nil : .routingTableFull
        }
        if destinations.count >= Limits.routingShareMax {
            let share = destinations.values.reduce(0) { $0 + ($1.introducer == peer ? 1 : 0) }
            if share >= Limits.routingShareMax { return .routingShareFull }
        }
        guard destinations.count >= Limits.routesMax else { return nil }
        let idle = destinations.values.filter { $0.candidates.isEmpty && mayForget($0, now) }
        guard
            let oldest = idle.min(by: {
                ($0.routelessSince ?? now, $0.peer)
                    < ($1.routelessSince ?? now, $1.peer)
            })
        else { return .routingTableFull }
        forget(oldest.peer)
        return nil
    }

    /// The destination under this short ID, whatever it was called first: PeerIDs in messages are
    /// not proved, and packets carry the short ID alone. So all ways to one short ID share one
    /// feasibility distance, and together are free of loops.
    func known(as id: PeerID) -> PeerID { destinationsByShortID[id.short] ?? id }

    /// Another PeerID of the same short ID is in use: its name counts. A neighbour's is proved.
    mutating func rename(_ id: PeerID, _ new: PeerID, _ outputs: inout [Output]) {
        guard id != new, var destination = destinations.removeValue(forKey: id) else { return }
        if destination.selected != nil {
            outputs.append(
                .routeChanged(
                    id, nextHop: nil, metric: RoutingMessage.metricInfinite,
                    kind: destination.kind))
        }
        destination.peer = new
        destination.selected = nil
        destination.metric = RoutingMessage.metricInfinite
        destinations[new] = destination
        destinationsByShortID[new.short] = new
        markChanged(id)
        markChanged(new)
    }

    private mutating func forget(_ id: PeerID) {
        destinations[id] = nil
        destinationsByShortID[id.short] = nil
    }

    /// Forgets destinations that nobody has reached for long, and feasibility distances that
    /// nothing meets; asks again where no way is feasible.
    mutating func collect(_ now: Instant, _ outputs: inout [Output]) {
        guard let due = nextCollection, now >= due else { return }
        nextCollection = nil
        raiseIfWanted(now)
        if let raiseFrom, now < raiseFrom, wantedSeqno != nil { collect(by: raiseFrom) }
        for (id, destination) in destinations.sorted(by: { $0.key < $1.key }) {
            guard let since = destination.routelessSince else { continue }
            if let askAt = destination.askAt, now < askAt {
                collect(by: askAt)
            } else if !destination.candidates.isEmpty {
                destinations[id]?.putOffAsking(now: now)
                if mayForget(destination, now) { destinations[id]?.forgetFeasibility() }
                select(id, now, &outputs)
            } else if now >= since + Limits.sourceTime {
                forget(id)
            } else {
                collect(by: since + Limits.sourceTime)
            }
        }
        askForRefused(now)
    }

    /// Whether the feasibility distance protects nobody any more: all neighbours have confirmed
    /// that there is no way through us, and those that we lost have lost us by now. So no way of
    /// anybody leads through us, and none that we take can come back.
    ///
    /// RFC 8966 §3.5.5 waits for three minutes only; here the neighbours confirm as well.
    private func mayForget(_ destination: Destination, _ now: Instant) -> Bool {
        guard let since = destination.routelessSince, now >= since + Limits.feasibilityHold else {
            return false
        }
        if let lastLoss, now < lastLoss + Limits.feasibilityHold { return false }
        return neighbours.values.allSatisfy { $0.knowsNoWay(to: destination.peer.short) }
    }

    /// Updates are deltas: what was refused is not told again unless somebody asks.
    private mutating func askForRefused(_ now: Instant) {
        for (peer, neighbour) in neighbours.sorted(by: { $0.key < $1.key }) {
            for (id, seqno) in neighbour.refused.sorted(by: { $0.key < $1.key }) {
                guard refusal(of: id, from: peer, now) == nil else {
                    collect(by: now + Limits.refusedRouteRetry)
                    break
                }
                neighbours[peer]?.refused[id] = nil
                neighbours[peer]?.requests[id] = .init(seqno: seqno, hopLimit: 1)
            }
        }
    }

    private mutating func collect(by time: Instant) {
        nextCollection = min(nextCollection ?? .distantFuture, time)
    }
}

extension Limits {
    /// Destinations that one neighbour may have told of first.
    public static let routingShareMax = 768
    /// How long a destination must have been without a way, and no neighbour been lost, until its
    /// feasibility distance may be forgotten (RFC 8966 §3.5.5).
    static let feasibilityHold = sourceTime
    /// Between two looks whether there is room for what was refused.
    static let refusedRouteRetry = Duration.seconds(10)
    /// Destinations of one neighbour that found no room and are remembered.
    static let refusedRoutesMax = 32
}

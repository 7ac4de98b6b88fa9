import NearbyCore
import NearbyWire

/// A route to a destination that is in use.
public struct Route: Equatable, Sendable {
    public var destination: PeerID
    public var nextHop: PeerID
    public var metric: UInt16
    public var seqno: UInt32
    public var kind: DestinationKind
}

/// Distance-vector routing with Babel's feasibility condition (RFC 8966 §3.5.1), PeerIDs as router
/// ids: loop-free at every moment, also where a member announces what is not so.
///
/// Differences from RFC 8966, with reasons: updates are deltas, numbered and acknowledged for each
/// neighbour, so nothing is sent while nothing changes; the seqno is 32 bits and never stored:
/// neighbours tell a restarted node the highest that they know (`known`), and it goes on above.
/// What a destination says of itself over its own channel is always feasible, since a route that
/// ends with the next hop is no loop; nobody may announce it with a newer seqno meanwhile.
public struct RoutingMachine: Sendable {
    public enum Input: Sendable {
        /// A channel's hop was admitted.
        case neighbourUp(PeerID, cost: UInt16)
        case neighbourDown(PeerID)
        /// Infinite while the neighbour is suspect.
        case costChanged(PeerID, UInt16)
        /// - Parameter isOvertaken: a numbered message that the neighbour sent later was here
        ///   already.
        case received(RoutingMessage, from: PeerID, isOvertaken: Bool = false)
        case deadlineReached
    }

    public enum Output: Equatable, Sendable {
        case send(RoutingMessage, to: PeerID)
        /// `nextHop` nil: no route any more.
        case routeChanged(PeerID, nextHop: PeerID?, metric: UInt16, kind: DestinationKind)
        case drop(DropReason)
    }

    let own: PeerID
    let kind: DestinationKind
    var ownSeqno: OwnSeqno
    /// A destination's candidates are offers of `neighbours` only.
    var destinations = DestinationTable()
    var neighbours = RoutingNeighbourTable()
    var requests = SeqnoRequests()
    /// After a restart nothing of others passes through us until every neighbour's old routes
    /// through us are gone: our feasibility distances were lost.
    private var forwardsFrom: Instant?
    /// When this run took its first input.
    private var startedAt: Instant?
    /// When a neighbour was lost last: it may not know that yet.
    var lastLoss: Instant?
    /// Grows with every change of a next hop.
    public private(set) var version: UInt64 = 0
    var nextCollection: Instant?
    /// Until then nothing is forgotten to make room.
    var evictionSearchFrom: Instant?
    private let forwards: Bool
    /// For the numbers of messages.
    private var generator: SeededGenerator

    /// - Parameter firstSeqno: random.
    public init(own: PeerID, kind: DestinationKind, forwards: Bool = true, firstSeqno: UInt32 = 1) {
        self.own = own
        ownSeqno = OwnSeqno(first: firstSeqno)
        self.kind = kind
        self.forwards = forwards
        generator = SeededGenerator(seed: UInt64(firstSeqno))
        neighbours.markChanged(own, isUrgent: true)
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        if startedAt == nil { startedAt = now }
        var outputs: [Output]
        switch input {
        case .neighbourUp(let peer, let cost): outputs = neighbourUp(peer, cost, now)
        case .neighbourDown(let peer): outputs = neighbourDown(peer, now)
        case .costChanged(let peer, let cost): outputs = costChanged(peer, cost, now)
        case .received(let message, let peer, let isOvertaken):
            outputs = received(message, from: peer, isOvertaken: isOvertaken, now)
        case .deadlineReached: outputs = collect(now)
        }
        outputs += sendDue(now)
        return outputs
    }

    public var nextDeadline: Instant? {
        let earliest = min(nextCollection ?? .distantFuture, neighbours.nextDeadline)
        return earliest == .distantFuture ? nil : earliest
    }

    // MARK: Reading

    // Inline: a call would copy the machine for each packet.

    @inline(__always)
    public func nextHop(to destination: ShortID) -> PeerID? { destinations.hops[destination] }

    /// The next hop for a packet of others.
    @inline(__always)
    public func forwardingHop(to destination: ShortID, now: Instant) -> PeerID? {
        guard forwards else { return nil }
        if let from = forwardsFrom, now < from { return nil }
        return nextHop(to: destination)
    }

    /// All routes in use, by destination.
    public var routes: [Route] {
        let routes = destinations.all.values.compactMap { destination in
            let selected = destination.selected
            return selected.hop.map {
                Route(
                    destination: destination.peer, nextHop: $0, metric: selected.metric,
                    seqno: selected.seqno, kind: selected.kind)
            }
        }
        return routes.sorted { $0.destination < $1.destination }
    }

    /// Each destination to which there is a next hop with that hop, in no order.
    func eachHop(_ body: (ShortID, PeerID) -> Void) {
        for (destination, hop) in destinations.hops { body(destination, hop) }
    }

    /// Of the routes to these; nil: there is none.
    func leastMetric(where counts: (PeerID, DestinationKind) -> Bool) -> UInt16? {
        var least: UInt16?
        for destination in destinations.all.values {
            let selected = destination.selected
            guard selected.hop != nil, counts(destination.peer, selected.kind) else { continue }
            least = min(least ?? .max, selected.metric)
        }
        return least
    }

    public var destinationCount: Int { destinations.count }

    public static let destinationsMax = Limits.routesMax + Limits.routingNeighboursMax

    // MARK: Neighbours

    private mutating func neighbourUp(
        _ peer: PeerID, _ cost: UInt16, _ now: Instant
    ) -> [Output] {
        // One that is known begins anew.
        let lost = neighbourDown(peer, now)
        guard neighbours.count < Limits.routingNeighboursMax else {
            return lost + [.drop(.routingTableFull)]
        }
        let number = UInt32.random(in: 0..<UInt32.max, using: &generator)
        var neighbour = RoutingNeighbour(cost: cost, number: number)
        neighbour.known = destinations[destinations.known(as: peer)]?.seqnosToAnnounce ?? []
        neighbour.announce(own)
        neighbours.add(neighbour, as: peer)
        return lost
    }

    private mutating func neighbourDown(_ peer: PeerID, _ now: Instant) -> [Output] {
        guard let lost = neighbours.remove(peer) else { return [] }
        lastLoss = now
        holdBelieved(by: lost, now)
        var outputs: [Output] = []
        for id in destinations.ids(offeredBy: peer) {
            destinations.change(id) { $0.candidates[peer] = nil }
            let changes = select(id, now)
            if !changes.isEmpty { outputs += changes }
        }
        // It may have been suspect, and not told as that yet.
        markChanged(destinations.known(as: peer))
        return outputs
    }

    private mutating func costChanged(
        _ peer: PeerID, _ cost: UInt16, _ now: Instant
    ) -> [Output] {
        guard neighbours.change(peer, { $0.cost = cost }) != nil else { return [] }
        var outputs: [Output] = []
        for id in destinations.ids(offeredBy: peer) {
            let changes = select(id, now)
            if !changes.isEmpty { outputs += changes }
        }
        return outputs
    }

    // MARK: Messages

    private mutating func received(
        _ message: RoutingMessage, from peer: PeerID, isOvertaken: Bool, _ now: Instant
    ) -> [Output] {
        guard neighbours.contains(peer) else { return [.drop(.routingMalformed)] }
        let order =
            message.number == 0
            ? .next
            : neighbours.change(peer) {
                $0.order(of: message.number, isOvertaken: isOvertaken, now: now)
            }
        if !isOvertaken { neighbours.change(peer) { $0.acknowledge(message.acknowledged) } }
        if order == .old { return [] }
        var outputs = order == .resync ? resynced(by: peer, message, now) : []
        for item in message.items {
            switch item {
            case .update(let update):
                let changes = updated(update, by: peer, now)
                if !changes.isEmpty { outputs += changes }
            case .request(let destination, let seqno, let hopLimit):
                requested(destination, seqno, hopLimit, by: peer, now)
            case .known(let seqno): knows(seqno, now)
            }
        }
        return outputs
    }

    /// What the neighbour announced before the resync is void, as far as it is not announced again.
    private mutating func resynced(
        by peer: PeerID, _ message: RoutingMessage, _ now: Instant
    ) -> [Output] {
        var told: Set<PeerID> = []
        for case .update(let update) in message.items { told.insert(update.destination) }
        neighbours.change(peer) { $0.resync(destinations.ids.union([own])) }
        var outputs: [Output] = []
        for id in destinations.ids(offeredBy: peer) {
            guard let named = destinations[id]?.candidates[peer]?.peer, !told.contains(named) else {
                continue
            }
            destinations.change(id) { $0.candidates[peer] = nil }
            let changes = select(id, now)
            if !changes.isEmpty { outputs += changes }
        }
        return outputs
    }

    /// A neighbour offers a route, or offers it no more (RFC 8966 §3.5.3, route acquisition).
    private mutating func updated(
        _ update: RoutingMessage.RouteUpdate, by peer: PeerID, _ now: Instant
    ) -> [Output] {
        // No honest node tells us of ourselves.
        if update.destination.short == own.short {
            follow(ownSeqno.raise(to: update.seqno, now: now))
            return []
        }
        let id = destinations.known(as: update.destination)
        if update.metric == RoutingMessage.metricInfinite {
            guard destinations[id]?.candidates[peer]?.peer == update.destination else { return [] }
            destinations.change(id) { $0.candidates[peer] = nil }
            return select(id, now)
        }
        let offer = Destination.Candidate(
            peer: update.destination, seqno: update.seqno, metric: update.metric, kind: update.kind)
        if !destinations.change(id, { $0.candidates[peer] = offer }) {
            if let reason = add(id, update.kind, by: peer, now) { return [.drop(reason)] }
            destinations.change(id) { $0.candidates[peer] = offer }
        }
        let renamed = update.destination == peer ? rename(id, peer) : []
        let name = update.destination == peer ? destinations.known(as: id) : id
        let changes = offered(name, by: peer, update.seqno, now)
        return renamed.isEmpty ? changes : renamed + changes
    }

    private mutating func offered(
        _ id: PeerID, by peer: PeerID, _ seqno: UInt32, _ now: Instant
    ) -> [Output] {
        guard let destination = destinations[id] else { return [] }
        let feasibility = destination.feasibility(of: peer, cost: { cost(of: $0) })
        let changes = select(id, now)
        // Whom others announce beyond its own word is told, and goes there: a lie becomes stale.
        if let word = destination.candidates[id]?.seqno, seqno.isNewer(than: word) {
            neighbours.change(id) { $0.request(id, .init(seqno: seqno, hopLimit: 1)) }
        }
        switch feasibility {
        case .feasible: return changes
        case .leap: return [.drop(.routingSeqnoLeap)] + changes
        case .infeasible: return [.drop(.routingInfeasible)] + changes
        }
    }

    private mutating func knows(_ seqno: UInt32, _ now: Instant) {
        if ownSeqno.isOfEarlierRun(seqno), let startedAt {
            forwardsFrom = startedAt + Limits.restartedForwardingDelay
        }
        follow(ownSeqno.goAbove(seqno, now: now))
    }

    /// What our own seqno was wanted to be in the pause after the last time.
    mutating func raiseIfWanted(_ now: Instant) { follow(ownSeqno.raiseIfWanted(now: now)) }

    mutating func follow(_ raise: OwnSeqno.Raise) {
        switch raise {
        case .unchanged: break
        case .postponed(let until): collect(by: until)
        case .raised: neighbours.markChanged(own, isUrgent: true)
        }
    }

    // MARK: Routes

    /// What follows a change of a destination's offers or of their costs, step by step as in
    /// babeld: selection, feasibility distance, expiry, seqno request, triggered update. What is to
    /// be told waits in `neighbours` for `sendDue`.
    mutating func select(_ id: PeerID, _ now: Instant) -> [Output] {
        guard var destination = destinations[id] else { return [] }
        let (before, wasRouteless) = (destination.selected, destination.routelessSince != nil)
        if isBelievedByNobody(destination, now) { destination.loosen() }
        let selection = destination.selection(now: now) { cost(of: $0) }
        if let name = selection?.candidate.peer, name != id {
            let renamed = rename(id, name)
            return renamed + select(name, now)
        }
        destination.use(selection, now: now)
        let isConstrained = neighbours.seqnoForCheaper(to: destination) != nil
        destination.constrain(isConstrained, now: now)
        if isConstrained { collect(by: now + destination.cheaperRoutePatience) }
        destinations.change(id) { $0 = destination }
        planExpiry(of: destination, wasRouteless: wasRouteless)
        if let seqno = destination.seqnoToRequest(cost: { cost(of: $0) }),
            mayRequest(destination, now)
        {
            request(id, seqno, now)
        }
        return announce(destination.selected, instead: before, of: id, now)
    }

    /// Nobody has a route to it through us, so that we are no part of what is offered: our only
    /// neighbour was told of none that it has not confirmed to be gone, and who was lost has lost
    /// us by now. So the many around one collector take what it offers when that becomes worse,
    /// where each would have to ask for a newer seqno, and all be told of that.
    private func isBelievedByNobody(_ destination: Destination, _ now: Instant) -> Bool {
        guard let neighbour = neighbours.only else { return false }
        return now >= destination.believedUntil ?? now
            && !neighbour.mayBelieve(in: destination.peer.short)
    }

    /// While more than a few destinations have no route, plain nodes are asked for a little later:
    /// a request for each of them by everybody holds up those that readings need.
    private mutating func mayRequest(_ destination: Destination, _ now: Instant) -> Bool {
        guard !destination.selected.isUrgent,
            destinations.routeless.count > Limits.routesRequestedAtOnce,
            let since = destination.routelessSince
        else { return true }
        let from = since + Limits.requestDelay
        guard now < from else { return true }
        destinations.change(destination.peer) { $0.delayRequest(until: from) }
        collect(by: from)
        return false
    }

    private func cost(of neighbour: PeerID) -> UInt16 { neighbours.cost(of: neighbour) }

    /// A destination without a route is kept for `sourceTime` (RFC 8966 §3.2.5), because its
    /// feasibility distance still protects others; meanwhile it is asked for again.
    private mutating func planExpiry(of destination: Destination, wasRouteless: Bool) {
        guard let since = destination.routelessSince else { return }
        if !wasRouteless { collect(by: since + Limits.sourceTime) }
        if destination.isStarving, destination.source.distance != nil {
            collect(by: destination.requestAt ?? .distantFuture)
        }
    }

    /// Neighbours are told of every change (RFC 8966 §3.7.2, triggered updates); the node is told
    /// of those that it can see, which leaves out the seqno's.
    private mutating func announce(
        _ after: Destination.Selected, instead before: Destination.Selected, of id: PeerID,
        _ now: Instant
    ) -> [Output] {
        if before.hop != after.hop { version &+= 1 }
        guard before != after else { return [] }
        if let hop = after.hop ?? before.hop, !neighbours.takesNews(from: hop, now) {
            neighbours.postpone(id, now)
        } else if destinations[id]?.isSuspect == true || after.differsInMetricOnly(from: before) {
            neighbours.markMinor(id, now)
        } else if after.isNodeRenewed(since: before),
            !requests.isAwaited(id, beyond: before.seqno, now)
        {
            neighbours.markRenewed(id, now)
        } else {
            neighbours.markChanged(id, isUrgent: before.isUrgent || after.isUrgent)
        }
        guard !after.differsInSeqnoOnly(from: before) else { return [] }
        return [.routeChanged(id, nextHop: after.hop, metric: after.metric, kind: after.kind)]
    }

    mutating func markChanged(_ id: PeerID) { neighbours.markChanged(id) }

    // MARK: Emission

    /// Sends each neighbour what it has still to be told (RFC 8966 §3.7).
    private mutating func sendDue(_ now: Instant) -> [Output] {
        neighbours.compactChanges { $0 == own || destinations.contains($0) }
        let facts = RoutingFacts(
            own: own, seqno: ownSeqno.value, kind: kind, destinations: destinations)
        return neighbours.sendDue(facts, now: now)
    }
}

extension Limits {
    /// Destinations, apart from those that are neighbours: these always find a place.
    static let routesMax = 1_024
    static let routingNeighboursMax = 1_040
    /// With more destinations without a route than that, plain nodes are asked for later.
    static let routesRequestedAtOnce = 8
    static let requestDelay = Duration.milliseconds(300)
    /// The neighbours' time-out and half a second.
    static let restartedForwardingDelay = Duration.milliseconds(3_500)
}

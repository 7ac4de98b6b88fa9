import NearbyCore
import NearbyWire

/// A way to a destination that is in use.
public struct Route: Equatable, Sendable {
    public var destination: PeerID
    public var nextHop: PeerID
    public var metric: UInt16
    public var seqno: UInt32
    public var kind: DestinationKind
}

/// What one neighbour offers ways to, ways through ourselves left out.
public struct NeighbourReach: Hashable, Sendable {
    public var others: Int
    public var leadsToCollector: Bool

    public init(others: Int, leadsToCollector: Bool) {
        self.others = others
        self.leadsToCollector = leadsToCollector
    }

    /// For dropping: who reaches many without us and leads to no collector is missed least.
    var usefulness: Int { (leadsToCollector ? 1 << 20 : 0) - others }
}

/// Distance-vector routing with Babel's feasibility condition (RFC 8966 §3.5.1), PeerIDs as router
/// ids: loop-free at every moment, also where a member announces what is not so.
///
/// Differences from RFC 8966, with reasons: updates are deltas, numbered and acknowledged for each
/// neighbour, so nothing is sent while nothing changes; the seqno is 32 bits and never stored:
/// neighbours tell a restarted node the highest that they know (`known`), and it goes on above.
/// What a destination says of itself over its own channel is always feasible, since a way that
/// ends with the next hop is no loop; nobody may announce it with a newer seqno meanwhile.
public struct RoutingMachine: Sendable {
    public enum Input: Equatable, Sendable {
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
        /// `nextHop` nil: no way any more.
        case routeChanged(PeerID, nextHop: PeerID?, metric: UInt16, kind: DestinationKind)
        case drop(DropReason)
    }

    let own: PeerID
    let kind: DestinationKind
    private(set) var ownSeqno: OwnSeqno
    /// A destination's candidates are offers of `neighbours` only.
    var destinations = DestinationTable()
    var neighbours = RoutingNeighbourTable()
    private var requests = SeqnoRequests()
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
    var roomSearchFrom: Instant?
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
        let earliest = min(nextCollection ?? .distantFuture, neighbours.nextResend)
        return earliest == .distantFuture ? nil : earliest
    }

    // MARK: Reading

    public func nextHop(to destination: ShortID) -> PeerID? {
        destinations[destination]?.selected.hop
    }

    /// The next hop for a packet of others.
    public func forwardingHop(to destination: ShortID, now: Instant) -> PeerID? {
        guard forwards else { return nil }
        if let from = forwardsFrom, now < from { return nil }
        return nextHop(to: destination)
    }

    /// All ways in use, by destination.
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

    /// What a neighbour has ways to that do not lead through us.
    ///
    /// - Parameter collectors: those that count as such; empty: all.
    public func reach(via neighbour: PeerID, collectors: Set<PeerID> = []) -> NeighbourReach {
        var reach = NeighbourReach(others: 0, leadsToCollector: false)
        for destination in destinations.all.values {
            guard let candidate = destination.candidates[neighbour] else { continue }
            if destination.peer != neighbour { reach.others += 1 }
            if candidate.kind == .collector,
                collectors.isEmpty || collectors.contains(destination.peer)
            {
                reach.leadsToCollector = true
            }
        }
        return reach
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
        neighbour.changed = destinations.ids.union([own])
        neighbour.known = destinations[destinations.known(as: peer)]?.seqnosToTell ?? []
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
            : neighbours.change(peer) { $0.order(of: message.number, isOvertaken: isOvertaken) }
        if !isOvertaken { neighbours.change(peer) { $0.acknowledge(message.acknowledged) } }
        if order == .old { return [] }
        var outputs = order == .anew ? takenUpAnew(by: peer, message, now) : []
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

    /// What the neighbour told in the time before is void, as far as it does not tell it again.
    private mutating func takenUpAnew(
        by peer: PeerID, _ message: RoutingMessage, _ now: Instant
    ) -> [Output] {
        var told: Set<PeerID> = []
        for case .update(let update) in message.items { told.insert(update.destination) }
        neighbours.change(peer) { $0.tellAnew(destinations.ids.union([own])) }
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

    /// A neighbour offers a way, or offers it no more (RFC 8966 §3.5.3, route acquisition).
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
        if destinations[id] == nil, let reason = add(id, update.kind, by: peer, now) {
            return [.drop(reason)]
        }
        destinations.change(id) {
            $0.candidates[peer] = .init(
                peer: update.destination, seqno: update.seqno, metric: update.metric,
                kind: update.kind)
        }
        let renamed = update.destination == peer ? rename(id, peer) : []
        let changes = offered(destinations.known(as: id), by: peer, update.seqno, now)
        return renamed.isEmpty ? changes : renamed + changes
    }

    private mutating func offered(
        _ id: PeerID, by peer: PeerID, _ seqno: UInt32, _ now: Instant
    ) -> [Output] {
        guard let destination = destinations[id] else { return [] }
        let standing = destination.standing(of: peer, cost: { cost(of: $0) })
        let changes = select(id, now)
        // Whom others announce beyond its own word is told, and goes there: a lie becomes stale.
        if let word = destination.candidates[id]?.seqno, seqno.isNewer(than: word) {
            neighbours.change(id) { $0.requests[id] = .init(seqno: seqno, hopLimit: 1) }
        }
        switch standing {
        case .feasible: return changes
        case .leap: return [.drop(.routingSeqnoLeap)] + changes
        case .infeasible: return [.drop(.routingInfeasible)] + changes
        }
    }

    /// A request for a newer way (RFC 8966 §3.8.1.2): answered by whom it names, or by who has it;
    /// else passed on once.
    private mutating func requested(
        _ id: PeerID, _ seqno: UInt32, _ hopLimit: UInt8, by peer: PeerID, _ now: Instant
    ) {
        if id == .everything {
            guard now >= neighbours[peer]?.isToldAllFrom ?? now else { return }
            neighbours.change(peer) {
                $0.isToldAllFrom = now + Limits.tellAllPause
                $0.tellAnew(destinations.ids.union([own]))
            }
            return
        }
        if id.short == own.short {
            if ownSeqno.value.isAtLeast(seqno) { neighbours.change(peer) { $0.announce(own) } }
            return follow(ownSeqno.raise(to: seqno, now: now))
        }
        let id = destinations.known(as: id)
        guard let selected = destinations[id]?.selected else { return }
        if selected.hop != nil, selected.seqno.isAtLeast(seqno) {
            neighbours.change(peer) { $0.announce(id) }
            return
        }
        guard hopLimit > 1 else { return }
        request(id, seqno, hopLimit: hopLimit - 1, except: peer, now)
    }

    private mutating func knows(_ seqno: UInt32, _ now: Instant) {
        if ownSeqno.isOfEarlierRun(seqno), let startedAt {
            forwardsFrom = startedAt + Limits.restartedForwardingDelay
        }
        follow(ownSeqno.goAbove(seqno, now: now))
    }

    /// What our own seqno was wanted to be in the pause after the last time.
    mutating func raiseIfWanted(_ now: Instant) { follow(ownSeqno.raiseIfWanted(now: now)) }

    private mutating func follow(_ raise: OwnSeqno.Raise) {
        switch raise {
        case .unchanged: break
        case .putOff(let until): collect(by: until)
        case .raised: markChanged(own)
        }
    }

    // MARK: Routes

    /// What follows a change of a destination's offers or of their costs, step by step as in
    /// babeld: selection, feasibility distance, expiry, seqno request, triggered update. What is to
    /// be told waits in `neighbours` for `sendDue`.
    mutating func select(_ id: PeerID, _ now: Instant) -> [Output] {
        guard var destination = destinations[id] else { return [] }
        let before = destination
        let selection = destination.selection(now: now) { cost(of: $0) }
        if let name = selection?.candidate.peer, name != id {
            let renamed = rename(id, name)
            return renamed + select(name, now)
        }
        destination.use(selection, now: now)
        destinations.change(id) { $0 = destination }
        planExpiry(of: destination, wasRouteless: before.routelessSince != nil)
        if let seqno = destination.seqnoToRequest(cost: { cost(of: $0) }) {
            request(id, seqno, hopLimit: Limits.requestHopLimit, except: nil, now)
        }
        return announce(destination.selected, instead: before.selected, of: id)
    }

    private func cost(of neighbour: PeerID) -> UInt16 { neighbours.cost(of: neighbour) }

    /// A destination without a way is kept for `sourceTime` (RFC 8966 §3.2.5), because its
    /// feasibility distance still protects others; meanwhile it is asked for again.
    private mutating func planExpiry(of destination: Destination, wasRouteless: Bool) {
        guard let since = destination.routelessSince else { return }
        if !wasRouteless { collect(by: since + Limits.sourceTime) }
        if destination.isStarving, destination.source.distance != nil {
            collect(by: destination.askAt ?? .distantFuture)
        }
    }

    /// Asks all neighbours but one for a newer seqno (RFC 8966 §3.8.2).
    private mutating func request(
        _ id: PeerID, _ seqno: UInt32, hopLimit: UInt8, except: PeerID?, _ now: Instant
    ) {
        guard requests.add(id, seqno: seqno, now: now) else { return }
        neighbours.changeAll { peer, neighbour in
            if peer != except {
                neighbour.requests[id] = .init(seqno: seqno, hopLimit: hopLimit)
            }
        }
    }

    /// Neighbours are told of every change (RFC 8966 §3.7.2, triggered updates); the node is told
    /// of those that it can see, which leaves out the seqno's.
    private mutating func announce(
        _ after: Destination.Selected, instead before: Destination.Selected, of id: PeerID
    ) -> [Output] {
        if before.hop != after.hop { version &+= 1 }
        guard before != after else { return [] }
        markChanged(id)
        guard !after.differsInSeqnoOnly(from: before) else { return [] }
        return [.routeChanged(id, nextHop: after.hop, metric: after.metric, kind: after.kind)]
    }

    mutating func markChanged(_ id: PeerID) {
        neighbours.changeAll { _, neighbour in neighbour.changed.insert(id) }
    }

    // MARK: Emission

    /// Sends each neighbour what it has still to be told (RFC 8966 §3.7).
    private mutating func sendDue(_ now: Instant) -> [Output] {
        let facts = (destinations: destinations, own: own, seqno: ownSeqno.value, kind: kind)
        return neighbours.sendDue(now: now) { id, peer in
            id == facts.own
                ? .init(destination: id, seqno: facts.seqno, metric: 0, kind: facts.kind)
                : facts.destinations.update(id, for: peer)
        }
    }
}

extension DestinationTable {
    /// What a neighbour is told of a destination: that there is no way, if ours goes through it
    /// (RFC 8966 §3.7.4, split horizon with poisoned reverse).
    fileprivate func update(_ id: PeerID, for peer: PeerID) -> RoutingMessage.RouteUpdate? {
        if id == peer { return nil }
        guard let selected = self[id]?.selected else {
            // It is called otherwise now.
            return .init(
                destination: id, seqno: 0, metric: RoutingMessage.metricInfinite, kind: .node)
        }
        let isBack = selected.hop == peer
        return .init(
            destination: id, seqno: selected.seqno,
            metric: isBack ? RoutingMessage.metricInfinite : selected.metric, kind: selected.kind)
    }
}

extension Limits {
    /// Destinations, apart from those that are neighbours: these always find a place.
    public static let routesMax = 1_024
    public static let routingNeighboursMax = 1_040
    /// The neighbours' time-out and half a second.
    public static let restartedForwardingDelay = Duration.milliseconds(3_500)
}

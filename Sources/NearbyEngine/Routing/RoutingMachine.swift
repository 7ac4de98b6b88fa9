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
    var ownSeqno: UInt32
    /// What this run began with: a neighbour that knows a lower one knew us before a restart.
    private var firstSeqno: UInt32
    var destinations: [PeerID: Destination] = [:]
    var destinationsByShortID: [ShortID: PeerID] = [:]
    var neighbours: [PeerID: RoutingNeighbour] = [:]
    /// Requests passed on lately, so that they do not circle.
    private var requests: [PeerID: (seqno: UInt32, until: Instant)] = [:]
    /// After a restart nothing of others passes through us until every neighbour's old routes
    /// through us are gone: our feasibility distances were lost.
    private var forwardsFrom: Instant?
    /// When this run took its first input.
    private var startedAt: Instant?
    /// When a neighbour was lost last: it may not know that yet.
    var lastLoss: Instant?
    /// Until then our own seqno stays, so that nobody can make us flood the mesh; then it goes to
    /// the one that was wanted meanwhile.
    private(set) var raiseFrom: Instant?
    private(set) var wantedSeqno: UInt32?
    /// Until then our own seqno makes no leap.
    private var leapFrom: Instant?
    /// Grows with every change of a next hop.
    public private(set) var version: UInt64 = 0
    var nextCollection: Instant?
    /// The next message to a neighbour that is repeated unless it is acknowledged.
    var nextResend = Instant.distantFuture
    /// Until then nothing is forgotten to make room.
    var roomSearchFrom: Instant?
    private let forwards: Bool
    /// For the numbers of messages.
    private var generator: SeededGenerator

    /// - Parameter firstSeqno: random, so that what others still know of an earlier run is told
    ///   from what they know of this one.
    public init(own: PeerID, kind: DestinationKind, forwards: Bool = true, firstSeqno: UInt32 = 1) {
        self.own = own
        self.firstSeqno = firstSeqno
        ownSeqno = firstSeqno
        self.kind = kind
        self.forwards = forwards
        generator = SeededGenerator(seed: UInt64(firstSeqno))
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        if startedAt == nil { startedAt = now }
        switch input {
        case .neighbourUp(let peer, let cost): neighbourUp(peer, cost, now, &outputs)
        case .neighbourDown(let peer): neighbourDown(peer, now, &outputs)
        case .costChanged(let peer, let cost): costChanged(peer, cost, now, &outputs)
        case .received(let message, let peer, let isOvertaken):
            received(message, from: peer, isOvertaken: isOvertaken, now, &outputs)
        case .deadlineReached: collect(now, &outputs)
        }
        sendDue(now, &outputs)
        return outputs
    }

    public var nextDeadline: Instant? {
        let earliest = min(nextCollection ?? .distantFuture, nextResend)
        return earliest == .distantFuture ? nil : earliest
    }

    // MARK: Reading

    public func nextHop(to destination: ShortID) -> PeerID? {
        guard let peer = destinationsByShortID[destination] else { return nil }
        return destinations[peer]?.selected
    }

    /// The next hop for a packet of others.
    public func forwardingHop(to destination: ShortID, now: Instant) -> PeerID? {
        guard forwards else { return nil }
        if let from = forwardsFrom, now < from { return nil }
        return nextHop(to: destination)
    }

    /// All ways in use, by destination.
    public var routes: [Route] {
        let routes = destinations.compactMap { peer, destination -> Route? in
            guard let hop = destination.selected else { return nil }
            return Route(
                destination: peer, nextHop: hop, metric: destination.metric,
                seqno: destination.seqno, kind: destination.kind)
        }
        return routes.sorted { $0.destination < $1.destination }
    }

    /// What a neighbour has ways to that do not lead through us.
    ///
    /// - Parameter collectors: those that count as such; empty: all.
    public func reach(via neighbour: PeerID, collectors: Set<PeerID> = []) -> NeighbourReach {
        var reach = NeighbourReach(others: 0, leadsToCollector: false)
        for (id, destination) in destinations {
            guard let candidate = destination.candidates[neighbour] else { continue }
            if id != neighbour { reach.others += 1 }
            if candidate.kind == .collector, collectors.isEmpty || collectors.contains(id) {
                reach.leadsToCollector = true
            }
        }
        return reach
    }

    public var destinationCount: Int { destinations.count }

    public static let destinationsMax = Limits.routesMax + Limits.routingNeighboursMax

    // MARK: Neighbours

    private mutating func neighbourUp(
        _ peer: PeerID, _ cost: UInt16, _ now: Instant, _ outputs: inout [Output]
    ) {
        if neighbours[peer] != nil { neighbourDown(peer, now, &outputs) }
        guard neighbours.count < Limits.routingNeighboursMax else {
            return outputs.append(.drop(.routingTableFull))
        }
        let number = UInt32.random(in: 0..<UInt32.max, using: &generator)
        var neighbour = RoutingNeighbour(cost: cost, number: number)
        neighbour.changed = Set(destinations.keys).union([own])
        neighbour.known = destinations[known(as: peer)]?.seqnosToTell ?? []
        neighbours[peer] = neighbour
    }

    private mutating func neighbourDown(
        _ peer: PeerID, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard let lost = neighbours.removeValue(forKey: peer) else { return }
        lastLoss = now
        holdBelieved(by: lost, now)
        for destination in destinations.keys.sorted()
        where destinations[destination]?.candidates.removeValue(forKey: peer) != nil {
            select(destination, now, &outputs)
        }
    }

    private mutating func costChanged(
        _ peer: PeerID, _ cost: UInt16, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard neighbours[peer] != nil else { return }
        neighbours[peer]?.cost = cost
        for destination in destinations.keys.sorted()
        where destinations[destination]?.candidates[peer] != nil {
            select(destination, now, &outputs)
        }
    }

    // MARK: Messages

    private mutating func received(
        _ message: RoutingMessage, from peer: PeerID, isOvertaken: Bool, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        guard neighbours[peer] != nil else { return outputs.append(.drop(.routingMalformed)) }
        let order =
            message.number == 0
            ? .next : neighbours[peer]?.order(of: message.number, isOvertaken: isOvertaken)
        if !isOvertaken { neighbours[peer]?.acknowledge(message.acknowledged) }
        if order == .old { return }
        if order == .anew { takenUpAnew(by: peer, message, now, &outputs) }
        for item in message.items {
            switch item {
            case .update(let update): updated(update, by: peer, now, &outputs)
            case .request(let destination, let seqno, let hopLimit):
                requested(destination, seqno, hopLimit, by: peer, now)
            case .known(let seqno): known(seqno, now)
            }
        }
    }

    /// What the neighbour told in the time before is void, as far as it does not tell it again.
    private mutating func takenUpAnew(
        by peer: PeerID, _ message: RoutingMessage, _ now: Instant, _ outputs: inout [Output]
    ) {
        var told: Set<PeerID> = []
        for case .update(let update) in message.items { told.insert(update.destination) }
        neighbours[peer]?.tellAnew(Set(destinations.keys).union([own]))
        for id in destinations.keys.sorted() {
            guard let named = destinations[id]?.candidates[peer]?.peer, !told.contains(named) else {
                continue
            }
            destinations[id]?.candidates[peer] = nil
            select(id, now, &outputs)
        }
    }

    private mutating func updated(
        _ update: RoutingMessage.RouteUpdate, by peer: PeerID, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        // No honest node tells us of ourselves.
        if update.destination.short == own.short { return _ = raise(to: update.seqno, now) }
        let id = known(as: update.destination)
        guard var destination = destinations[id] ?? add(id, update, by: peer, now, &outputs) else {
            return
        }
        if update.metric == RoutingMessage.metricInfinite {
            guard destination.candidates[peer]?.peer == update.destination else { return }
            destination.candidates[peer] = nil
            destinations[id] = destination
            return select(id, now, &outputs)
        }
        destination.candidates[peer] = .init(
            peer: update.destination, seqno: update.seqno, metric: update.metric, kind: update.kind)
        destinations[id] = destination
        if update.destination == peer { rename(id, peer, &outputs) }
        offered(known(as: id), by: peer, update.seqno, now, &outputs)
    }

    private mutating func offered(
        _ id: PeerID, by peer: PeerID, _ seqno: UInt32, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard let destination = destinations[id] else { return }
        switch destination.standing(of: peer, ownWord: ownWord(of: destination)) {
        case .feasible: break
        case .leap: outputs.append(.drop(.routingSeqnoLeap))
        case .infeasible: outputs.append(.drop(.routingInfeasible))
        }
        select(id, now, &outputs)
        // Whom others announce beyond its own word is told, and goes there: a lie becomes stale.
        if let word = destination.candidates[id]?.seqno, seqno.isNewer(than: word) {
            neighbours[id]?.requests[id] = .init(seqno: seqno, hopLimit: 1)
        }
    }

    /// A request for a newer way (RFC 8966 §3.8.1.2): answered by whom it names, or by who has it;
    /// else passed on once.
    private mutating func requested(
        _ id: PeerID, _ seqno: UInt32, _ hopLimit: UInt8, by peer: PeerID, _ now: Instant
    ) {
        if id == .everything {
            guard now >= neighbours[peer]?.isToldAllFrom ?? now else { return }
            neighbours[peer]?.isToldAllFrom = now + Limits.tellAllPause
            neighbours[peer]?.tellAnew(Set(destinations.keys).union([own]))
            return
        }
        if id.short == own.short {
            if ownSeqno.isAtLeast(seqno) { neighbours[peer]?.announce(own) }
            return _ = raise(to: seqno, now)
        }
        let id = known(as: id)
        guard let destination = destinations[id] else { return }
        if destination.selected != nil, destination.seqno.isAtLeast(seqno) {
            neighbours[peer]?.announce(id)
            return
        }
        guard hopLimit > 1 else { return }
        request(id, seqno, hopLimit: hopLimit - 1, except: peer, now)
    }

    private mutating func known(_ seqno: UInt32, _ now: Instant) {
        if seqno &- firstSeqno > ownSeqno &- firstSeqno, let startedAt {
            forwardsFrom = startedAt + Limits.restartedForwardingDelay
        }
        if seqno == ownSeqno { return _ = raise(to: seqno &+ 1, now) }
        if !ownSeqno.isAtLeast(seqno), raise(to: seqno &+ 1, now) { firstSeqno = ownSeqno }
    }

    /// Goes on at a seqno of ours that others know or want, wherever on the circle it lies.
    ///
    /// - Returns: false if we are there already, go there later, or made a leap just now: then who
    ///   wants it asks again.
    private mutating func raise(to seqno: UInt32, _ now: Instant) -> Bool {
        guard !ownSeqno.isAtLeast(seqno) else { return false }
        if let raiseFrom, now < raiseFrom {
            if wantedSeqno.map({ seqno.isNewer(than: $0) }) ?? true { wantedSeqno = seqno }
            nextCollection = min(nextCollection ?? .distantFuture, raiseFrom)
            return false
        }
        if seqno &- ownSeqno > Limits.seqnoRaiseMax {
            if let leapFrom, now < leapFrom { return false }
            leapFrom = now + Limits.leapPause
        }
        ownSeqno = seqno
        raiseFrom = now + Limits.raisePause
        markChanged(own)
        return true
    }

    /// What was wanted in the pause after the last time.
    mutating func raiseIfWanted(_ now: Instant) {
        guard let wanted = wantedSeqno, now >= raiseFrom ?? now else { return }
        wantedSeqno = nil
        _ = raise(to: wanted, now)
    }

    // MARK: Selection

    /// Chooses the cheapest feasible way; the one in use stays unless another is clearly cheaper.
    mutating func select(_ id: PeerID, _ now: Instant, _ outputs: inout [Output]) {
        guard var destination = destinations[id] else { return }
        let before = (
            hop: destination.selected, metric: destination.metric, seqno: destination.seqno,
            kind: destination.kind
        )
        let chosen = choice(destination, now)
        if let name = chosen.flatMap({ destination.candidates[$0.hop]?.peer }), name != id {
            rename(id, name, &outputs)
            return select(name, now, &outputs)
        }
        destination.selected = chosen?.hop
        destination.metric = chosen?.metric ?? RoutingMessage.metricInfinite
        if let chosen, let candidate = destination.candidates[chosen.hop] {
            if chosen.isLeap { destination.leapFrom = now + Limits.leapPause }
            destination.tighten(seqno: candidate.seqno, metric: chosen.metric)
            destination.seqno = candidate.seqno
            destination.kind = candidate.kind
            destination.foundWay()
        } else if destination.routelessSince == nil {
            destination.routelessSince = now
            nextCollection = min(nextCollection ?? .distantFuture, now + Limits.sourceTime)
        }
        let asks = chosen == nil && !destination.candidates.isEmpty
        if asks, destination.askAt == nil { destination.askAt = now + Limits.requestTime }
        destinations[id] = destination
        if asks, let bound = destination.feasibility {
            nextCollection = min(
                nextCollection ?? .distantFuture, destination.askAt ?? .distantFuture)
            request(id, bound.seqno &+ 1, hopLimit: Limits.requestHopLimit, except: nil, now)
        } else if let chosen, let bound = destination.feasibility,
            isCheaperBeyondBound(destination, than: chosen.metric)
        {
            request(id, bound.seqno &+ 1, hopLimit: Limits.requestHopLimit, except: nil, now)
        }
        if before.hop != chosen?.hop { version &+= 1 }
        let after = (chosen?.hop, destination.metric, destination.seqno, destination.kind)
        guard before != after else { return }
        markChanged(id)
        guard
            (before.hop, before.metric, before.kind)
                != (chosen?.hop, destination.metric, destination.kind)
        else { return }
        outputs.append(
            .routeChanged(
                id, nextHop: chosen?.hop, metric: destination.metric, kind: destination.kind))
    }

    /// A leap is believed only where nothing else is feasible, and once in a while.
    private func choice(
        _ destination: Destination, _ now: Instant
    ) -> (metric: UInt16, hop: PeerID, isLeap: Bool)? {
        let ownWord = ownWord(of: destination)
        var best: (metric: UInt16, hop: PeerID)?
        var leap: (metric: UInt16, hop: PeerID)?
        for (hop, candidate) in destination.candidates {
            let standing = destination.standing(of: hop, ownWord: ownWord)
            let metric = candidate.metric.adding(neighbours[hop]?.cost ?? .max)
            guard standing != .infeasible, metric != RoutingMessage.metricInfinite else { continue }
            let other = standing == .feasible ? best : leap
            if let other, (other.metric, other.hop) < (metric, hop) { continue }
            if standing == .feasible { best = (metric, hop) } else { leap = (metric, hop) }
        }
        guard let best else {
            guard let leap, now >= destination.leapFrom ?? now else { return nil }
            return (leap.metric, leap.hop, true)
        }
        guard let current = destination.selected, best.hop != current,
            let candidate = destination.candidates[current],
            destination.standing(of: current, ownWord: ownWord) == .feasible
        else { return (best.metric, best.hop, false) }
        let metric = candidate.metric.adding(neighbours[current]?.cost ?? .max)
        return UInt32(best.metric) * 10 > UInt32(metric) * 9
            && metric != RoutingMessage.metricInfinite
            ? (metric, current, false) : (best.metric, best.hop, false)
    }

    /// The seqno that a destination told us itself, while it is a neighbour that answers.
    func ownWord(of destination: Destination) -> UInt32? {
        guard neighbours[destination.peer]?.cost ?? .max != RoutingMessage.metricInfinite else {
            return nil
        }
        return destination.candidates[destination.peer]?.seqno
    }

    /// Whether only the feasibility distance keeps us from a clearly cheaper way: a newer seqno
    /// frees it (RFC 8966 §3.8.2.2). An offer with an older seqno is about to be renewed.
    private func isCheaperBeyondBound(_ destination: Destination, than metric: UInt16) -> Bool {
        let ownWord = ownWord(of: destination)
        return destination.candidates.contains { hop, candidate in
            guard candidate.seqno == destination.feasibility?.seqno else { return false }
            let offer = candidate.metric.adding(neighbours[hop]?.cost ?? .max)
            return UInt32(offer) * 10 <= UInt32(metric) * 9
                && destination.standing(of: hop, ownWord: ownWord) == .infeasible
        }
    }

    private mutating func request(
        _ id: PeerID, _ seqno: UInt32, hopLimit: UInt8, except: PeerID?, _ now: Instant
    ) {
        if let last = requests[id], last.until > now, last.seqno.isAtLeast(seqno) { return }
        if requests.count >= Limits.routingRequestsMax {
            requests = requests.filter { $0.value.until > now }
        }
        guard requests.count < Limits.routingRequestsMax else { return }
        requests[id] = (seqno, now + Limits.requestTime)
        for peer in neighbours.keys where peer != except {
            neighbours[peer]?.requests[id] = .init(seqno: seqno, hopLimit: hopLimit)
        }
    }

    mutating func markChanged(_ id: PeerID) {
        for peer in neighbours.keys { neighbours[peer]?.changed.insert(id) }
    }
}

extension UInt16 {
    /// The sum of two metrics; infinity absorbs.
    func adding(_ other: UInt16) -> UInt16 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? RoutingMessage.metricInfinite : sum
    }
}

extension Limits {
    /// Destinations, apart from those that are neighbours: these always find a place.
    public static let routesMax = 1_024
    public static let routingNeighboursMax = 1_040
    public static let routingRequestsMax = 256
    /// How long a request is remembered, so that it does not circle.
    public static let requestTime = Duration.seconds(1)
    /// Between two requests for a way that nobody has: doubles from `requestTime` to this.
    static let requestTimeMax = Duration.seconds(32)
    public static let requestHopLimit: UInt8 = 64
    /// How long the feasibility distance of an unreachable destination is kept (RFC 8966 §3.5.1).
    public static let sourceTime = Duration.seconds(180)
    /// The neighbours' time-out and half a second.
    public static let restartedForwardingDelay = Duration.milliseconds(3_500)
}

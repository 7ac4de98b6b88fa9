import NearbyCore
import NearbyWire

/// What one neighbour was told and has still to be told.
struct RoutingNeighbour: Sendable {
    struct Request: Equatable, Sendable {
        var seqno: UInt32
        var hopLimit: UInt8
        /// It goes before others.
        var isUrgent = false
    }

    var cost: UInt16
    /// Up to where it was told of the changes.
    private(set) var place: UInt64 = 0
    var requests: [PeerID: Request] = [:]
    /// Changes of routes through it that others are told of at once.
    var news = Allowance(
        burst: Limits.routingNewsBurst, intervalNanoseconds: Limits.routingNewsNanoseconds)
    /// Seqnos of its own that are to be announced to it.
    var known: [UInt32] = []
    /// Until then everything is not requested again.
    var fullRequestFrom: Instant?
    /// Until then it gets no other full update, however often it requests one.
    var fullUpdateFrom: Instant?
    /// Until then it does not resync again.
    private var resyncFrom: Instant?
    private var lastReceived: UInt32?
    /// Where the neighbour's numbers ended before its last resync.
    private var lastBeforeResync: UInt32?
    /// The number of its last message that we have not acknowledged.
    private var owedAcknowledgement: UInt32 = 0
    /// What it requested, and gets at once, and even if it is unchanged.
    private var repeats: Set<PeerID> = []
    /// No message has left since the last resync.
    private var isResynced = false
    /// Its last message had no room for all that it was to be told.
    private(set) var hasMore = false
    /// What it was told. Of the PeerIDs with one short ID it holds the last that it was told for
    /// the only one.
    private(set) var told: [ShortID: RoutingMessage.RouteUpdate] = [:]
    private var number: UInt32
    private var hasBeenAcknowledged = false
    private var outstanding: Outstanding?

    private struct Outstanding: Sendable {
        var message: RoutingMessage
        var resendAt: Instant
        var interval: Duration
        var repeatCount = 0
    }

    /// - Parameter number: the one before the first message's; random, so that the neighbour
    ///   notices the resync.
    init(cost: UInt16, number: UInt32) {
        self.cost = cost
        self.number = number
    }

    var nextDeadline: Instant? { outstanding?.resendAt }

    /// As Bluetooth is, which loses nothing: there an acknowledgement merely takes its time.
    private var isSlow: Bool { cost >= LinkClass.bluetooth.cost }

    mutating func acknowledge(_ acknowledged: UInt32) {
        guard acknowledged != 0, outstanding?.message.number == acknowledged else { return }
        outstanding = nil
        hasBeenAcknowledged = true
    }

    enum Order { case next, old, resync }

    /// Where a numbered message stands; all but stragglers are acknowledged. One is outstanding at
    /// a time, so any number but the next comes from a neighbour that had lost us for a while,
    /// unnoticed here, and resyncs: it knows nothing of what it was told, and announces everything
    /// again. As that is much for one message to bring about, the next resync within
    /// `Limits.fullUpdateInterval` is not taken: an honest neighbour repeats what is not
    /// acknowledged.
    ///
    /// - Parameter isOvertaken: a later one was here already. Unless it is the next one, it was
    ///   sent before the resync of one of the two sides.
    mutating func order(
        of received: UInt32, isOvertaken: Bool = false, now: Instant
    ) -> Order {
        if isOvertaken, lastReceived.map({ received != Self.number(after: $0) }) ?? true {
            return .old
        }
        guard let last = lastReceived else {
            owedAcknowledgement = received
            lastReceived = received
            // It acknowledged before it ever said anything: perhaps that was in a time before.
            guard hasBeenAcknowledged else { return .next }
            resyncFrom = now + Limits.fullUpdateInterval
            return .resync
        }
        if received == last { owedAcknowledgement = received }
        guard last &- received >= Limits.routingReorderMax else { return .old }
        if let before = lastBeforeResync, before &- received < Limits.routingReorderMax {
            return .old
        }
        let isNext = received == Self.number(after: last)
        guard isNext || now >= resyncFrom ?? now else { return .old }
        owedAcknowledgement = received
        lastReceived = received
        if isNext { return .next }
        resyncFrom = now + Limits.fullUpdateInterval
        lastBeforeResync = last
        return .resync
    }

    /// 0 is no number.
    private static func number(after number: UInt32) -> UInt32 {
        number == .max ? 1 : number + 1
    }

    /// The neighbour may know nothing any more, so everything is to be announced. It may also know
    /// everything, so what it was told before is retracted where it no longer holds.
    mutating func resync(_ ids: Set<PeerID>) {
        repeats = ids.union(told.values.lazy.map(\.destination))
        isResynced = true
    }

    /// Announces it again even if nothing changed: the neighbour requested it. At the limit it is
    /// not; who still wants it asks again.
    mutating func announce(_ id: PeerID) {
        if repeats.count < 2 * RoutingMachine.destinationsMax { repeats.insert(id) }
    }

    /// Requests a newer seqno of it; the limit is as above.
    mutating func request(_ id: PeerID, _ request: Request) {
        let most = Limits.routingRequestsMax * (request.isUrgent ? 2 : 1)
        guard requests.count < most || requests[id] != nil else { return }
        requests[id] = request
    }

    /// Whether it may believe that there is a route to it through us: it was told of one, and has
    /// not confirmed that it is gone. Anything, until its first acknowledgement: it may believe
    /// what we announced before the resync.
    func mayBelieve(in id: ShortID) -> Bool {
        guard hasBeenAcknowledged, told[id] == nil else { return true }
        return outstanding?.message.items.contains { item in
            if case .update(let update) = item { update.destination.short == id } else { false }
        } ?? false
    }

    /// Whether it is told of routes though it is not its turn: who is new or resyncs, of the first,
    /// among them of ourselves; who requested a few; and who gets a message anyway, or requests
    /// could keep changes from it for ever.
    var isPressing: Bool {
        place == 0 || isResynced || !requests.isEmpty || !known.isEmpty
            || !repeats.isEmpty && repeats.count <= Limits.routingItemsMax
    }

    /// Whether `nextMessage` may have one.
    ///
    /// - Parameter end: up to where it may be told of routes that changed; nil: of none, nor of
    ///   those that it requested.
    func hasMessage(_ now: Instant, changesUpTo end: UInt64?) -> Bool {
        if owedAcknowledgement != 0 { return true }
        if let outstanding { return now >= outstanding.resendAt }
        return !known.isEmpty || !requests.isEmpty || end.map { hasUpdates(upTo: $0) } ?? false
    }

    /// Whether it has still to be told of routes, and may be.
    func isBehind(_ end: UInt64) -> Bool { outstanding == nil && hasUpdates(upTo: end) }

    private func hasUpdates(upTo end: UInt64) -> Bool { !repeats.isEmpty || place < end }

    /// The message to send now, if any: one at a time is outstanding, and it is repeated until
    /// acknowledged.
    ///
    /// - Parameter patience: until it is repeated for the first time.
    mutating func nextMessage(
        _ facts: RoutingFacts, to peer: PeerID, now: Instant, patience: Duration,
        changes: RouteChanges, upTo end: UInt64?
    ) -> RoutingMessage? {
        let acknowledged = owedAcknowledgement
        if var waiting = outstanding {
            guard now >= waiting.resendAt else { return acknowledgement() }
            waiting.repeatCount += 1
            if isSlow || waiting.repeatCount % Limits.routingResendsAlike == 0 {
                waiting.interval = min(waiting.interval * 2, Limits.routingResendMax)
            }
            waiting.resendAt = now + waiting.interval
            waiting.message.acknowledged = acknowledged
            outstanding = waiting
            owedAcknowledgement = 0
            return waiting.message
        }
        if end != nil { isResynced = false }
        var items = takeRequests(hasUpdates: end.map { hasUpdates(upTo: $0) } ?? false)
        if let end {
            takeRepeats(facts, peer, isLast: place >= end, into: &items)
            takeChanges(changes, upTo: end, facts, peer, into: &items)
            hasMore = hasUpdates(upTo: end)
        }
        guard !items.isEmpty else { return acknowledgement() }
        number = Self.number(after: number)
        let message = RoutingMessage(number: number, acknowledged: acknowledged, items: items)
        owedAcknowledgement = 0
        outstanding = Outstanding(
            message: message, resendAt: now + patience, interval: patience)
        return message
    }

    private mutating func acknowledgement() -> RoutingMessage? {
        guard owedAcknowledgement != 0 else { return nil }
        defer { owedAcknowledgement = 0 }
        return RoutingMessage(number: 0, acknowledged: owedAcknowledgement, items: [])
    }

    // What changed may not wait behind any number of requests: a route that is lost and not
    // retracted is asked for again and again.
    private mutating func takeRequests(hasUpdates: Bool) -> [RoutingMessage.Item] {
        var items = known.map { RoutingMessage.Item.known(seqno: $0) }
        known = []
        let requestsMax = Limits.routingItemsMax / (hasUpdates ? 4 : 1)
        let waiting = requests.keys.sorted()
        var inTurn = waiting.filter { requests[$0]?.isUrgent == true }
        inTurn += waiting
        for id in inTurn where items.count < requestsMax {
            if let request = requests.removeValue(forKey: id) {
                items.append(
                    .request(destination: id, seqno: request.seqno, hopLimit: request.hopLimit))
            }
        }
        return items
    }

    /// Ourselves first, and nothing else in place of what changed, for which a quarter is left.
    private mutating func takeRepeats(
        _ facts: RoutingFacts, _ peer: PeerID, isLast: Bool,
        into items: inout [RoutingMessage.Item]
    ) {
        guard !repeats.isEmpty else { return }
        let end = isLast ? Limits.routingItemsMax : Limits.routingItemsMax * 3 / 4
        for id in (repeats.contains(facts.own) ? [facts.own] : []) + repeats.sorted() {
            guard items.count < end else { break }
            guard repeats.remove(id) != nil else { continue }
            if let update = facts.update(of: id, for: peer) { tell(update, into: &items) }
        }
    }

    private mutating func takeChanges(
        _ changes: RouteChanges, upTo end: UInt64, _ facts: RoutingFacts, _ peer: PeerID,
        into items: inout [RoutingMessage.Item]
    ) {
        var position = changes.position(after: place)
        while items.count < Limits.routingItemsMax {
            guard let change = changes.next(from: &position, upTo: end) else {
                place = max(place, end)
                return
            }
            place = change.place
            guard !repeats.contains(change.id), let update = facts.update(of: change.id, for: peer),
                update != told[change.id.short]
            else { continue }
            tell(update, into: &items)
        }
    }

    /// A neighbour that was never told of a route need not hear that there is none.
    private mutating func tell(
        _ update: RoutingMessage.RouteUpdate, into items: inout [RoutingMessage.Item]
    ) {
        let isRetraction = update.metric == RoutingMessage.metricInfinite
        let id = update.destination
        if !isRetraction {
            told[id.short] = update
        } else if told[id.short]?.destination == id {
            told[id.short] = nil
        } else {
            return
        }
        items.append(.update(update))
    }
}

extension Limits {
    /// An unacknowledged message is repeated after this time, which doubles to the maximum: where
    /// links are fast not at each repeat, because half of the messages and acknowledgements of a
    /// lossy one may be lost, and what was retracted stays in use until it got through.
    static let routingResend = Duration.milliseconds(100)
    static let routingResendsAlike = 3
    static let routingResendMax = Duration.seconds(1)
    /// Numbers so far below the last are those of stragglers.
    static let routingReorderMax: UInt32 = 16
    /// Changes that a neighbour may bring about and that others are told of at once: two full
    /// tables, then 512 a second.
    static let routingNewsBurst: Int64 = 2_048
    static let routingNewsNanoseconds: Int64 = 1_000_000_000 / 512
    /// Items in a message: 38 of 25 bytes stay below 1,000.
    static let routingItemsMax = 38
}

import NearbyCore
import NearbyWire

/// What is known of one destination.
struct Destination: Sendable {
    struct Candidate: Equatable, Sendable {
        /// Whom the neighbour named.
        var peer: PeerID
        var seqno: UInt32
        /// As the neighbour told it.
        var metric: UInt16
        var kind: DestinationKind
    }

    enum Standing { case feasible, leap, infeasible }

    /// Feasibility distance: nobody further than this may be asked the way (RFC 8966 §3.5.1).
    struct Feasibility: Equatable, Sendable {
        var seqno: UInt32
        var metric: UInt16
    }

    /// As the way in use names it.
    var peer: PeerID
    /// The neighbour that told of it first.
    let introducer: PeerID
    var candidates: [PeerID: Candidate] = [:]
    var selected: PeerID?
    var metric: UInt16 = .max
    var seqno: UInt32 = 0
    var feasibility: Feasibility?
    /// The seqno before the last one that only a restart explains.
    private(set) var seqnoOfEarlierRun: UInt32?
    /// As the way in use says; without one, as the last one said.
    var kind: DestinationKind
    /// Since when there has been no way to it.
    var routelessSince: Instant?
    /// Until then no leap of its seqno is believed.
    var leapFrom: Instant?
    /// Until then a neighbour that we lost may believe in a way through us.
    var believedUntil: Instant?
    /// When to ask again for a way, while none is feasible.
    var askAt: Instant?
    private var askInterval = Limits.requestTime

    init(_ peer: PeerID, kind: DestinationKind, introducer: PeerID) {
        self.peer = peer
        self.kind = kind
        self.introducer = introducer
    }

    /// A way is feasible: the next search begins anew.
    mutating func foundWay() {
        routelessSince = nil
        askAt = nil
        askInterval = Limits.requestTime
    }

    /// Asking again is for requests that found nobody; what nobody answers is asked ever more
    /// seldom, or a thousand invented destinations would keep a network busy.
    mutating func putOffAsking(now: Instant) {
        askInterval = min(askInterval * 2, Limits.requestTimeMax)
        askAt = now + askInterval
    }

    /// Whether the neighbour's offer may be used.
    ///
    /// - Parameter ownWord: the seqno that the destination told us itself.
    func standing(of neighbour: PeerID, ownWord: UInt32?) -> Standing {
        guard let candidate = candidates[neighbour] else { return .infeasible }
        if neighbour == candidate.peer { return .feasible }
        if let ownWord, candidate.peer != peer || !ownWord.isAtLeast(candidate.seqno) {
            return .infeasible
        }
        guard let feasibility else { return .feasible }
        if candidate.seqno == feasibility.seqno {
            return candidate.metric < feasibility.metric ? .feasible : .infeasible
        }
        guard
            candidate.seqno.isNewer(than: feasibility.seqno)
                || candidate.seqno.isOpposite(to: feasibility.seqno)
        else { return .infeasible }
        return candidate.seqno &- feasibility.seqno <= Limits.seqnoStepMax ? .feasible : .leap
    }

    /// What it should hear when we take it up: what an earlier run of its said last, since others
    /// may have told us of its new one already, and the highest.
    var seqnosToTell: [UInt32] {
        [seqnoOfEarlierRun, feasibility?.seqno ?? seqno].compactMap { $0 }
    }

    /// Its restart is told from the seqno all the same.
    mutating func forgetFeasibility() {
        seqno = feasibility?.seqno ?? seqno
        feasibility = nil
    }

    /// Our own distance becomes the bound, if it is newer or nearer. A seqno opposite to the
    /// bound's counts as newer, or it would be a leap for ever.
    mutating func tighten(seqno: UInt32, metric: UInt16) {
        guard let current = feasibility, current.seqno.isAtLeast(seqno) else {
            if let before = feasibility?.seqno, seqno &- before > Limits.seqnoRunStepMax {
                seqnoOfEarlierRun = before
            }
            feasibility = Feasibility(seqno: seqno, metric: metric)
            return
        }
        if seqno == current.seqno, metric < current.metric { feasibility?.metric = metric }
    }
}

/// What one neighbour was told and has still to be told.
struct RoutingNeighbour: Sendable {
    struct Request: Equatable, Sendable {
        var seqno: UInt32
        var hopLimit: UInt8
    }

    var cost: UInt16
    /// Destinations that may have changed since the neighbour was told.
    var changed: Set<PeerID> = []
    var requests: [PeerID: Request] = [:]
    /// Seqnos of its own that it should hear of.
    var known: [UInt32] = []
    /// Some that it told of found no room: it is asked to tell all again when there is some.
    var hasRefused = false
    /// Until then it is not asked so again.
    var asksForAllFrom: Instant?
    /// Until then it is not told all again, however often it asks.
    var isToldAllFrom: Instant?
    private var lastTaken: UInt32?
    /// Where the neighbour's numbers ended before it took us up anew.
    private var takenBefore: UInt32?
    /// The number of the last message of its that we have not acknowledged.
    private var owedAcknowledgement: UInt32 = 0
    /// What it asked to be told again.
    private var repeats: Set<PeerID> = []
    /// What it was told, by destination.
    private(set) var told: [PeerID: RoutingMessage.RouteUpdate] = [:]
    private var number: UInt32
    private var hasBeenAcknowledged = false
    private var outstanding: Outstanding?

    private struct Outstanding: Sendable {
        var message: RoutingMessage
        var resendAt: Instant
        var interval: Duration
    }

    /// - Parameter number: that before the first message's; random, so that the neighbour can tell
    ///   that it was taken up anew.
    init(cost: UInt16, number: UInt32) {
        self.cost = cost
        self.number = number
    }

    var nextDeadline: Instant? { outstanding?.resendAt }

    mutating func acknowledge(_ acknowledged: UInt32) {
        guard acknowledged != 0, outstanding?.message.number == acknowledged else { return }
        outstanding = nil
        hasBeenAcknowledged = true
    }

    enum Order { case next, old, anew }

    /// Where a numbered message stands; all but stragglers are acknowledged. One is under way at a
    /// time, so any number but the next is that of a neighbour that lost us for a while, unnoticed
    /// here, and took us up anew: it knows nothing of what it was told, and tells everything again.
    ///
    /// - Parameter isOvertaken: a later one was here already. Unless it is the next one, it was
    ///   said before the neighbour took us up anew, or before we took it up.
    mutating func order(of received: UInt32, isOvertaken: Bool = false) -> Order {
        if isOvertaken, lastTaken.map({ received != Self.number(after: $0) }) ?? true {
            return .old
        }
        guard let last = lastTaken else {
            owedAcknowledgement = received
            lastTaken = received
            // It acknowledged before it ever said anything: perhaps that was in a time before.
            return hasBeenAcknowledged ? .anew : .next
        }
        if received == last { owedAcknowledgement = received }
        guard last &- received >= Limits.routingStragglers else { return .old }
        if let before = takenBefore, before &- received < Limits.routingStragglers { return .old }
        owedAcknowledgement = received
        lastTaken = received
        if received == Self.number(after: last) { return .next }
        takenBefore = last
        return .anew
    }

    /// 0 is no number.
    private static func number(after number: UInt32) -> UInt32 {
        number == .max ? 1 : number + 1
    }

    /// The neighbour may know nothing any more: everything is to be told. It may as well know all,
    /// so what it was told before is retracted where it does not hold any more.
    mutating func tellAnew(_ ids: Set<PeerID>) {
        changed.formUnion(ids)
        changed.formUnion(told.keys)
        repeats.formUnion(changed)
    }

    /// Says it again even if nothing changed: the neighbour asked.
    mutating func announce(_ id: PeerID) {
        repeats.insert(id)
        changed.insert(id)
    }

    /// To what it may believe that there is a way through us: what it was told, less what it has
    /// confirmed to be gone. Nil: to anything, because until its first word it may believe what we
    /// said before we took it up anew.
    var believed: Set<ShortID>? {
        guard hasBeenAcknowledged else { return nil }
        var believed = Set(told.keys.map(\.short))
        for case .update(let update) in outstanding?.message.items ?? [] {
            believed.insert(update.destination.short)
        }
        return believed
    }

    /// Whether `nextMessage` may have one.
    func hasWord(_ now: Instant) -> Bool {
        if owedAcknowledgement != 0 { return true }
        if let outstanding { return now >= outstanding.resendAt }
        return !known.isEmpty || !requests.isEmpty || !changed.isEmpty
    }

    /// The message to send now, if any: one at a time is under way, and it is repeated until
    /// acknowledged.
    mutating func nextMessage(
        now: Instant, current: (PeerID) -> RoutingMessage.RouteUpdate?
    ) -> RoutingMessage? {
        let acknowledged = owedAcknowledgement
        if var waiting = outstanding {
            guard now >= waiting.resendAt else { return acknowledgement() }
            waiting.interval = min(waiting.interval * 2, Limits.routingResendMax)
            waiting.resendAt = now + waiting.interval
            waiting.message.acknowledged = acknowledged
            outstanding = waiting
            owedAcknowledgement = 0
            return waiting.message
        }
        let items = takeItems(current)
        guard !items.isEmpty else { return acknowledgement() }
        number = Self.number(after: number)
        let message = RoutingMessage(number: number, acknowledged: acknowledged, items: items)
        owedAcknowledgement = 0
        outstanding = Outstanding(
            message: message, resendAt: now + Limits.routingResend, interval: Limits.routingResend)
        return message
    }

    private mutating func acknowledgement() -> RoutingMessage? {
        guard owedAcknowledgement != 0 else { return nil }
        defer { owedAcknowledgement = 0 }
        return RoutingMessage(number: 0, acknowledged: owedAcknowledgement, items: [])
    }

    private mutating func takeItems(
        _ current: (PeerID) -> RoutingMessage.RouteUpdate?
    ) -> [RoutingMessage.Item] {
        var items: [RoutingMessage.Item] = []
        items += known.map { .known(seqno: $0) }
        known = []
        // What changed may not wait behind any number of requests: a way that is lost and not
        // retracted is asked for again and again.
        let requestsMax = Limits.routingItemsMax / (changed.isEmpty ? 1 : 4)
        for id in requests.keys.sorted() where items.count < requestsMax {
            if let request = requests.removeValue(forKey: id) {
                items.append(
                    .request(destination: id, seqno: request.seqno, hopLimit: request.hopLimit))
            }
        }
        for id in changed.sorted() {
            guard items.count < Limits.routingItemsMax else { break }
            changed.remove(id)
            let isRepeat = repeats.remove(id) != nil
            guard let update = current(id), isRepeat || update != told[id] else { continue }
            // A neighbour that was never told of a way need not hear that there is none.
            if update.metric == RoutingMessage.metricInfinite, told[id] == nil { continue }
            told[id] = update.metric == RoutingMessage.metricInfinite ? nil : update
            items.append(.update(update))
        }
        return items
    }
}

extension RoutingMachine {
    /// Sends each neighbour what it has still to be told.
    mutating func sendDue(_ now: Instant, _ outputs: inout [Output]) {
        let talking = neighbours.filter { $0.value.hasWord(now) }
        for (peer, neighbour) in talking.sorted(by: { $0.key < $1.key }) {
            var neighbour = neighbour
            let message = neighbour.nextMessage(now: now) { update($0, for: peer) }
            neighbours[peer] = neighbour
            if let message { outputs.append(.send(message, to: peer)) }
        }
        nextResend = neighbours.values.compactMap(\.nextDeadline).min() ?? .distantFuture
    }

    /// What a neighbour is told of a destination: that there is no way, if ours goes through it
    /// (RFC 8966 §3.7.4, split horizon with poisoned reverse).
    private func update(_ id: PeerID, for peer: PeerID) -> RoutingMessage.RouteUpdate? {
        if id == own {
            return .init(destination: own, seqno: ownSeqno, metric: 0, kind: kind)
        }
        if id == peer { return nil }
        guard let destination = destinations[id] else {
            // It is called otherwise now.
            return .init(
                destination: id, seqno: 0, metric: RoutingMessage.metricInfinite, kind: .node)
        }
        let isBack = destination.selected == peer
        return .init(
            destination: id, seqno: destination.seqno,
            metric: isBack ? RoutingMessage.metricInfinite : destination.metric,
            kind: destination.kind)
    }
}

extension Limits {
    /// An unacknowledged message is repeated after this time; doubles to the maximum.
    public static let routingResend = Duration.milliseconds(100)
    public static let routingResendMax = Duration.seconds(1)
    /// Numbers so far below the last are those of stragglers.
    static let routingStragglers: UInt32 = 16
    /// Items in a message: 38 of 25 bytes stay below 1,000.
    static let routingItemsMax = 38
}

import NearbyCore
import NearbyWire

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

extension Limits {
    /// An unacknowledged message is repeated after this time; doubles to the maximum.
    public static let routingResend = Duration.milliseconds(100)
    public static let routingResendMax = Duration.seconds(1)
    /// Numbers so far below the last are those of stragglers.
    static let routingStragglers: UInt32 = 16
    /// Items in a message: 38 of 25 bytes stay below 1,000.
    static let routingItemsMax = 38
}

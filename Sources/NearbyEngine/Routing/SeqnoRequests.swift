import NearbyCore

/// The requests for newer seqnos that were sent or passed on lately, so that they do not circle
/// (RFC 8966 §3.2.7, the table of pending seqno requests).
///
/// Anybody may ask for anything, so what is passed on for others neither keeps our own requests
/// back nor, for one neighbour, those of the others.
struct SeqnoRequests: Sendable {
    /// One for each destination at most.
    private var own: [PeerID: (seqno: UInt32, until: Instant)] = [:]
    private var passedOn = PassedOnRequests()
    /// Those for collectors and viewers, beside the others.
    private var urgent = PassedOnRequests()

    /// Whether our own request is to be sent: none for this seqno or a newer one is pending, nor
    /// one of others that goes far. Then this one is, for `Limits.requestTime`.
    ///
    /// - Parameter isRouteless: the next hop, to which alone others' requests went, may be lost.
    mutating func add(_ id: PeerID, seqno: UInt32, isRouteless: Bool, now: Instant) -> Bool {
        if let last = own[id], last.until > now, last.seqno.isAtLeast(seqno) { return false }
        let isAskedForUs = [passedOn[id], urgent[id]].contains { last in
            guard let last, last.until > now, !(isRouteless && last.isToHopAlone) else {
                return false
            }
            return last.seqno.isAtLeast(seqno) && last.hopLimit >= Limits.requestHopLimit / 2
        }
        if isAskedForUs { return false }
        if own.count >= RoutingMachine.destinationsMax {
            own = own.filter { $0.value.until > now }
        }
        guard own.count < RoutingMachine.destinationsMax else { return false }
        own[id] = (seqno, now + Limits.requestTime)
        return true
    }

    /// Whether a neighbour's request is to be passed on: none for this seqno or a newer one, that
    /// goes as far, is pending. Urgent ones find room beside the others. At the limit, or where
    /// this neighbour has its share, nothing is sent; who still wants it asks again.
    mutating func add(
        _ id: PeerID, seqno: UInt32, hopLimit: UInt8, isUrgent: Bool, isToHopAlone: Bool,
        by asker: PeerID, now: Instant
    ) -> Bool {
        let request = PassedOnRequests.Request(
            seqno: seqno, hopLimit: hopLimit, isToHopAlone: isToHopAlone, asker: asker,
            until: now + Limits.requestTime)
        return isUrgent ? urgent.add(request, for: id, now) : passedOn.add(request, for: id, now)
    }

    /// Whether a neighbour that asked for it, not long ago, may wait for more than this seqno.
    func isAwaited(_ id: PeerID, beyond seqno: UInt32, _ now: Instant) -> Bool {
        passedOn.isAwaited(id, beyond: seqno, now) || urgent.isAwaited(id, beyond: seqno, now)
    }
}

/// Those of others, one for each destination at most.
private struct PassedOnRequests: Sendable {
    struct Request: Sendable {
        var seqno: UInt32
        var hopLimit: UInt8
        /// It went to the next hop, and to nobody else.
        var isToHopAlone: Bool
        /// Who asked us.
        var asker: PeerID
        var until: Instant
    }

    private var all: [PeerID: Request] = [:]
    /// Until then anything may be awaited: for some of what was asked for there was no room.
    private var anyAwaitedUntil = Instant.zero

    subscript(id: PeerID) -> Request? { all[id] }

    mutating func add(_ new: Request, for id: PeerID, _ now: Instant) -> Bool {
        if let last = all[id], last.until > now, last.seqno.isAtLeast(new.seqno),
            last.hopLimit >= new.hopLimit
        {
            return false
        }
        let share = Limits.routingRequestsShare
        if all.count >= share { removeOld(now) }
        let isRoom =
            all.count < share
            || all.count < Limits.routingRequestsMax
                && all.values.count(where: { $0.asker == new.asker }) < share
        if isRoom { all[id] = new } else { anyAwaitedUntil = new.until + Limits.awaitedTime }
        return isRoom
    }

    private mutating func removeOld(_ now: Instant) {
        for request in all.values where request.until <= now {
            anyAwaitedUntil = max(anyAwaitedUntil, request.until + Limits.awaitedTime)
        }
        all = all.filter { $0.value.until > now }
    }

    func isAwaited(_ id: PeerID, beyond seqno: UInt32, _ now: Instant) -> Bool {
        if now < anyAwaitedUntil { return true }
        guard let last = all[id] else { return false }
        return now < last.until + Limits.awaitedTime && !seqno.isAtLeast(last.seqno)
    }
}

extension Limits {
    /// Requests of others that are pending at a time, and those of one neighbour among them; as
    /// many again for collectors and viewers.
    static let routingRequestsMax = 256
    static let routingRequestsShare = 64
    /// How long a request is remembered, so that it does not circle.
    static let requestTime = Duration.seconds(1)
    /// So much longer an answer goes on at once.
    static let awaitedTime = Duration.seconds(3)
    static let requestHopLimit: UInt8 = 64
}

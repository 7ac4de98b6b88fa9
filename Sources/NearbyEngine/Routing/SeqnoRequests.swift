import NearbyCore

/// The requests for newer seqnos that were sent or passed on lately, so that they do not circle
/// (RFC 8966 §3.2.7, the table of pending seqno requests).
///
/// Anybody may ask for anything, so what is passed on for others neither keeps our own requests
/// back nor, for one neighbour, those of the others.
struct SeqnoRequests: Sendable {
    private struct Pending: Sendable {
        var seqno: UInt32
        var hopLimit: UInt8
        /// Who asked us.
        var asker: PeerID
        var until: Instant
    }

    /// One for each destination at most.
    private var own: [PeerID: (seqno: UInt32, until: Instant)] = [:]
    private var passedOn: [PeerID: Pending] = [:]
    /// Those for collectors and viewers, beside the others.
    private var urgent: [PeerID: Pending] = [:]

    /// Whether our own request is to be sent: none for this seqno or a newer one is pending, nor
    /// one of others that goes far. Then this one is, for `Limits.requestTime`.
    mutating func add(_ id: PeerID, seqno: UInt32, now: Instant) -> Bool {
        if let last = own[id], last.until > now, last.seqno.isAtLeast(seqno) { return false }
        if let last = passedOn[id] ?? urgent[id], last.until > now, last.seqno.isAtLeast(seqno),
            last.hopLimit >= Limits.requestHopLimit / 2
        {
            return false
        }
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
        _ id: PeerID, seqno: UInt32, hopLimit: UInt8, isUrgent: Bool, by asker: PeerID,
        now: Instant
    ) -> Bool {
        let pending = Pending(
            seqno: seqno, hopLimit: hopLimit, asker: asker, until: now + Limits.requestTime)
        return isUrgent
            ? Self.add(pending, for: id, to: &urgent, now)
            : Self.add(pending, for: id, to: &passedOn, now)
    }

    /// Whether a neighbour asked for it lately.
    func isAwaited(_ id: PeerID, _ now: Instant) -> Bool {
        guard let last = passedOn[id] ?? urgent[id] else { return false }
        return last.until > now
    }

    private static func add(
        _ new: Pending, for id: PeerID, to table: inout [PeerID: Pending], _ now: Instant
    ) -> Bool {
        if let last = table[id], last.until > now, last.seqno.isAtLeast(new.seqno),
            last.hopLimit >= new.hopLimit
        {
            return false
        }
        let share = Limits.routingRequestsShare
        if table.count >= share { table = table.filter { $0.value.until > now } }
        guard table.count < Limits.routingRequestsMax else { return false }
        if table.count >= share {
            guard table.values.count(where: { $0.asker == new.asker }) < share else {
                return false
            }
        }
        table[id] = new
        return true
    }
}

extension Limits {
    /// Requests of others that are pending at a time, and those of one neighbour among them; as
    /// many again for collectors and viewers.
    static let routingRequestsMax = 256
    static let routingRequestsShare = 64
    /// How long a request is remembered, so that it does not circle.
    static let requestTime = Duration.seconds(1)
    static let requestHopLimit: UInt8 = 64
}

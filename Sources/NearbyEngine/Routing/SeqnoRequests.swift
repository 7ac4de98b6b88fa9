import NearbyCore

/// The requests for newer seqnos that were sent or passed on lately, so that they do not circle
/// (RFC 8966 §3.2.7, the table of pending seqno requests).
struct SeqnoRequests: Sendable {
    private var pending: [PeerID: (seqno: UInt32, until: Instant)] = [:]

    /// Whether a request is to be sent: none for this seqno or a newer one is pending. Then this
    /// one is, for `Limits.requestTime`. At the limit nothing is sent; who still wants it asks
    /// again.
    mutating func add(_ id: PeerID, seqno: UInt32, now: Instant) -> Bool {
        if let last = pending[id], last.until > now, last.seqno.isAtLeast(seqno) { return false }
        if pending.count >= Limits.routingRequestsMax {
            pending = pending.filter { $0.value.until > now }
        }
        guard pending.count < Limits.routingRequestsMax else { return false }
        pending[id] = (seqno, now + Limits.requestTime)
        return true
    }
}

extension Limits {
    public static let routingRequestsMax = 256
    /// How long a request is remembered, so that it does not circle.
    public static let requestTime = Duration.seconds(1)
    public static let requestHopLimit: UInt8 = 64
}

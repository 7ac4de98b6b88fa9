import NearbyCore
import NearbyWire

/// What is known of one destination: what neighbours offer, and which of it is in use (RFC 8966
/// §3.2.6: each candidate is an entry of the route table).
struct Destination: Sendable {
    struct Candidate: Equatable, Sendable {
        /// Whom the neighbour named.
        var peer: PeerID
        var seqno: UInt32
        /// As the neighbour told it.
        var metric: UInt16
        var kind: DestinationKind
    }

    /// The route in use, as others are told of it.
    struct Selected: Equatable, Sendable {
        var hop: PeerID?
        var metric: UInt16
        var seqno: UInt32
        var kind: DestinationKind
        /// Its seqno is older than one that was told before, mostly because it restarted: whoever
        /// was told that, and is no neighbour of it, cannot use it yet.
        var isStale = false

        /// Readings go to collectors and viewers: where many routes are lost at once, theirs come
        /// first.
        var isUrgent: Bool { kind != .node }

        func differsInSeqnoOnly(from other: Selected) -> Bool {
            (hop, metric, kind) == (other.hop, other.metric, other.kind)
        }

        /// All that is new of a plain node is its seqno, and those before did as well.
        func isNodeRenewed(since other: Selected) -> Bool {
            kind == .node && !other.isStale && differsInSeqnoOnly(from: other)
        }

        func differsInMetricOnly(from other: Selected) -> Bool {
            hop != nil && (hop, seqno, kind) == (other.hop, other.seqno, other.kind)
        }
    }

    /// As the route in use names it.
    private(set) var peer: PeerID
    /// The neighbour that told of it first.
    let introducer: PeerID
    var candidates: [PeerID: Candidate] = [:]
    /// After each `use`: the next hop is one of `candidates`, or nil; then the metric is infinite,
    /// and `routelessSince` is set. A route in use lies within the distance of `source`. Without
    /// one, seqno and kind are those of the last.
    private(set) var selected: Selected
    private(set) var source = SourceEntry()
    /// Since when there has been no route to it.
    private(set) var routelessSince: Instant?
    /// Since when a far cheaper route has been offered that only a newer seqno would make feasible.
    private(set) var constrainedSince: Instant?
    /// Until then no leap of its seqno is believed.
    private var leapFrom: Instant?
    /// Until then a neighbour that we lost may believe in a route through us.
    var believedUntil: Instant?
    /// When to request a route again, while none is feasible.
    private(set) var requestAt: Instant?
    private var requestInterval = Limits.requestTime

    init(_ peer: PeerID, kind: DestinationKind, introducer: PeerID) {
        self.peer = peer
        self.introducer = introducer
        selected = Selected(hop: nil, metric: RoutingMessage.metricInfinite, seqno: 0, kind: kind)
    }

    /// Neighbours offer something, and nothing of it may be used.
    var isStarving: Bool { selected.hop == nil && !candidates.isEmpty }

    /// Whether all there is to tell is that a neighbour is suspect, which ends within seconds one
    /// way or the other. Of collectors and viewers that is told at once.
    var isSuspect: Bool {
        selected.hop == nil && !selected.isUrgent && candidates[peer] != nil
    }

    /// What it is told when it comes up as a neighbour: the last seqno of an earlier run, since
    /// others may have told us of its new run already, and the highest that is known.
    var seqnosToAnnounce: [UInt32] {
        [source.seqnoOfEarlierRun, source.distance?.seqno ?? selected.seqno].compactMap { $0 }
    }

    /// It is called otherwise from now on, and no route is in use until the next `use`.
    mutating func rename(to new: PeerID) {
        peer = new
        selected.hop = nil
        selected.metric = RoutingMessage.metricInfinite
    }

    /// This route is in use from now on; nil: none. Neighbours are told of every change, so the
    /// distance follows here, and not only before an update (RFC 8966 §3.7.3). Without a route, the
    /// time until it is forgotten begins (§3.2.5), and the search for one.
    mutating func use(_ selection: RouteSelection?, now: Instant) {
        selected.hop = selection?.hop
        selected.metric = selection?.metric ?? RoutingMessage.metricInfinite
        guard let selection else {
            routelessSince = routelessSince ?? now
            if isStarving { requestAt = requestAt ?? now + Limits.requestTime }
            return
        }
        if selection.isLeap { leapFrom = now + Limits.leapInterval }
        selected.seqno = selection.candidate.seqno
        selected.kind = selection.candidate.kind
        source.tighten(seqno: selected.seqno, metric: selected.metric)
        selected.isStale = source.distance?.seqno != selected.seqno
        routelessSince = nil
        requestAt = nil
        requestInterval = Limits.requestTime
    }

    mutating func constrain(_ isConstrained: Bool, now: Instant) {
        constrainedSince = isConstrained ? constrainedSince ?? now : nil
    }

    /// A far cheaper route that is not feasible is waited for so long before a newer seqno is asked
    /// for: every node tells that on, and often somebody else asks, or the route is gone.
    var cheaperRoutePatience: Duration {
        selected.isUrgent ? Limits.cheaperUrgentPatience : Limits.cheaperNodePatience
    }

    /// A newer seqno was asked for, and the wait begins anew; nil: there is nothing to wait for.
    mutating func restartConstraint(_ now: Instant?) { constrainedSince = now }

    /// It is requested then for the first time.
    mutating func delayRequest(until time: Instant) { requestAt = time }

    /// Nobody has a route to it through us.
    mutating func loosen() { source.loosen() }

    func acceptsLeaps(_ now: Instant) -> Bool { now >= leapFrom ?? now }

    /// A request is repeated where it found nobody; what nobody answers is requested more and more
    /// rarely, or a thousand invented destinations would keep a network busy.
    mutating func postponeRequest(isRequested: Bool, now: Instant) {
        if isRequested { requestInterval = min(requestInterval * 2, Limits.requestTimeMax) }
        requestAt = now + requestInterval
    }

    /// Its restart is told from the seqno all the same.
    mutating func forgetFeasibility() {
        selected.seqno = source.distance?.seqno ?? selected.seqno
        source.forget()
    }
}

extension Limits {
    /// Between two requests for a route that nobody has: doubles from `requestTime` to this.
    static let requestTimeMax = Duration.seconds(32)
    /// Until a newer seqno is asked for that would make a far cheaper route feasible: of a
    /// collector or viewer, and of a plain node. In a network of hundreds a newer seqno of each
    /// every few seconds would be most of what is sent.
    static let cheaperUrgentPatience = Duration.seconds(5)
    static let cheaperNodePatience = Duration.seconds(30)
}

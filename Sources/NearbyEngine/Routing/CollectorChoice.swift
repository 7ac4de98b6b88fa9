import NearbyCore
import NearbyWire

/// Which collector an agent addresses: the cheapest; another only when the chosen one is out of
/// reach or turned out to be none, or when the other was a fifth cheaper for a minute.
///
/// Anybody can announce collectors that do not exist, as near as it likes. So those that were let
/// in as collectors come first; of many others chance decides and not what routing says of their
/// distance, and each gets its turn once before any gets another.
struct CollectorChoice: Sendable {
    enum Input: Equatable, Sendable {
        /// A route to what calls itself a collector, or none any more.
        case route(PeerID, metric: UInt16?)
        /// It was let in as a collector.
        case admitted(PeerID)
        /// It was let in as something else.
        case refused(PeerID)
        /// Several calls went unanswered.
        case unanswered(PeerID)
        case deadlineReached
    }

    enum Output: Equatable, Sendable { case chosen(PeerID?) }

    private struct Refusal {
        var until: Instant
        var backoff: Duration
        /// It was let in as something else; otherwise it did not answer.
        var isNone: Bool
        /// Until the choice was looked at after its end.
        var isPending = true
    }

    private var metrics: [PeerID: UInt16] = [:]
    /// Those that are not chosen for a while, and for how long the last time.
    private var refusals: [PeerID: Refusal] = [:]
    /// Those that were let in as collectors and have answered since. At most as many as have.
    private var proved: Set<PeerID> = []
    private(set) var current: PeerID?
    private var challenger: (peer: PeerID, since: Instant)?
    /// Chosen because it is cheaper than one that is proved, and not proved yet.
    private var trial: PeerID?
    /// Makes an order that nobody can foresee.
    private let salt: UInt64

    init(salt: UInt64 = 0) { self.salt = salt }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .route(let peer, let metric):
            if metrics[peer] == nil, metrics.count >= Limits.collectorsMax { return [] }
            metrics[peer] = metric
        case .admitted(let peer):
            refusals[peer] = nil
            if proved.count < Limits.collectorsMax { proved.insert(peer) }
        case .refused(let peer):
            proved.remove(peer)
            refuse(peer, isNone: true, now)
        case .unanswered(let peer):
            proved.remove(peer)
            // The only one there is may just be slow.
            if metrics.keys.contains(where: { $0 != peer && !isRefused($0, now) }) {
                refuse(peer, isNone: false, now)
            }
        case .deadlineReached: break
        }
        for (peer, refusal) in refusals where now >= refusal.until {
            refusals[peer]?.isPending = false
        }
        let eligible = eligible(now)
        guard let current, let cost = eligible[current] else { return choose(first(of: eligible)) }
        if !proved.contains(current), current != trial {
            let first = first(of: eligible.filter { proved.contains($0.key) })
            if first != nil { return choose(first) }
        }
        let cheapest = cheapest(of: eligible)
        guard let cheapest, cheapest != current, let other = metrics[cheapest],
            UInt32(other) * 5 <= UInt32(cost) * 4
        else {
            challenger = nil
            return []
        }
        if challenger?.peer != cheapest { challenger = (cheapest, now) }
        guard let since = challenger?.since, now - since >= Limits.collectorHysteresis else {
            return []
        }
        let isTrial = !proved.contains(cheapest)
        defer { trial = isTrial ? cheapest : nil }
        return choose(cheapest)
    }

    /// Whether it is called more briefly than usual: many are named, and none is known yet.
    func isOneOfMany(_ peer: PeerID, _ now: Instant) -> Bool {
        !proved.contains(peer)
            && metrics.keys.count(where: { !isRefused($0, now) }) > Limits.collectorsTrustedMax
    }

    /// Whether there is a route to it, as a collector.
    func knows(_ peer: PeerID) -> Bool { metrics[peer] != nil }

    func isRefused(_ peer: PeerID, _ now: Instant) -> Bool {
        refusals[peer].map { now < $0.until } ?? false
    }

    /// Those that are not refused; if there is none, those that merely did not answer: what took
    /// their place may have turned out to be no collector.
    private func eligible(_ now: Instant) -> [PeerID: UInt16] {
        let accepted = metrics.filter { !isRefused($0.key, now) }
        guard accepted.isEmpty else { return accepted }
        return metrics.filter { refusals[$0.key]?.isNone != true }
    }

    private func cheapest(of eligible: [PeerID: UInt16]) -> PeerID? {
        eligible.min { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    /// Whom to choose where none is chosen.
    private func first(of eligible: [PeerID: UInt16]) -> PeerID? {
        let known = eligible.filter { proved.contains($0.key) }
        if !known.isEmpty { return cheapest(of: known) }
        guard eligible.count > Limits.collectorsTrustedMax else { return cheapest(of: eligible) }
        return eligible.keys.min { (lot(of: $0), $0) < (lot(of: $1), $1) }
    }

    /// An exclusive or alone would leave neighbouring numbers together.
    private func lot(of peer: PeerID) -> UInt64 {
        (peer.high ^ peer.low ^ salt) &* 0x9e37_79b9_7f4a_7c15
    }

    var nextDeadline: Instant? {
        var earliest = challenger.map { $0.since + Limits.collectorHysteresis } ?? .distantFuture
        for (peer, refusal) in refusals where metrics[peer] != nil && refusal.isPending {
            earliest = min(earliest, refusal.until)
        }
        return earliest == .distantFuture ? nil : earliest
    }

    /// Longer each time, until it is admitted as a collector.
    private mutating func refuse(_ peer: PeerID, isNone: Bool, _ now: Instant) {
        let backoff = refusals[peer].map { min($0.backoff * 2, Limits.collectorRefusalMax) }
        if refusals[peer] == nil, refusals.count >= Limits.collectorRefusalsMax,
            let first = refusals.min(by: { ($0.value.until, $0.key) < ($1.value.until, $1.key) })
        {
            refusals[first.key] = nil
        }
        let pause = backoff ?? Limits.collectorRefusal
        refusals[peer] = Refusal(until: now + pause, backoff: pause, isNone: isNone)
    }

    private mutating func choose(_ peer: PeerID?) -> [Output] {
        challenger = nil
        trial = nil
        guard peer != current else { return [] }
        current = peer
        return [.chosen(peer)]
    }
}

extension Limits {
    /// Collectors that an agent chooses among: as many as routing can know.
    static let collectorsMax = RoutingMachine.destinationsMax
    /// How long another collector must have been cheaper.
    static let collectorHysteresis = Duration.seconds(60)
    /// How long one that is none, or does not answer, is not chosen; doubles to the maximum.
    static let collectorRefusal = Duration.seconds(60)
    static let collectorRefusalMax = Duration.seconds(3_600)
    static let collectorRefusalsMax = collectorsMax
    /// So many that nobody knows yet are chosen by what routing says of their distance.
    static let collectorsTrustedMax = 4
}

import NearbyCore
import NearbyWire

/// How near we have been to one destination (RFC 8966 §3.2.5, an entry of the source table).
///
/// Of what we told others since the last `forget`, nothing was newer than `distance`, and nothing
/// nearer at its seqno. So whoever is nearer than it has no route through us, and a route through
/// it is no loop (§3.5.1).
struct SourceEntry: Sendable {
    /// Compared by seqno first: newer, then nearer.
    struct Distance: Equatable, Sendable {
        var seqno: UInt32
        var metric: UInt16
    }

    /// What an offer may be used for. A leap has a seqno so far ahead that only a restart which
    /// nobody remembers explains it, or a lie.
    enum Feasibility { case feasible, leap, infeasible }

    /// The feasibility distance; nil: nothing was told.
    private(set) var distance: Distance?
    /// The seqno before the last one that only a restart explains.
    private(set) var seqnoOfEarlierRun: UInt32?

    /// What is told from now on bounds what may be feasible (§3.7.3). A seqno opposite to the
    /// distance's counts as newer, or it would be a leap for ever.
    mutating func tighten(seqno: UInt32, metric: UInt16) {
        guard let current = distance, current.seqno.isAtLeast(seqno) else {
            if let before = distance?.seqno, seqno &- before > Limits.seqnoRunStepMax {
                seqnoOfEarlierRun = before
            }
            distance = Distance(seqno: seqno, metric: metric)
            return
        }
        if seqno == current.seqno, metric < current.metric { distance?.metric = metric }
    }

    /// Nobody has a route through us: at this seqno anything may be used. Newer ones are leaps
    /// where they were, and older ones stale.
    mutating func loosen() { distance?.metric = RoutingMessage.metricInfinite }

    /// Nobody has a route through us any more.
    mutating func forget() { distance = nil }

    /// The feasibility condition (§3.5.1), for an offer as its neighbour told it.
    func feasibility(seqno: UInt32, metric: UInt16) -> Feasibility {
        guard let distance else { return .feasible }
        if seqno == distance.seqno { return metric < distance.metric ? .feasible : .infeasible }
        guard seqno.isNewer(than: distance.seqno) || seqno.isOpposite(to: distance.seqno) else {
            return .infeasible
        }
        return seqno &- distance.seqno <= Limits.seqnoStepMax ? .feasible : .leap
    }
}

extension Limits {
    /// How long the feasibility distance of an unreachable destination is kept (RFC 8966 §3.2.5,
    /// the garbage-collection timer).
    static let sourceTime = Duration.seconds(180)
}

import NearbyCore

/// When a node's neighbours, channels and associations want attention. They say themselves that
/// their deadline may be another; it is looked up once, when the next one is asked for. So what a
/// datagram costs does not depend on how many others there are.
final class NodeTimers {
    /// In the order in which those that are due at once get their turn.
    enum Timer: Hashable, Comparable {
        case neighbour(PeerID)
        case channel(ChannelToken)
        case association(PeerID)
    }

    private var table = DeadlineTable<Timer>()
    private var touched: Set<Timer> = []
    private var last: Timer?

    /// Its deadline may have changed.
    func touch(_ timer: Timer) {
        guard timer != last else { return }
        last = timer
        touched.insert(timer)
    }

    /// - Parameter deadline: nil as well for what is no more.
    func earliest(_ deadline: (Timer) -> Instant?) -> Instant? {
        for timer in touched { table[timer] = deadline(timer) }
        touched.removeAll(keepingCapacity: true)
        last = nil
        return table.earliest
    }

    /// Those that are due. What becomes of their deadlines is looked up again.
    func takeDue(now: Instant, _ deadline: (Timer) -> Instant?) -> [Timer] {
        _ = earliest(deadline)
        let due = table.takeDue(now: now)
        touched.formUnion(due)
        return due
    }
}

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

        /// nil as well for what is no more.
        func deadline(_ peers: Peers, _ channels: ChannelTable) -> Instant? {
            switch self {
            case .neighbour(let peer): peers.neighbour(peer)?.hop.nextDeadline
            case .channel(let token): channels[token]?.nextDeadline
            case .association(let peer): peers[peer]?.nextDeadline
            }
        }
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

    func earliest(_ peers: Peers, _ channels: ChannelTable) -> Instant? {
        for timer in touched { table[timer] = timer.deadline(peers, channels) }
        touched.removeAll(keepingCapacity: true)
        last = nil
        return table.earliest
    }

    /// Those that are due. What becomes of their deadlines is looked up again.
    func takeDue(now: Instant, _ peers: Peers, _ channels: ChannelTable) -> [Timer] {
        _ = earliest(peers, channels)
        let due = table.takeDue(now: now)
        touched.formUnion(due)
        return due
    }
}

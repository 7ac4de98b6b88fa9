import NearbyCore

/// Whose turn it is to be told of changes, where the neighbours are many: one after the other, and
/// so many a second that what they are told does not crowd out what they say. Who has waited for
/// its turn is told of everything up to then: a thousand newcomers are some thirty messages for
/// each, not a thousand.
struct RoutingTurns: Sendable {
    /// Each of `queued` once; the first have had their turn.
    private var queue: [PeerID] = []
    private var doneCount = 0
    private var queued: Set<PeerID> = []
    /// All that were behind this place have been given a turn.
    private var givenUpTo: UInt64 = 0
    private var allowance = Allowance(
        burst: Limits.routingBurst, intervalNanoseconds: Limits.routingIntervalNanoseconds)

    /// When the next message may leave, if one waits.
    func nextDeadline(changesUpTo end: UInt64) -> Instant {
        guard !queued.isEmpty || givenUpTo < end else { return .distantFuture }
        return allowance.nextOpening
    }

    mutating func append(_ peer: PeerID) {
        if queued.insert(peer).inserted { queue.append(peer) }
    }

    /// Whether those that waited have had their turn, and something has changed since.
    func wantAll(changesUpTo end: UInt64) -> Bool { queued.isEmpty && givenUpTo < end }

    /// All are given a turn, where that is wanted.
    mutating func giveAll(_ peers: [PeerID], changesUpTo end: UInt64) {
        guard wantAll(changesUpTo: end) else { return }
        givenUpTo = end
        for peer in peers { append(peer) }
    }

    /// All of them at once: they are few now.
    mutating func takeAll(changesUpTo end: UInt64) {
        givenUpTo = end
        queue = []
        queued = []
        doneCount = 0
    }

    /// The next whose turn it is, if one may be sent something now.
    mutating func next(now: Instant) -> PeerID? {
        guard allowance.isOpen(now), doneCount < queue.count else { return nil }
        let peer = queue[doneCount]
        doneCount += 1
        queued.remove(peer)
        if doneCount * 2 > queue.count {
            queue.removeFirst(doneCount)
            doneCount = 0
        }
        return peer
    }

    /// A message has left.
    mutating func spend() { allowance.spend() }
}

extension Limits {
    /// Between two messages with changes to neighbours that are many.
    static let routingIntervalNanoseconds: Int64 = 1_000_000
    /// So many leave without a pause after a quiet time.
    static let routingBurst: Int64 = 250
}

import NearbyCore
import NearbyWire

/// Some of what a neighbour announced found no room.
struct RefusedOffers: Sendable {
    /// Collectors or viewers are among them.
    var hasUrgent = false
    /// Another has told of a destination since for which there was room: perhaps of one of these.
    var isWorthRequest = false
}

/// The neighbours, and to which of them something is still to be said.
///
/// A collector has hundreds of them and hears from one at a time: only those are looked at to which
/// something happened, and each is changed in place, for it may have been told of all the others.
struct RoutingNeighbourTable: Sendable {
    private var all: [PeerID: RoutingNeighbour] = [:]
    /// At least those that have a word and wait for no acknowledgement.
    private var ready: Set<PeerID> = []
    /// Those of whose offers some found no room. Updates are deltas: what was refused is announced
    /// again only if everything is requested again.
    private(set) var refused: [PeerID: RefusedOffers] = [:]
    /// When the message to each is repeated unless it is acknowledged.
    private var resends = DeadlineTable<PeerID>()
    private(set) var changes = RouteChanges()
    /// Used while the neighbours are many.
    private var turns = RoutingTurns()
    /// Used while they are few.
    private var pace = RoutingPace()
    /// Routes of which all are told from `minorFrom` on: those that are as they were but for what
    /// they cost or for their seqno, and those that change too often.
    private var minor: Set<PeerID> = []
    private var minorFrom = Instant.distantFuture

    /// When there may be something to send.
    var nextDeadline: Instant {
        if all.isEmpty { return .distantFuture }
        let next = min(minorFrom, resends.earliest ?? minorFrom)
        let turn = turns.nextDeadline(changesUpTo: changes.last)
        if areMany { return min(next, turn) }
        return pace.isHolding || turn != .distantFuture ? min(next, pace.nextOpening) : next
    }

    var count: Int { all.count }

    var values: Dictionary<PeerID, RoutingNeighbour>.Values { all.values }

    /// Nil where there are several.
    var only: RoutingNeighbour? { count == 1 ? all.first?.value : nil }

    var sortedPeers: [PeerID] { all.keys.sorted() }

    subscript(peer: PeerID) -> RoutingNeighbour? { all[peer] }

    func contains(_ peer: PeerID) -> Bool { all.index(forKey: peer) != nil }

    /// Infinite for who is no neighbour.
    func cost(of peer: PeerID) -> UInt16 {
        guard let index = all.index(forKey: peer) else { return RoutingMessage.metricInfinite }
        return all.values[index].cost
    }

    /// Whether one of them may believe that there is a route to it through us.
    func mayBelieve(in id: ShortID) -> Bool { values.contains { $0.mayBelieve(in: id) } }

    // MARK: Changing

    mutating func add(_ neighbour: RoutingNeighbour, as peer: PeerID) {
        all[peer] = neighbour
        ready.insert(peer)
    }

    mutating func remove(_ peer: PeerID) -> RoutingNeighbour? {
        ready.remove(peer)
        refused[peer] = nil
        resends[peer] = nil
        return all.removeValue(forKey: peer)
    }

    /// Nil where it is no neighbour.
    @discardableResult
    mutating func change<Result>(
        _ peer: PeerID, _ body: (inout RoutingNeighbour) -> Result
    ) -> Result? {
        guard let index = all.index(forKey: peer) else { return nil }
        ready.insert(peer)
        return body(&all.values[index])
    }

    /// What it offered found no room.
    mutating func refuse(_ kind: DestinationKind, of peer: PeerID) {
        refused[peer, default: RefusedOffers()].hasUrgent =
            kind != .node || refused[peer]?.hasUrgent == true
    }

    /// A destination was added for this one. Others may have offered it before, and better, when
    /// there was no room for it. Where neighbours are many, most destinations are neighbours.
    mutating func remindRefused(except introducer: PeerID) {
        guard !refused.isEmpty, !areMany else { return }
        for peer in refused.keys where peer != introducer { refused[peer]?.isWorthRequest = true }
    }

    /// It is asked to announce everything again.
    mutating func requestAll(of peer: PeerID, _ now: Instant) {
        refused[peer] = nil
        change(peer) {
            $0.fullRequestFrom = now + Limits.fullRequestInterval
            $0.requests[.wildcard] = .init(seqno: 0, hopLimit: 1)
        }
    }

    /// Asks for a newer seqno. For a plain node only the next hop is asked, if there is one and it
    /// did not ask us (RFC 8966 §3.8.1.2): otherwise each request would reach every node. For
    /// collectors and viewers, or without such a next hop, all neighbours except the one that asked
    /// us are (§3.8.2). Where they are many, only those that offer a route are asked, and of these
    /// the next hop alone if there is one, for collectors and viewers too.
    ///
    /// - Parameters:
    ///   - except: who asked us.
    ///   - neighbour: for a plain node, asked instead of the next hop (§3.8.2.2).
    mutating func ask(
        for destination: Destination, _ seqno: UInt32, hopLimit: UInt8, except: PeerID? = nil,
        alone neighbour: PeerID? = nil
    ) {
        let isUrgent = destination.selected.isUrgent
        let nextHop = hopToAsk(for: destination, except: except)
        let hop = isUrgent ? nextHop : neighbour ?? nextHop
        let request = RoutingNeighbour.Request(
            seqno: seqno, hopLimit: hopLimit, isUrgent: isUrgent)
        for peer in sortedPeers where peer != except && peer == hop ?? peer {
            if areMany, destination.candidates[peer] == nil { continue }
            change(peer) { $0.request(destination.peer, request) }
        }
    }

    /// The next hop where it alone is asked.
    func hopToAsk(for destination: Destination, except: PeerID?) -> PeerID? {
        guard areMany || !destination.selected.isUrgent else { return nil }
        return destination.selected.hop == except ? nil : destination.selected.hop
    }

    // MARK: Changes of routes

    /// All are told of it: at once, or when it is their turn.
    ///
    /// - Parameter isUrgent: they are told at once where they are few.
    mutating func markChanged(_ id: PeerID, isUrgent: Bool = false) {
        changes.append(id)
        if isUrgent { pace.addUrgent(changes.last) }
    }

    /// All are told of it; not soon where they are many, or a thousand links of which each is worse
    /// for a moment would be a million messages.
    mutating func markMinor(_ id: PeerID, _ now: Instant) {
        guard areMany else { return markChanged(id) }
        hold(id, for: min(Limits.routingMinorPause * count, Limits.routingMinorPauseMax), now)
    }

    /// Where they are few, all are told of it a little later, together with others: its seqno is
    /// newer, which every node tells to every node and nobody waits for. Whoever asks is answered.
    mutating func markRenewed(_ id: PeerID, _ now: Instant) {
        guard !areMany else { return markChanged(id) }
        hold(id, for: Limits.routingRenewalPause, now)
    }

    /// Whether all are told at once of one more change that this neighbour brought about: not of
    /// any number, or one that lies would keep every link of the mesh busy.
    mutating func takesNews(from peer: PeerID, _ now: Instant) -> Bool {
        guard let index = all.index(forKey: peer) else { return true }
        return all.values[index].news.take(now)
    }

    /// All are told of how it is by then.
    mutating func postpone(_ id: PeerID, _ now: Instant) {
        hold(id, for: Limits.routingNewsPause, now)
    }

    /// Whether all are told of it later.
    func isHolding(_ id: PeerID) -> Bool { minor.contains(id) }

    private mutating func hold(_ id: PeerID, for pause: Duration, _ now: Instant) {
        minorFrom = min(minorFrom, now + pause)
        minor.insert(id)
        // Some are no destinations any more, and count all the same.
        if minor.count >= RoutingMachine.destinationsMax { minorFrom = now }
    }

    /// What is told of others is then held back, in turns and after pauses.
    var areMany: Bool { count > Self.fewCount }

    private mutating func releaseMinor(_ now: Instant) {
        guard now >= minorFrom else { return }
        minorFrom = .distantFuture
        for id in minor.sorted() { changes.append(id) }
        minor = []
    }

    /// What is no destination any more is kept as long as a neighbour has still to hear that.
    mutating func compactChanges(_ isDestination: (PeerID) -> Bool) {
        guard changes.wantsCompaction else { return }
        changes.compact { id in
            isDestination(id) || all.values.contains { $0.told[id.short]?.destination == id }
        }
    }

    // MARK: Emission

    /// What is to be sent now, in the order of the neighbours' PeerIDs (RFC 8966 §3.7), then in
    /// that of their turns.
    mutating func sendDue(_ facts: RoutingFacts, now: Instant) -> [RoutingMachine.Output] {
        releaseMinor(now)
        let isOpen = !areMany && pace.isOpen(now)
        readyAll(isOpen: isOpen)
        ready.formUnion(resends.takeDue(now: now))
        var outputs: [RoutingMachine.Output] = []
        for peer in ready.sorted() {
            send(facts, to: peer, isTurn: isOpen, now, into: &outputs)
        }
        ready.removeAll(keepingCapacity: true)
        if areMany { takeTurns(facts, now, into: &outputs) }
        return outputs
    }

    /// All are looked at, or given a turn, where some may have to be told of something.
    ///
    /// - Parameter isOpen: they are few, and may be told of any change.
    private mutating func readyAll(isOpen: Bool) {
        if areMany {
            if pace.release() { for peer in sortedPeers { turns.append(peer) } }
        } else if isOpen {
            let arePending = turns.nextDeadline(changesUpTo: changes.last) != .distantFuture
            turns.takeAll(changesUpTo: changes.last)
            if pace.release() || arePending { ready.formUnion(all.keys) }
        } else if pace.takeUrgent() {
            ready.formUnion(all.keys)
        }
    }

    private mutating func takeTurns(
        _ facts: RoutingFacts, _ now: Instant, into outputs: inout [RoutingMachine.Output]
    ) {
        while true {
            if turns.wantAll(changesUpTo: changes.last) {
                turns.giveAll(sortedPeers, changesUpTo: changes.last)
            }
            guard let peer = turns.next(now: now) else { return }
            let before = outputs.count
            send(facts, to: peer, isTurn: true, now, into: &outputs)
            if outputs.count > before { turns.spend() }
        }
    }

    /// - Parameter isTurn: it is told of all changes.
    private mutating func send(
        _ facts: RoutingFacts, to peer: PeerID, isTurn: Bool, _ now: Instant,
        into outputs: inout [RoutingMachine.Output]
    ) {
        guard let index = all.index(forKey: peer) else { return }
        let isTold =
            isTurn || all.values[index].isPressing
            || !areMany
                && (all.values[index].hasMore || pace.isUrgent(from: all.values[index].place))
        let end = isTold ? changes.last : nil
        if all.values[index].hasMessage(now, changesUpTo: end) {
            let message = all.values[index].nextMessage(
                facts, to: peer, now: now, patience: patience, changes: changes, upTo: end)
            if let message { outputs.append(.send(message, to: peer)) }
            if isTurn, !areMany, message?.items.isEmpty == false { pace.spend() }
        }
        resends[peer] = all.values[index].nextDeadline
        guard all.values[index].isBehind(changes.last) else { return }
        if areMany { turns.append(peer) } else { pace.hold() }
    }

    /// How long an acknowledgement may take: longer where a thousand are told at once, and all of
    /// them answer. To repeat sooner what is only slow would make everybody slower.
    private var patience: Duration {
        guard areMany else { return Limits.routingResend }
        return min(
            Limits.routingResend + Limits.routingResendOfMany * count, Limits.routingResendMax)
    }

    private static let fewCount = 16
}

extension Limits {
    /// For each neighbour, where they are many: how long a change of a cost waits to be told.
    static let routingMinorPause = Duration.milliseconds(50)
    static let routingMinorPauseMax = Duration.seconds(10)
    /// For each neighbour, where they are many: so much later a message is repeated.
    static let routingResendOfMany = Duration.milliseconds(1)
    /// How long a newer seqno of a plain node waits to be told, where neighbours are few.
    static let routingRenewalPause = Duration.seconds(3)
    /// How long changes wait that are more than a neighbour's share.
    static let routingNewsPause = Duration.seconds(1)
}

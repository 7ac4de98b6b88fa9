import NearbyCore
import NearbyWire

/// Who invites whom: the deterministic tie-break between neighbours.
///
/// A node wants a few neighbours and accepts more. Of a pair of which one wants the other, the
/// lower PeerID invites; a higher one that wants nudges, and invites all the same when nothing
/// happens for three seconds. Where both directions are admitted, the channel whose client is the
/// lower PeerID carries traffic. An admitted channel is never given up for one that is not
/// admitted.
struct InvitationMachine: Sendable, Hashable {
    enum Input: Sendable {
        case sighted(PeerID, InvitationPair.SightedRun)
        case lost(PeerID)
        /// A channel with this peer is wanted however many neighbours there are, or no more.
        case dialed(PeerID, Bool)
        case nudged(PeerID, RunID, attempt: UInt16)
        /// The nudge to this peer may not leave now.
        case nudgeHeldBack(PeerID)
        /// The first frame of an inbound handshake: unproved.
        case handshakeSeen(from: PeerID, run: RunID, attempt: UInt16)
        /// Our handshake with the peer moved.
        case progress(PeerID, UInt16)
        case admitted(
            ChannelToken, peer: PeerID, run: RunID, attempt: UInt16, weAreClient: Bool,
            link: LinkID? = nil)
        case failed(PeerID, UInt16)
        /// The peer answered our handshake and then no more, before there were keys: it evicted us
        /// among many, or started anew. Who is silent after that has failed.
        case fellSilent(PeerID, UInt16)
        case declined(PeerID, UInt16, retryAfter: Duration)
        case channelClosed(ChannelToken)
        /// The other side has shown that it still has this channel.
        case answered(ChannelToken)
        /// An admitted peer asks for a place; where we are full, `reaches` says what our connected
        /// peers offer routes to now: what they said when they were admitted may be long out of
        /// date.
        case asked(ChannelToken, by: PeerID, PlaceRequest, reaches: [NeighbourReach])
        /// The same of all that are connected, where they are too many.
        case weighed([NeighbourReach])
        /// What our route to the nearest collector costs; nil: there is none.
        case costToCollector(UInt16?)
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case invite(PeerID, attempt: UInt16)
        case nudge(PeerID, attempt: UInt16)
        /// The attempt is given up: another channel of the pair is in use.
        case abandon(PeerID, attempt: UInt16)
        /// This channel carries the peer's traffic from now on.
        case use(ChannelToken, PeerID)
        /// Opens what is under way, and sends nothing.
        case keepForOpening(ChannelToken, until: Instant)
        case close(ChannelToken, CloseFrame.Reason)
        /// What to answer who asked for a place on this channel.
        case decided(ChannelToken, DecisionFrame)
        /// Find out whether the other side still has this channel, and tell by `answered`.
        case probe(ChannelToken)
        case drop(DropReason)
        /// Tell by `weighed` what our neighbours reach: one of them may be without us.
        case tooMany
        /// What beacons say of us has changed.
        case wantsChanged
    }

    private let own: PeerID
    private let role: Role
    private let wish: NeighbourWish
    private let invitationsAtOnce: Int
    private var random: InvitationJitter
    private var pairs: PairTable
    private var way: SettledCost
    /// Between losses of our route that ended back-offs.
    private var strandedPause = GrowingPause(
        first: Limits.wakePauseFirst, longest: Limits.wakePauseMax)
    private var pauses = PlacePauses()
    /// At most `Limits.dialedPeersMax`.
    private var dialed: Set<PeerID> = []
    private var announced: Presence
    private var nextAttempt: UInt16 = 1

    private struct Presence: Hashable {
        var wants: Bool
        var isFull: Bool
    }

    /// - Parameter accepting: neighbours taken when asked, if not as many as the role takes.
    init(own: PeerID, role: Role, seed: UInt64, accepting: Int? = nil) {
        self.own = own
        self.role = role
        wish = NeighbourWish(of: role, accepting: accepting)
        invitationsAtOnce =
            role == .collector
            ? Limits.collectorInvitationsAtOnce : Limits.invitationsAtOnce
        random = InvitationJitter(seed: seed)
        pairs = PairTable(own: own)
        way = SettledCost(role == .collector ? 0 : nil)
        announced = Presence(wants: wish.wanted > 0, isFull: false)
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .sighted(let peer, let sighting): outputs = sighted(peer, sighting, now)
        case .lost(let peer): pairs[peer]?.lost()
        case .dialed(let peer, true):
            if dialed.count < Limits.dialedPeersMax { dialed.insert(peer) }
            pairs[peer]?.dialed()
        case .dialed(let peer, false): dialed.remove(peer)
        case .nudged(let peer, let run, _): outputs = nudged(peer, run, now)
        case .nudgeHeldBack(let peer): heldBack(peer, now)
        case .handshakeSeen(let peer, _, _): pairs[peer]?.inboundSeen(now)
        case .progress(let peer, let attempt): pairs[peer]?.progressed(attempt)
        case .admitted(let token, let peer, let run, let attempt, let weAreClient, let link):
            let channel = InvitationPair.KnownChannel(
                token: token, run: run, attempt: attempt, weAreClient: weAreClient, link: link)
            outputs = admitted(channel, with: peer, now)
        case .failed(let peer, let attempt): failed(peer, attempt, now)
        case .fellSilent(let peer, let attempt): fellSilent(peer, attempt, now)
        case .declined(let peer, let attempt, let retryAfter):
            pairs[peer]?.declined(attempt, until: now + max(retryAfter, .seconds(1)), now)
        case .channelClosed(let token): closed(token, now)
        case .answered(let token):
            if let peer = pairs.peer(with: token) { pairs[peer]?.suspicion.dispel(now) }
        case .costToCollector(let cost):
            way.change(to: role == .collector ? 0 : cost, now: now)
        case .asked(let token, let peer, let request, let reaches):
            // Nobody else is invited to the place before who asked has it.
            return decided(on: token, with: peer, request, reaches, now)
        case .weighed(let reaches): outputs = weighed(reaches, now)
        case .deadlineReached: outputs = timeOut(now)
        }
        outputs += plan(now)
        planTrimming(now)
        let presence = Presence(wants: wantsNeighbours, isFull: isFull)
        if presence != announced {
            announced = presence
            outputs.append(.wantsChanged)
        }
        return outputs
    }

    var nextDeadline: Instant? {
        [way.deadline, pauses.trimAt, pairs.nextDeadline].compactMap { $0 }.min()
    }

    var wantsNeighbours: Bool { connectedCount < wish.wanted }

    var isFull: Bool { connectedCount >= wish.accepted }

    var connectedCount: Int { pairs.connectedCount }

    var pairCount: Int { pairs.count }

    var connectedPeers: [PeerID] { pairs.connectedPeers }

    /// The channel in use with a peer.
    func channel(with peer: PeerID) -> ChannelToken? { pairs[peer]?.channel?.token }

    /// How often we have invited or nudged the peer since it was last admitted.
    func tries(of peer: PeerID) -> UInt16 { pairs[peer]?.tries ?? 0 }

    // MARK: Inputs

    /// Who has no way to a collector any more asks again those that were full for it, and those
    /// that it dropped, if that was not just tried.
    private mutating func strand(_ now: Instant) {
        guard strandedPause.isOver(now) else { return }
        strandedPause.begin(now)
        for peer in pairs.refused { pairs[peer]?.state = .idle }
    }

    /// A full node accepts one on a link on which we have nobody, and makes room for one that needs
    /// us, if one of its own neighbours can do without it. If none can, it accepts up to two more
    /// whose way becomes far cheaper. On a LAN with a collector nobody's would.
    private mutating func decided(
        on token: ChannelToken, with peer: PeerID, _ request: PlaceRequest,
        _ reaches: [NeighbourReach], _ now: Instant
    ) -> [Output] {
        let accepted = DecisionFrame(verdict: .accepted, retryAfter: .zero)
        guard isFull, pairs[peer]?.channel == nil else { return [.decided(token, accepted)] }
        if let link = request.link, pairs.isBare(link, for: peer),
            pauses.takesBridge(on: link, room: wish.most - connectedCount, now)
        {
            return [.decided(token, accepted)]
        }
        let mayEvict = pauses.mayEvict(for: request, isDropped: pairs[peer]?.isDropped, now)
        let dispensable =
            mayEvict ? pairs.dispensable(for: request, of: reaches, besides: dialed) : nil
        let close = dispensable.flatMap { drop($0, now) }
        let hasRoom = request.seeksShortcut && connectedCount < wish.mostShortcuts
        guard close != nil || mayEvict && hasRoom else {
            let full = DecisionFrame(verdict: .full, retryAfter: Limits.fullRetry)
            return [.decided(token, full)]
        }
        pauses.evicted(for: request, now)
        return [.decided(token, accepted)] + [close].compactMap { $0 }
    }

    private mutating func drop(_ peer: PeerID, _ now: Instant) -> Output? {
        guard let channel = pairs[peer]?.channel else { return nil }
        // First, or one that was never heard would be forgotten with its channel.
        pairs[peer]?.state = .backingOff(until: now + Limits.fullRetry, after: .dropped)
        pairs[peer]?.channel = nil
        return .close(channel.token, .dropped)
    }

    /// Of more neighbours than are taken when asked one goes that has its own way to a collector,
    /// or that has none where we need the place for one that has.
    private mutating func weighed(_ reaches: [NeighbourReach], _ now: Instant) -> [Output] {
        let hasWay = way.cost != nil
        guard wish.isTooMany(pairs, hasWay: hasWay, besides: dialed) else { return [] }
        let spare = reaches.filter { $0.leadsToCollector == hasWay }
        let dispensable = pairs.dispensable(of: spare, besides: dialed)
        let close = dispensable.flatMap { drop($0, now) }
        pauses.trimmed(close != nil)
        return [close].compactMap { $0 }
    }

    /// Whether the way to a collector over a peer would be far cheaper than ours.
    func isShortcut(_ peer: PeerID) -> Bool {
        guard let cost = way.cost, let sighting = pairs[peer]?.sighting else { return false }
        return wish.isShortcut(sighting, insteadOf: cost)
    }

    private mutating func sighted(
        _ peer: PeerID, _ sighting: InvitationPair.SightedRun, _ now: Instant
    ) -> [Output] {
        guard pairs[peer] != nil || pairs.makeRoom() else { return [] }
        var pair = pairs[peer] ?? InvitationPair()
        pair.sighting = sighting
        let outputs = checkRun(sighting.run, of: &pair, now)
        pairs[peer] = pair
        return outputs
    }

    private mutating func nudged(_ peer: PeerID, _ run: RunID, _ now: Instant) -> [Output] {
        guard var pair = pairs[peer] else { return [] }
        let outputs = checkRun(run, of: &pair, now)
        // Of a run that is not the connected one, only the channel can tell.
        pair.wantsUs = pair.wantsUs || pair.channel == nil || pair.channel?.run == run
        // A nudge is a fresh sign of life, and who had no place for us has one now: no need to wait
        // for the end of a back-off. But it may be a replayed one.
        if case .backingOff = pair.state, pair.wakePause.isOver(now) {
            pair.state = .idle
            pair.wakePause.begin(now)
        }
        pairs[peer] = pair
        return outputs
    }

    private mutating func heldBack(_ peer: PeerID, _ now: Instant) {
        guard case .nudging = pairs[peer]?.state else { return }
        let wait = Limits.nudgeRetry + random.duration(below: Limits.nudgeRetry)
        pairs[peer]?.state = .nudgeHeldBack(until: now + wait)
    }

    /// Another run of a connected peer is a hint, which anybody may replay: the channel is asked
    /// first, and only if that stays unanswered does another begin beside it.
    private mutating func checkRun(
        _ run: RunID, of pair: inout InvitationPair, _ now: Instant
    ) -> [Output] {
        guard let channel = pair.channel, channel.run != run else { return [] }
        guard pair.suspicion.mayBegin(now) else { return [.drop(.beaconRestartUnproved)] }
        pair.suspicion.begin(now)
        return [.probe(channel.token)]
    }

    private mutating func admitted(
        _ channel: InvitationPair.KnownChannel, with peer: PeerID, _ now: Instant
    ) -> [Output] {
        var outputs: [Output] = []
        var pair = pairs[peer] ?? InvitationPair()
        // Of those that answer late, no more than there could be otherwise.
        if role != .collector, channel.weAreClient, pair.channel == nil, !dialed.contains(peer),
            connectedCount >= wish.most,
            pair.sighting?.role != .collector || pairs.connectedCollectorCount > 0
        {
            pair.state = .backingOff(until: now + Limits.fullRetry, after: .dropped)
            pairs[peer] = pair
            return [.close(channel.token, .dropped)]
        }
        // One to which the lower PeerID invited is the one that would be used anyway.
        if case .inviting(let attempt, _) = pair.state, !channel.weAreClient, peer < own {
            outputs.append(.abandon(peer, attempt: attempt))
        }
        if let current = pair.channel, current.token != channel.token,
            current.outranks(channel, isClientPreferred: own < peer)
        {
            outputs.append(
                .keepForOpening(channel.token, until: now + Limits.replacedChannelTime))
        } else {
            if pair.channel?.run != channel.run { pair.suspicion = RestartSuspicion() }
            pair.channel = channel
            outputs.append(.use(channel.token, peer))
        }
        pair.suspicion.dispel(now)
        pair.state = .idle
        (pair.failures, pair.silences, pair.tries) = (0, 0, 0)
        pair.wantsUs = false
        pair.wakePause = GrowingPause(first: Limits.wakePauseFirst, longest: Limits.wakePauseMax)
        pairs[peer] = pair
        return outputs
    }

    private mutating func failed(_ peer: PeerID, _ attempt: UInt16, _ now: Instant) {
        guard var pair = pairs[peer], case .inviting(attempt, _) = pair.state else { return }
        pair.failures = min(pair.failures + 1, 6)
        let backoff = min(Duration.seconds(1) * (1 << (pair.failures - 1)), .seconds(60))
        pair.state = .backingOff(
            until: now + backoff + random.duration(below: backoff / 2), after: .failure)
        pair.suspicion.dispel(now)
        pairs[peer] = pair
    }

    /// Tries again soon, and later each time.
    private mutating func fellSilent(_ peer: PeerID, _ attempt: UInt16, _ now: Instant) {
        guard var pair = pairs[peer], case .inviting(attempt, _) = pair.state else { return }
        let pause = min(Limits.silencePause * (1 << pair.silences), Limits.silencePauseMax)
        pair.silences = min(pair.silences + 1, 8)
        pair.state = .backingOff(
            until: now + pause + random.duration(below: pause), after: .failure)
        pair.suspicion.dispel(now)
        pairs[peer] = pair
    }

    private mutating func closed(_ token: ChannelToken, _ now: Instant) {
        guard let peer = pairs.peer(with: token), var pair = pairs[peer] else { return }
        pair.channel = nil
        pair.suspicion = RestartSuspicion()
        if !pair.isInviting {
            // Both sides notice together: a short random time keeps them from crossing.
            pair.state = .backingOff(
                until: now + .milliseconds(20) + random.duration(below: .milliseconds(100)),
                after: .failure)
        }
        pairs[peer] = pair.sighting == nil ? nil : pair
    }

    private mutating func timeOut(_ now: Instant) -> [Output] {
        if way.deadlineReached(now) { strand(now) }
        for peer in pairs.takeDue(now) { pairs[peer]?.deadlineReached(now) }
        return pauses.takeTrimming(now) ? [.tooMany] : []
    }

    /// Who came without a way, and from two sides at once, may have taken more than it would.
    private mutating func planTrimming(_ now: Instant) {
        let isTooMany = wish.isTooMany(pairs, hasWay: way.cost != nil, besides: dialed)
        pauses.planTrimming(isTooMany && role != .collector, now)
    }

    // MARK: The plan

    /// Begins with those that we want, then with those that told us that they want us.
    private mutating func plan(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        let dials = dialed.filter { pairs[$0]?.channel == nil }
        for peer in dials.sorted() { outputs += approach(peer, now) }
        let wanted = wish.peers(
            of: pairs, costToCollector: way.cost, takesShortcuts: pauses.takesShortcut(now))
        for peer in Set(wanted + pairs.suspected).subtracting(dials).sorted() {
            let steps = approach(peer, now)
            if !steps.isEmpty, connectedCount >= wish.wanted, isShortcut(peer) {
                pauses.triedShortcut(now)
            }
            outputs += steps
        }
        while pairs.connectedCount + pairs.invitingCount < wish.accepted,
            hasPlace(of: invitationsAtOnce), let peer = pairs.callers.first
        {
            outputs += invite(peer, now)
        }
        return outputs
    }

    private mutating func approach(_ peer: PeerID, _ now: Instant) -> [Output] {
        guard let pair = pairs[peer], pair.sighting != nil else { return [] }
        switch pair.state {
        case .idle where own > peer:
            pairs[peer]?.state = .nudging(
                until: now + Limits.nudgeTimeout + random.duration(below: .seconds(1)),
                sentAt: now)
            pairs[peer]?.tries &+= 1
            return [.nudge(peer, attempt: nextAttempt)]
        case .idle, .overdue:
            let most =
                dialed.contains(peer)
                ? max(invitationsAtOnce, Limits.dialsAtOnce) : invitationsAtOnce
            guard hasPlace(of: most) else { return [] }
            return invite(peer, now)
        case .inviting, .nudging, .nudgeHeldBack, .backingOff: return []
        }
    }

    /// Whoever does not answer gives up its place, and not for ever more.
    private func hasPlace(of most: Int) -> Bool {
        pairs.invitingCount < most
            && pairs.unansweredCount < max(most, Limits.unansweredInvitationsMax)
    }

    private mutating func invite(_ peer: PeerID, _ now: Instant) -> [Output] {
        guard var pair = pairs[peer] else { return [] }
        let attempt = nextAttempt
        nextAttempt = attempt == .max ? 1 : attempt + 1
        pair.state = .inviting(
            attempt: attempt, .awaited(until: now + Limits.invitationPatience))
        pair.wantsUs = false
        pair.tries &+= 1
        pairs[peer] = pair
        return [.invite(peer, attempt: attempt)]
    }
}

extension Limits {
    /// Handshakes of our own at once.
    public static let invitationsAtOnce = 4
    /// Until an invitation that nothing answers leaves its place to another; its handshake goes on.
    static let invitationPatience = Duration.seconds(2)
    /// Such invitations beside those that have a place, if there are no more places than that.
    static let unansweredInvitationsMax = 16
    /// And while a program calls more: those that do not answer keep no others waiting.
    static let dialsAtOnce = 16
    /// And at a collector, which a hall of boards asks at once.
    static let collectorInvitationsAtOnce = 32
    /// A nudge's addressee invites within this time, or we do.
    static let nudgeTimeout = Duration.seconds(3)
    /// Before a nudge that was held back is tried again; up to twice that.
    static let nudgeRetry = Duration.milliseconds(150)
    static let fullRetry = Duration.seconds(30)
    /// Before another handshake with a peer that fell silent in the last one; up to twice that.
    static let silencePause = Duration.milliseconds(100)
    static let silencePauseMax = Duration.seconds(8)
    /// All that discovery knows.
    static let pairsMax = discoveryPeersMax
}

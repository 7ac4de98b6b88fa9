import NearbyCore
import NearbyWire

/// Whom readings are addressed to, and how it is reached: the collector of record, and the viewers
/// that look in. Agents and relays call them over the mesh; collectors and viewers call nobody.
/// Nodes of applications call as well whom the program names.
struct AddresseeMachine {
    enum Input {
        /// The route to a destination changed; nil: there is none.
        case routeChanged(PeerID, DestinationKind, metric: UInt16?)
        /// A channel with the peer was opened.
        case associated(PeerID)
        /// The channel with it is gone.
        case dissociated(PeerID)
        /// It says that it does not know our channel.
        case channelUnknown(PeerID)
        /// There is a route to a peer without a channel.
        case reachable(PeerID)
        /// The program wants a channel with the peer, or no more.
        case dialed(PeerID, Bool)
        case deadlineReached
    }

    enum Output: Equatable {
        /// Begin a handshake over the mesh, whatever the PeerIDs.
        case dial(PeerID)
        /// End the handshakes that were begun so.
        case giveUp(PeerID)
        /// The program may address this collector now.
        case collector(PeerID?)
        /// And these viewers, in the order of their PeerIDs.
        case viewers([PeerID])
        /// Whether there is a route to a collector, or what it costs, may have changed.
        case routeToCollectorChanged
        /// Routing calls it a collector; it was admitted as something else.
        case noCollector(PeerID)
        case drop(DropReason)
    }

    /// What it sees of the rest of the node.
    struct View {
        let routing: RoutingMachine
        let peers: Peers
        /// Since when discovery has heard it on a link, or its present run; nil: it does not.
        let heardSince: (PeerID) -> Instant?
    }

    /// Our attempts to open a channel over the mesh with one of them.
    private struct Dial {
        /// nil while nothing is to be done: the channel is open, or there is no route.
        var nextAttempt: Instant?
        var backoff = Limits.dialBackoff
        /// Since a channel was open the last time.
        var attempts = 0
        /// When its open channel was last begun anew, and how soon it may be again: a relay on the
        /// way can say in the peer's name that it does not know our channel.
        var renewedAt: Instant?
        var renewal = GrowingPause(
            first: Limits.renewalInterval, longest: Limits.renewalIntervalMax)

        init(nextAttempt: Instant) { self.nextAttempt = nextAttempt }
    }

    private let role: Role
    /// Those that count as collectors; empty: all that were admitted as such.
    private let collectors: Set<PeerID>
    private var choice: CollectorChoice
    private var slots: ViewerSlots
    /// The chosen collector and at most `Limits.viewersMax` viewers.
    private var dials: [PeerID: Dial] = [:]
    /// When, within `Limits.dialBackoff`; also those that are not to be called any more.
    private var dialedLately: [PeerID: Instant] = [:]
    /// By the program; at most `Limits.dialedPeersMax`.
    private var dialed: Set<PeerID> = []
    /// What the program was told last.
    private(set) var collector: PeerID?
    private(set) var viewers: [PeerID] = []
    private var random: SeededGenerator

    init(role: Role, collectors: Set<PeerID>, salt: UInt64, seed: UInt64) {
        self.role = role
        self.collectors = collectors
        choice = CollectorChoice(salt: salt)
        slots = ViewerSlots(salt: salt)
        random = SeededGenerator(seed: seed)
    }

    mutating func handle(_ input: Input, seeing view: View, now: Instant) -> [Output] {
        switch input {
        case .routeChanged(let peer, let kind, let metric):
            return routeChanged(peer, kind, metric, view, now)
        case .associated(let peer):
            dials[peer]?.nextAttempt = nil
            dials[peer]?.attempts = 0
            return checkRole(of: peer, view, now) + announce(view, now)
        case .dissociated(let peer):
            let outputs = announce(view, now)
            redial(peer, now)
            return outputs
        case .channelUnknown(let peer): return renew(peer, view, now)
        case .reachable(let peer):
            redial(peer, now)
            return []
        case .dialed(let peer, let isWanted):
            if !isWanted {
                dialed.remove(peer)
            } else if dialed.count < Limits.dialedPeersMax {
                dialed.insert(peer)
            }
            return reviseDials(view, now)
        case .deadlineReached:
            let chosen =
                choice.nextDeadline ?? .distantFuture <= now
                ? apply(choice.handle(.deadlineReached, now: now), view, now) : []
            return chosen + dialIfDue(view, now)
        }
    }

    var nextDeadline: Instant? {
        var earliest = min(
            choice.nextDeadline ?? .distantFuture, slots.nextDeadline ?? .distantFuture)
        for dial in dials.values { earliest = min(earliest, dial.nextAttempt ?? .distantFuture) }
        return earliest == .distantFuture ? nil : earliest
    }

    var dialCount: Int { dials.count }

    /// When the open channel with it was last begun anew, because it did not know it.
    func renewedAt(_ peer: PeerID) -> Instant? { dials[peer]?.renewedAt }

    /// What a route to the nearest collector costs; nil: there is none.
    func costToCollector(_ routing: RoutingMachine) -> UInt16? {
        if role == .collector { return 0 }
        return routing.leastMetric { counts($0, $1) }
    }

    // MARK: Ways and roles

    /// Whether routing's word makes it a collector for us; its admission has yet to confirm that.
    private func counts(_ peer: PeerID, _ kind: DestinationKind) -> Bool {
        kind == .collector && (collectors.isEmpty || collectors.contains(peer))
    }

    /// Whether anything follows from a change of the route to it.
    func heed(_ peer: PeerID, _ kind: DestinationKind) -> Bool {
        kind != .node || peer == collector || dials[peer] != nil || choice.knows(peer)
    }

    private mutating func routeChanged(
        _ peer: PeerID, _ kind: DestinationKind, _ metric: UInt16?, _ view: View, _ now: Instant
    ) -> [Output] {
        let isCollector = counts(peer, kind)
        var outputs: [Output] = []
        if kind == .collector, !isCollector { outputs.append(.drop(.roleNotAdmitted)) }
        if isCollector || choice.knows(peer) {
            let steps = choice.handle(
                .route(peer, metric: isCollector ? metric : nil), now: now)
            outputs += apply(steps, view, now) + [.routeToCollectorChanged]
        }
        if kind == .viewer || dials[peer] != nil && peer != choice.current {
            outputs += reviseDials(view, now)
        }
        if peer == collector { outputs += announce(view, now) }
        return outputs
    }

    private mutating func apply(
        _ steps: [CollectorChoice.Output], _ view: View, _ now: Instant
    ) -> [Output] {
        steps.flatMap { step in
            switch step {
            case .chosen(let peer):
                let outputs = reviseDials(view, now)
                guard let peer else { return outputs }
                return outputs + checkRole(of: peer, view, now)
            }
        }
    }

    /// What routing says of a collector counts only if it was admitted as one: else another is
    /// chosen.
    private mutating func checkRole(
        of peer: PeerID, _ view: View, _ now: Instant
    ) -> [Output] {
        guard let role = view.peers.role(of: peer) else { return [] }
        if role == .collector {
            // Also where routing has no route to it at the moment.
            return apply(choice.handle(.admitted(peer), now: now), view, now)
        }
        guard choice.knows(peer), peer == choice.current else { return [] }
        return [.drop(.roleNotAdmitted), .noCollector(peer)]
            + apply(choice.handle(.refused(peer), now: now), view, now)
    }

    // MARK: Calls

    /// Calls the collector of record and the viewers in reach, and nobody else any more.
    private mutating func reviseDials(_ view: View, _ now: Instant) -> [Output] {
        guard !role.collects else { return [] }
        var addressees = dialed.union(viewersToDial(view, now))
        if let collector = choice.current { addressees.insert(collector) }
        dials = dials.filter { addressees.contains($0.key) }
        for peer in addressees where dials[peer] == nil {
            // One that was heard on a link just now is about to be a neighbour. Who has been near
            // for longer becomes one within moments, or not at all.
            let soon = view.heardSince(peer).map {
                max($0 + Limits.dialDelay, now + Limits.dialDelayOfNear)
            }
            dials[peer] = Dial(nextAttempt: (soon ?? now) + spread(of: peer))
        }
        return announce(view, now) + dialIfDue(view, now)
    }

    private mutating func viewersToDial(_ view: View, _ now: Instant) -> [PeerID] {
        let candidates = view.routing.routes.filter { $0.kind == .viewer }.map { route in
            let peer = route.destination
            let role = view.peers.role(of: peer)
            return ViewerSlots.Candidate(
                peer: peer, isServed: role == .viewer, isOther: role != nil && role != .viewer,
                isDialed: dials[peer] != nil)
        }
        return slots.choose(from: candidates, now: now)
    }

    private mutating func dialIfDue(_ view: View, _ now: Instant) -> [Output] {
        var outputs: [Output] = []
        var hasFreeSlot = slots.takeDue(now: now)
        for peer in dials.keys.sorted() {
            guard let dial = dials[peer], let due = dial.nextAttempt, now >= due else { continue }
            guard view.peers[peer] == nil, view.routing.nextHop(to: peer.short) != nil else {
                dials[peer]?.nextAttempt = nil
                continue
            }
            if isSlotWanted(peer, dial, view) {
                slots.pause(peer, now: now)
                dials[peer] = nil
                outputs.append(.giveUp(peer))
                hasFreeSlot = true
            } else if mayDial(peer, now) {
                outputs += attempt(peer, dial, view, now)
            } else {
                dials[peer]?.nextAttempt = now + Limits.dialBackoff
            }
        }
        // Who is called now was not called before: this ends.
        return hasFreeSlot ? outputs + reviseDials(view, now) : outputs
    }

    /// Not again so soon, and not any number of peers: a member that announces and retracts
    /// collectors could make us begin a handshake with each of its messages.
    private mutating func mayDial(_ peer: PeerID, _ now: Instant) -> Bool {
        dialedLately = dialedLately.filter { now - $0.value < Limits.dialBackoff }
        guard dialedLately[peer] == nil, dialedLately.count < Limits.dialsLatelyMax else {
            return false
        }
        dialedLately[peer] = now
        return true
    }

    private mutating func attempt(
        _ peer: PeerID, _ dial: Dial, _ view: View, _ now: Instant
    ) -> [Output] {
        var dial = dial
        dial.nextAttempt = now + dial.backoff + random.duration(in: .zero..<dial.backoff)
        dial.backoff = min(dial.backoff * 2, Limits.dialBackoffMax)
        dial.attempts += 1
        dials[peer] = dial
        let patience =
            choice.isOneOfMany(peer, now)
            ? Limits.viewerDialsUnanswered : Limits.dialsUnanswered
        guard peer == choice.current, dial.attempts > patience else { return [.dial(peer)] }
        let outputs = apply(choice.handle(.unanswered(peer), now: now), view, now)
        return peer == choice.current ? outputs + [.dial(peer)] : outputs
    }

    /// Whether others want the place of a viewer that did not answer.
    private func isSlotWanted(_ peer: PeerID, _ dial: Dial, _ view: View) -> Bool {
        guard peer != choice.current, !dialed.contains(peer),
            dial.attempts >= Limits.viewerDialsUnanswered
        else { return false }
        return view.routing.routes.lazy.filter { $0.kind == .viewer }.count > Limits.viewersMax
    }

    /// A viewer can wait; it must not be called by everybody at once.
    private mutating func spread(of peer: PeerID) -> Duration {
        peer == choice.current || dialed.contains(peer)
            ? .zero : random.duration(in: .zero..<Limits.dialDelay)
    }

    /// After the channel with an addressee was lost, or when there is a new route to it.
    private mutating func redial(_ peer: PeerID, _ now: Instant) {
        guard let dial = dials[peer] else { return }
        let soon = now + spread(of: peer)
        dials[peer] = Dial(nextAttempt: min(dial.nextAttempt ?? soon, soon))
        dials[peer]?.attempts = dial.attempts
        dials[peer]?.renewal = dial.renewal
    }

    /// Begins anew beside the channel that an addressee does not know.
    private mutating func renew(_ peer: PeerID, _ view: View, _ now: Instant) -> [Output] {
        guard let dial = dials[peer], let association = view.peers[peer],
            now - association.openedAt >= Limits.renewalInterval, dial.renewal.isOver(now)
        else { return [] }
        dials[peer]?.renewedAt = now
        dials[peer]?.renewal.begin(now)
        return [.dial(peer)]
    }

    // MARK: What the program is told

    /// Whom it can address: those who are called, have an open channel, and were admitted as what
    /// they are called for. A collector is addressed until the next one is open.
    private mutating func announce(_ view: View, _ now: Instant) -> [Output] {
        guard !role.collects else { return [] }
        var outputs: [Output] = []
        let candidates = [choice.current, collector].compactMap { $0 }
        let addressed = candidates.first {
            view.peers.role(of: $0) == .collector && choice.knows($0)
                && !choice.isRefused($0, now)
        }
        if addressed != collector {
            collector = addressed
            outputs.append(.collector(addressed))
        }
        let looking = dials.keys.filter { $0 != addressed && view.peers.role(of: $0) == .viewer }
            .sorted()
        if looking != viewers {
            viewers = looking
            outputs.append(.viewers(looking))
        }
        return outputs
    }
}

extension Limits {
    /// Between attempts to reach somebody over the mesh; doubles to the maximum.
    static let dialBackoff = Duration.milliseconds(500)
    static let dialBackoffMax = Duration.seconds(30)
    /// After so many the chosen collector is given up for another, if there is one.
    static let dialsUnanswered = 4
    /// Calls within `dialBackoff`.
    static let dialsLatelyMax = 16
    /// After somebody was heard on a link, before he is called over the mesh. Viewers are called up
    /// to as much later, each at a time of its own.
    static let dialDelay = Duration.seconds(1)
    /// The same where he was heard for longer than that, before he was wanted.
    static let dialDelayOfNear = Duration.milliseconds(200)
    /// Between two attempts to renew a channel that the other side seems not to have; doubles to
    /// the maximum.
    static let renewalInterval = Duration.seconds(1)
    static let renewalIntervalMax = Duration.seconds(16)
}

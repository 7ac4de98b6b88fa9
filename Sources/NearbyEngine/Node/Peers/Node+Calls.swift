import NearbyCore
import NearbyWire

/// Our attempts to open a channel over the mesh with somebody to whom readings are addressed.
struct Call {
    /// nil while nothing is to be done: the channel is open, or there is no way.
    var nextAttempt: Instant?
    var backoff = Limits.callBackoff
    /// Since a channel was open the last time.
    var attempts = 0
    /// When its open channel was last begun anew.
    var renewedAt: Instant?

    init(nextAttempt: Instant) { self.nextAttempt = nextAttempt }
}

/// Whom readings are addressed to, and how it is reached: the collector of record, and the viewers
/// that look in. Agents and relays call them; collectors and viewers call nobody.
extension Node {
    var hasRouteToCollector: Bool {
        configuration.role == .collector
            || routing.routes.contains { isCollector($0.destination, $0.kind) }
    }

    /// Whether routing's word makes it a collector for us; its admission has yet to confirm that.
    func isCollector(_ peer: PeerID, _ kind: DestinationKind) -> Bool {
        kind == .collector
            && (configuration.collectors.isEmpty || configuration.collectors.contains(peer))
    }

    /// The way to a destination changed, which may be somebody to address.
    mutating func addresseeChanged(
        _ peer: PeerID, _ kind: DestinationKind, metric: UInt16?, _ now: Instant
    ) {
        let isCollector = isCollector(peer, kind)
        if kind == .collector, !isCollector { drops.count(.roleNotAdmitted) }
        if isCollector || collectorChoice.knows(peer) {
            let metric = isCollector ? metric : nil
            interpret(collectorChoice.handle(.route(peer, metric: metric), now: now), now)
            interpret(invitation.handle(.routeToCollector(hasRouteToCollector), now: now), now)
            presenceChanged(now)
        }
        if kind == .viewer || calls[peer] != nil && peer != collectorChoice.current {
            reviseCalls(now)
        }
        if peer == announced.collector { announceAddressees(now) }
    }

    mutating func interpret(_ steps: [CollectorChoice.Output], _ now: Instant) {
        for case .chosen(let peer) in steps {
            reviseCalls(now)
            if let peer { checkRole(of: peer, now) }
        }
    }

    /// What routing says of a collector counts only if it was admitted as one: else another is
    /// chosen.
    mutating func checkRole(of peer: PeerID, _ now: Instant) {
        guard let terms = terms(of: peer) else { return }
        if terms.role == .collector {
            // Also where routing has no way to it at the moment.
            interpret(collectorChoice.handle(.admitted(peer), now: now), now)
        } else if collectorChoice.knows(peer), peer == collectorChoice.current {
            drops.count(.roleNotAdmitted)
            tell(.notice(.noCollector(peer, name: terms.name, role: terms.role)))
            interpret(collectorChoice.handle(.refused(peer), now: now), now)
        }
    }

    /// Calls the collector of record and the viewers in reach, and nobody else any more.
    private mutating func reviseCalls(_ now: Instant) {
        guard !configuration.role.collects else { return }
        var addressees = viewersToCall(now)
        if let collector = collectorChoice.current { addressees.append(collector) }
        calls = calls.filter { addressees.contains($0.key) }
        for peer in addressees where calls[peer] == nil {
            // One that is heard on a link is about to be a neighbour.
            let delay = sightings[peer] == nil ? Duration.zero : Limits.callDelay
            calls[peer] = Call(nextAttempt: now + delay + spread(of: peer))
        }
        announceAddressees(now)
        callIfDue(now)
    }

    private mutating func viewersToCall(_ now: Instant) -> [PeerID] {
        let candidates = routing.routes.filter { $0.kind == .viewer }.map { route in
            let peer = route.destination
            let role = associations[peer] == nil ? nil : role(of: peer)
            return ViewerPlaces.Candidate(
                peer: peer, isServed: role == .viewer, isOther: role != nil && role != .viewer,
                isCalled: calls[peer] != nil)
        }
        return viewerPlaces.choose(from: candidates, now: now)
    }

    /// Whether others want the place of a viewer that did not answer.
    private func isPlaceWanted(_ peer: PeerID, _ call: Call) -> Bool {
        guard peer != collectorChoice.current, call.attempts >= Limits.viewerCallsUnanswered else {
            return false
        }
        return routing.routes.lazy.filter { $0.kind == .viewer }.count > Limits.viewersMax
    }

    /// A viewer that did not answer loses its place, and what was begun with it.
    private mutating func giveUpCall(_ peer: PeerID, _ now: Instant) {
        viewerPlaces.pause(peer, now: now)
        calls[peer] = nil
        let begun = channels.filter {
            $0.isClient && $0.stage == .handshaking && $0.expectedPeer == peer
                && $0.key.path.endpoint == nil
        }
        for channel in begun { channels.remove(channel) }
    }

    /// A viewer can wait; it must not be called by everybody at once.
    private mutating func spread(of peer: PeerID) -> Duration {
        peer == collectorChoice.current ? .zero : random.duration(in: .zero..<Limits.callDelay)
    }

    /// Over the mesh we invite whom we address, whatever the PeerIDs.
    mutating func callIfDue(_ now: Instant) {
        var isRoom = viewerPlaces.takeDue(now: now)
        for peer in calls.keys.sorted() {
            guard var call = calls[peer], let due = call.nextAttempt, now >= due else { continue }
            guard associations[peer] == nil, routing.nextHop(to: peer.short) != nil else {
                calls[peer]?.nextAttempt = nil
                continue
            }
            if isPlaceWanted(peer, call) {
                giveUpCall(peer, now)
                isRoom = true
                continue
            }
            let jitter = random.duration(in: .zero..<call.backoff)
            call.nextAttempt = now + call.backoff + jitter
            call.backoff = min(call.backoff * 2, Limits.callBackoffMax)
            call.attempts += 1
            calls[peer] = call
            if peer == collectorChoice.current, call.attempts > Limits.callsUnanswered {
                interpret(collectorChoice.handle(.unanswered(peer), now: now), now)
                guard peer == collectorChoice.current else { continue }
            }
            beginHandshake(with: peer, over: .mesh(peer.short), attemptNumber: 0, now)
        }
        // Who is called now was not called before: this ends.
        if isRoom { reviseCalls(now) }
    }

    /// After the channel with an addressee was lost, or when there is a new way to it.
    mutating func callAgain(_ peer: PeerID, _ now: Instant) {
        guard let call = calls[peer] else { return }
        let soon = now + spread(of: peer)
        calls[peer] = Call(nextAttempt: min(call.nextAttempt ?? soon, soon))
        calls[peer]?.attempts = call.attempts
    }

    /// Tells the program whom it can address: those who are called, have an open channel, and were
    /// admitted as what they are called for. A collector is addressed until the next one is open.
    mutating func announceAddressees(_ now: Instant) {
        guard !configuration.role.collects else { return }
        let reachable = calls.keys.filter { associations[$0] != nil }.sorted()
        let candidates = [collectorChoice.current, announced.collector].compactMap { $0 }
        let collector = candidates.first {
            role(of: $0) == .collector && collectorChoice.knows($0)
                && !collectorChoice.isRefused($0, now)
        }
        if collector != announced.collector {
            announced.collector = collector
            tell(.collector(collector))
        }
        let viewers = reachable.filter { $0 != collector && role(of: $0) == .viewer }
        if viewers != announced.viewers {
            announced.viewers = viewers
            tell(.viewers(viewers))
        }
    }

    /// An addressee does not know our channel: begin anew beside it.
    mutating func unknownChannelHint(_ bytes: [UInt8], from path: Path, _ now: Instant) {
        guard case .mesh(let source) = path, let hint = try? UnknownChannelHint(parsing: bytes[...])
        else { return drops.count(.frameMalformed) }
        guard let peer = peersByShortID[source], let call = calls[peer],
            let association = associations[peer],
            channels[association.token]?.seal?.remoteIndex == hint.index,
            now - (call.renewedAt ?? association.openedAt) >= Limits.renewalInterval
        else { return }
        calls[peer]?.renewedAt = now
        beginHandshake(with: peer, over: path, attemptNumber: 0, now)
    }
}

extension Limits {
    /// Between attempts to reach somebody over the mesh; doubles to the maximum.
    public static let callBackoff = Duration.milliseconds(500)
    public static let callBackoffMax = Duration.seconds(30)
    /// After so many the chosen collector is given up for another, if there is one.
    static let callsUnanswered = 4
    /// Before somebody who is heard on a link is called over the mesh all the same. Viewers are
    /// called up to as much later, each at a time of its own.
    public static let callDelay = Duration.seconds(1)
    /// Between two attempts to renew a channel that the other side seems not to have.
    static let renewalInterval = Duration.seconds(1)
}

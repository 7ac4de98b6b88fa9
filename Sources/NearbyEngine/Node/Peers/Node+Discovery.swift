import NearbyCore
import NearbyWire

/// What discovery and the tie-break say, put into practice.
extension Node {
    static func makeDiscovery(
        _ configuration: NodeConfiguration, own: PeerID, seed: UInt64
    ) -> DiscoveryMachine {
        DiscoveryMachine(
            identity: .init(
                peer: own, run: configuration.run, versions: WireVersion.spoken,
                network: configuration.networkTag, proves: !configuration.secrets.isEmpty,
                datagramsPerBeacon: 2),
            own: .init(
                dataPort: configuration.dataPort, role: configuration.role,
                flags: configuration.role == .collector ? [] : .wantsNeighbours,
                costToCollector: configuration.role == .collector ? 0 : nil,
                info: configuration.info),
            seed: seed)
    }

    // MARK: Frames

    mutating func discoveryFrameReceived(
        _ bytes: [UInt8], from endpoint: Endpoint, isMulticast: Bool, _ now: Instant
    ) {
        let frame: DiscoveryFrame
        do throws(WireError) {
            frame = try DiscoveryFrame(parsing: bytes[...])
        } catch {
            if case .unsupportedVersion = error { return drops.count(.beaconVersion) }
            return drops.count(.beaconMalformed)
        }
        // Strangers are dropped before anything is computed for them.
        guard frame.network == configuration.networkTag else {
            drops.count(.beaconStrangeNetwork)
            return refuse(frame, from: endpoint, isMulticast: isMulticast, .otherNetwork, now)
        }
        guard isProved(frame, bytes) else {
            drops.count(.beaconBadProof)
            let cause: RefusedNode.Cause = frame.proof == nil ? .noSecret : .otherSecret
            return refuse(frame, from: endpoint, isMulticast: isMulticast, cause, now)
        }
        if WireVersion.agreed(WireVersion.spoken, frame.versions) == nil {
            refuse(frame, from: endpoint, isMulticast: isMulticast, .version, now)
        }
        interpret(
            discovery.handle(
                .received(frame, from: endpoint, multicast: isMulticast), now: now), now)
    }

    /// Told once, with the address at which it takes data. A peer with a channel is none of these,
    /// whatever is said in its name.
    private mutating func refuse(
        _ frame: DiscoveryFrame, from source: Endpoint, isMulticast: Bool,
        _ cause: RefusedNode.Cause, _ now: Instant
    ) {
        guard frame.peer != own, associations[frame.peer] == nil else { return }
        var endpoint = source
        if isMulticast {
            switch frame.body {
            case .beacon(let beacon), .answer(let beacon):
                endpoint.address = source.address.withPort(beacon.dataPort)
            case .nudge, .infoRequest, .infoReply: break
            }
        }
        refuse(frame.peer, at: endpoint, cause, now)
    }

    mutating func refuse(
        _ peer: PeerID, at endpoint: Endpoint, _ cause: RefusedNode.Cause, _ now: Instant
    ) {
        guard refused.record(peer, at: endpoint, cause, now: now), let node = refused[peer] else {
            return
        }
        tell(.notice(.nodeRefused(node)))
    }

    private func isProved(_ frame: DiscoveryFrame, _ bytes: [UInt8]) -> Bool {
        guard !beaconKeys.isEmpty else { return true }
        guard let signed = DiscoveryFrame.signedPart(of: bytes[...]) else { return false }
        let proof = bytes.suffix(DiscoveryFrame.proofByteCount)
        return beaconKeys.contains { key in
            let right = cryptography.hmac(key: key, Array(signed))
            return cryptography.constantTimeEquals(
                right.prefix(DiscoveryFrame.proofByteCount), proof)
        }
    }

    private func emit(_ frame: DiscoveryFrame) -> [UInt8] {
        guard let key = beaconKeys.first else { return frame.bytes }
        var proved = frame
        proved.proof = cryptography.hmac(key: key, frame.signedBytes)
            .prefix(DiscoveryFrame.proofByteCount).reduce(0) { $0 << 8 | UInt64($1) }
        return proved.bytes
    }

    /// Tells the peer at this address that we want it, or (`attempt` nil) that we know nothing of
    /// its channel, as far as discovery's limits allow.
    ///
    /// - Returns: whether it leaves.
    @discardableResult
    mutating func nudge(_ endpoint: Endpoint, attempt: UInt16?, _ now: Instant) -> Bool {
        guard let frame = discovery.nudge(attempt: attempt, to: endpoint, now: now) else {
            drops.count(.beaconAnswerRate)
            return false
        }
        transmit(.unicast(emit(frame), to: endpoint))
        return true
    }

    // MARK: Discovery's outputs

    mutating func interpret(_ steps: [DiscoveryMachine.Output], _ now: Instant) {
        for step in steps {
            switch step {
            case .multicast(let frame, let link): transmit(.multicast(emit(frame), on: link))
            case .broadcast(let frame, let link): transmit(.broadcast(emit(frame), on: link))
            case .unicast(let frame, let endpoint):
                transmit(.unicast(emit(frame), to: endpoint))
            case .heard(let sighting): sighted(sighting, now)
            case .forgotten(let peer):
                sightings[peer] = nil
                interpret(invitation.handle(.lost(peer), now: now), now)
            case .found, .changed, .lost: break
            case .nudged(let peer, let run, let attempt): nudged(by: peer, run, attempt, now)
            case .suspicion(_, let endpoint): seekClone(at: endpoint, now)
            case .drop(let reason): drops.count(reason)
            }
        }
    }

    /// A neighbour whose sealed frames of the same run arrive has our channel: then somebody
    /// replays nudges, or makes it send them.
    private mutating func nudged(
        by peer: PeerID, _ run: RunID, _ attempt: UInt16, _ now: Instant
    ) {
        if let neighbour = neighbours[peer], terms(of: peer)?.run == run,
            neighbour.liveness.wasJustHeard(now: now)
        {
            return drops.count(.beaconNeedless)
        }
        interpret(invitation.handle(.nudged(peer, run, attempt: attempt), now: now), now)
    }

    private mutating func sighted(_ sighting: Sighting, _ now: Instant) {
        sightings[sighting.peer] = sighting
        if let neighbour = neighbours[sighting.peer] { considerWays(to: neighbour, now) }
        interpret(
            invitation.handle(
                .sighted(
                    sighting.peer, run: sighting.run, role: sighting.role,
                    costToCollector: sighting.costToCollector), now: now), now)
    }

    /// Asks who sends beacons in our name for the proof of our key, at most now and then: they may
    /// be a replay of our own past, and only a key that was proved there is told.
    private mutating func seekClone(at endpoint: Endpoint, _ now: Instant) {
        guard clonePause.isOver(now) else { return drops.count(.beaconEcho) }
        clonePause.begin(now)
        beginHandshake(with: own, over: .link(endpoint), attemptNumber: 0, now)
    }

    // MARK: The tie-break's outputs

    mutating func interpret(_ steps: [InvitationMachine.Output], _ now: Instant) {
        for step in steps {
            switch step {
            case .invite(let peer, let attempt): invite(peer, attempt, now)
            case .nudge(let peer, let attempt):
                guard let endpoint = reachable(peer, attempt: attempt).first else { continue }
                if !nudge(endpoint, attempt: attempt, now) {
                    interpret(invitation.handle(.nudgeHeldBack(peer), now: now), now)
                }
            case .abandon(let peer, let attempt): abandon(peer, attempt)
            case .use(let token, _):
                if let channel = channels[token] { use(channel, now) }
            case .keepForOpening(let token, let until):
                channels[token]?.stage = .closing(at: until)
            case .close(let token, let reason):
                if let channel = channels[token] { close(channel, reason, now) }
            case .probe(let token): probe(token, now)
            case .drop(let reason): drops.count(reason)
            case .wantsChanged: presenceChanged(now)
            }
        }
    }

    /// A channel that is open already needs no handshake: it gains the link, if the peer answers
    /// there. A full peer would close it; in an invitation it can decline.
    private mutating func invite(_ peer: PeerID, _ attempt: UInt16, _ now: Instant) {
        guard let endpoint = reachable(peer, attempt: attempt).first else {
            return interpret(invitation.handle(.failed(peer, attempt), now: now), now)
        }
        if attempt % 2 == 1, neighbours[peer] == nil, let token = associations[peer]?.token,
            let channel = channels[token], sightings[peer]?.flags.contains(.full) != true
        {
            challenge(channel, at: endpoint, now)
            resumptions[peer] = Resumption(attempt: attempt, until: now + Limits.resumptionTime)
            return
        }
        beginHandshake(with: peer, over: .link(endpoint), attemptNumber: attempt, now)
    }

    /// Where a peer can be reached: the cheapest links first, and in each class in discovery's
    /// order. Every third attempt begins with the next.
    func reachable(_ peer: PeerID, attempt: UInt16 = 0) -> [Endpoint] {
        let endpoints = (sightings[peer]?.endpoints ?? []).filter {
            $0.link.value == 0 || links[$0.link] != nil
        }
        let ordered = LinkClass.allCases.flatMap { linkClass in
            endpoints.filter { way(to: $0).linkClass == linkClass }
        }
        guard !ordered.isEmpty else { return [] }
        let first = Int(attempt) / 3 % ordered.count
        return Array(ordered[first...] + ordered[..<first])
    }

    private mutating func abandon(_ peer: PeerID, _ attempt: UInt16) {
        resumptions[peer] = nil
        let attempts = channels.filter {
            $0.isAttempt && $0.isClient && $0.expectedPeer == peer && $0.attemptNumber == attempt
        }
        for channel in attempts { channels.remove(channel) }
    }

    /// Asks whether the channel is alive on the other side.
    private mutating func probe(_ token: ChannelToken, _ now: Instant) {
        guard let channel = channels[token], let peer = channel.peer,
            let neighbour = neighbours[peer]
        else { return }
        challenge(channel, at: neighbour.endpoint, now)
    }

    /// Tells beacons what changed about us.
    mutating func presenceChanged(_ now: Instant) {
        var flags = BeaconFlags()
        if invitation.wantsNeighbours { flags.insert(.wantsNeighbours) }
        if invitation.isFull { flags.insert(.full) }
        let cost =
            configuration.role == .collector
            ? 0
            : routing.routes.filter { isCollector($0.destination, $0.kind) }.map(\.metric).min()
        if cost != nil { flags.insert(.hasRoute) }
        if configuration.preference != .required { flags.insert(.offersPlain) }
        if configuration.preference != .none { flags.insert(.offersEncryption) }
        let state = DiscoveryMachine.OwnState(
            dataPort: configuration.dataPort, role: configuration.role, flags: flags,
            costToCollector: cost, info: configuration.info)
        guard state != announced.state else { return }
        announced.state = state
        interpret(discovery.handle(.ownChanged(state), now: now), now)
        interpret(discovery.handle(.content(!invitation.wantsNeighbours), now: now), now)
    }

    // MARK: Routing's and liveness' outputs

    mutating func interpret(_ steps: [RoutingMachine.Output], _ now: Instant) {
        for step in steps {
            switch step {
            case .send(let message, let peer): enqueue(message.bytes, to: peer, .control, now)
            case .drop(let reason): drops.count(reason)
            case .routeChanged(let peer, let hop, let metric, let kind):
                interpret(book.routeChanged(peer, nextHop: hop, kind, now: now))
                reachabilityChanged(peer, nextHop: hop, now)
                addresseeChanged(peer, kind, metric: hop == nil ? nil : metric, now)
            }
        }
    }

    mutating func interpret(_ steps: [NodeBook.Output]) {
        for step in steps {
            switch step {
            case .vanished(let peers):
                tell(.notice(.nodesVanished(peers.compactMap { book[$0] })))
            case .returned(let peer):
                tell(.notice(.nodesReturned([peer].compactMap { book[$0] })))
            }
        }
    }

    private mutating func reachabilityChanged(
        _ peer: PeerID, nextHop: PeerID?, _ now: Instant
    ) {
        guard let association = associations[peer] else {
            if nextHop != nil { callAgain(peer, now) }
            return
        }
        if nextHop != nil || neighbours[peer] != nil {
            wayChanged(of: association, to: neighbours[peer] == nil ? nextHop : peer, now)
            association.unreachableSince = nil
        } else if association.unreachableSince == nil {
            association.unreachableSince = now
        }
    }

    mutating func interpret(
        _ steps: [LivenessMachine.Output], of neighbour: Neighbour, _ now: Instant
    ) {
        for step in steps {
            switch step {
            case .send(let payload): enqueue(payload, to: neighbour.peer, .control, now)
            case .costChanged(let cost):
                _ = neighbour.ways.handle(.recovered, now: now)
                interpret(routing.handle(.costChanged(neighbour.peer, cost), now: now), now)
            case .suspected: suspected(neighbour, now)
            case .lost: neighbourLost(neighbour.peer, now)
            }
        }
    }

    /// Another link takes over if one is ready; otherwise it is routed around.
    private mutating func suspected(_ neighbour: Neighbour, _ now: Instant) {
        let steps = neighbour.ways.handle(.suspected, now: now)
        interpret(steps, of: neighbour, now)
        guard !steps.contains(where: { if case .use = $0 { true } else { false } }) else { return }
        let cost = RoutingMessage.metricInfinite
        interpret(routing.handle(.costChanged(neighbour.peer, cost), now: now), now)
    }
}

/// An invitation that tries the open channel on a link first.
struct Resumption {
    var attempt: UInt16
    var until: Instant
}

extension Limits {
    /// Between two handshakes with whoever uses our name.
    static let clonePauseFirst = Duration.seconds(10)
    static let clonePauseMax = Duration.seconds(640)
    /// How long a peer may take to answer on a new link of an open channel.
    public static let resumptionTime = Duration.milliseconds(500)
}

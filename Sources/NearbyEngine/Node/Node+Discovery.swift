import NearbyCore
import NearbyWire

/// What discovery and the tie-break say, put into practice, and what beacons say of us.
extension Node {
    // MARK: Frames

    mutating func discoveryFrameReceived(
        _ bytes: [UInt8], from endpoint: Endpoint, isMulticast: Bool, _ now: Instant
    ) {
        let frame: DiscoveryFrame
        do throws(BeaconCodec.Refusal) {
            frame = try beacons.parse(bytes)
        } catch {
            return refuse(error, from: endpoint, isMulticast: isMulticast, now)
        }
        if WireVersion.agreed(WireVersion.spoken, frame.versions) == nil {
            refuse(frame, from: endpoint, isMulticast: isMulticast, .version, now)
        }
        tellDiscovery(.received(frame, from: endpoint, multicast: isMulticast), now)
    }

    private mutating func refuse(
        _ refusal: BeaconCodec.Refusal, from endpoint: Endpoint, isMulticast: Bool, _ now: Instant
    ) {
        switch refusal {
        case .malformed: drops.count(.beaconMalformed)
        case .unsupportedVersion: drops.count(.beaconVersion)
        case .otherNetwork(let frame):
            drops.count(.beaconStrangeNetwork)
            refuse(frame, from: endpoint, isMulticast: isMulticast, .otherNetwork, now)
        case .unproved(let frame):
            drops.count(.beaconBadProof)
            let cause: RefusedNode.Cause = frame.proof == nil ? .noSecret : .otherSecret
            refuse(frame, from: endpoint, isMulticast: isMulticast, cause, now)
        }
    }

    /// Told once, with the address at which it takes data. A peer with a channel is none of these,
    /// whatever is said in its name.
    private mutating func refuse(
        _ frame: DiscoveryFrame, from source: Endpoint, isMulticast: Bool,
        _ cause: RefusedNode.Cause, _ now: Instant
    ) {
        guard frame.peer != own, peers[frame.peer] == nil else { return }
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
        transmit(.unicast(beacons.emit(frame), to: endpoint))
        return true
    }

    // MARK: Discovery's outputs

    mutating func perform(_ output: DiscoveryMachine.Output, _ now: Instant) {
        switch output {
        case .multicast(let frame, let link):
            transmit(.multicast(beacons.emit(frame), on: link))
        case .broadcast(let frame, let link):
            transmit(.broadcast(beacons.emit(frame), on: link))
        case .unicast(let frame, let endpoint):
            transmit(.unicast(beacons.emit(frame), to: endpoint))
        case .heard(let sighting): sighted(sighting, now)
        case .forgotten(let peer): tellInvitation(.lost(peer), now)
        case .found, .changed, .lost: break
        case .nudged(let peer, let run, let attempt): nudged(by: peer, run, attempt, now)
        case .suspicion(_, let endpoint): seekClone(at: endpoint, now)
        case .drop(let reason): drops.count(reason)
        }
    }

    /// A neighbour whose sealed frames of the same run arrive has our channel: then somebody
    /// replays nudges, or makes it send them.
    private mutating func nudged(
        by peer: PeerID, _ run: RunID, _ attempt: UInt16, _ now: Instant
    ) {
        if let neighbour = peers.neighbour(peer), peers[peer]?.terms.run == run,
            neighbour.hop.wasJustHeard(now: now)
        {
            return drops.count(.beaconNeedless)
        }
        tellInvitation(.nudged(peer, run, attempt: attempt), now)
    }

    private mutating func sighted(_ sighting: Sighting, _ now: Instant) {
        if let neighbour = peers.neighbour(sighting.peer) { considerLinks(to: neighbour, now) }
        tellInvitation(
            .sighted(
                sighting.peer, run: sighting.run, role: sighting.role,
                costToCollector: sighting.costToCollector), now)
    }

    /// Asks who sends beacons in our name for the proof of our key, at most now and then: they may
    /// be a replay of our own past, and only a key that was proved there is told.
    private mutating func seekClone(at endpoint: Endpoint, _ now: Instant) {
        guard clonePause.isOver(now) else { return drops.count(.beaconEcho) }
        clonePause.begin(now)
        beginHandshake(with: own, over: .link(endpoint), attempt: 0, now)
    }

    // MARK: The tie-break's outputs

    mutating func perform(_ output: InvitationMachine.Output, _ now: Instant) {
        switch output {
        case .invite(let peer, let attempt): invite(peer, attempt, now)
        case .nudge(let peer, let attempt):
            guard let endpoint = reachable(peer, attempt: attempt).first else { return }
            if !nudge(endpoint, attempt: attempt, now) { tellInvitation(.nudgeHeldBack(peer), now) }
        case .abandon(let peer, let attempt):
            peers[peer]?.resumption = nil
            for channel in channels.attempts(with: peer, number: attempt) {
                channels.remove(channel)
            }
        case .use(let token, _):
            if let channel = channels[token] { use(channel, now) }
        case .keepForOpening(let token, let until): channels[token]?.stage = .closing(at: until)
        case .close(let token, let reason):
            if let channel = channels[token] { close(channel, reason, now) }
        case .probe(let token):
            // Whether the channel is alive on the other side.
            if let channel = channels[token], let peer = channel.peer,
                let neighbour = peers.neighbour(peer)
            {
                challenge(channel, at: neighbour.endpoint, now)
            }
        case .drop(let reason): drops.count(reason)
        case .wantsChanged: presenceChanged(now)
        }
    }

    /// A channel that is open already needs no handshake: it gains the link, if the peer answers
    /// there. A full peer would close it; in an invitation it can decline.
    private mutating func invite(_ peer: PeerID, _ attempt: UInt16, _ now: Instant) {
        guard let endpoint = reachable(peer, attempt: attempt).first else {
            return tellInvitation(.failed(peer, attempt), now)
        }
        if attempt % 2 == 1, !peers.isNeighbour(peer), let association = peers[peer],
            let channel = channels[association.token],
            discovery.sighting(of: peer)?.flags.contains(.full) != true
        {
            challenge(channel, at: endpoint, now)
            association.resumption = .init(attempt: attempt, until: now + Limits.resumptionTime)
            return
        }
        beginHandshake(with: peer, over: .link(endpoint), attempt: attempt, now)
    }

    /// Where a peer can be reached: the cheapest links first, and in each class in discovery's
    /// order. Every third attempt begins with the next.
    func reachable(_ peer: PeerID, attempt: UInt16 = 0) -> [Endpoint] {
        let endpoints = (discovery.sighting(of: peer)?.endpoints ?? []).filter {
            $0.link.value == 0 || links[$0.link] != nil
        }
        let ordered = LinkClass.allCases.flatMap { linkClass in
            endpoints.filter { way(to: $0).linkClass == linkClass }
        }
        guard !ordered.isEmpty else { return [] }
        let first = Int(attempt) / 3 % ordered.count
        return Array(ordered[first...] + ordered[..<first])
    }

    // MARK: Addressees

    mutating func perform(_ output: AddresseeMachine.Output, _ now: Instant) {
        switch output {
        case .call(let peer): beginHandshake(with: peer, over: .mesh(peer.short), attempt: 0, now)
        case .giveUp(let peer):
            let begun = channels.filter {
                $0.isClient && $0.stage == .handshaking && $0.expectedPeer == peer
                    && $0.key.path.endpoint == nil
            }
            for channel in begun { channels.remove(channel) }
        case .collector(let peer): tell(.collector(peer))
        case .viewers(let viewers): tell(.viewers(viewers))
        case .routeToCollectorChanged:
            let hasRoute = addressees.costToCollector(routing) != nil
            tellInvitation(.routeToCollector(hasRoute), now)
            presenceChanged(now)
        case .noCollector(let peer):
            guard let terms = peers[peer]?.terms else { return }
            tell(.notice(.noCollector(peer, name: terms.name, role: terms.role)))
        case .drop(let reason): drops.count(reason)
        }
    }

    /// Tells beacons what changed about us.
    mutating func presenceChanged(_ now: Instant) {
        var flags = BeaconFlags()
        if invitation.wantsNeighbours { flags.insert(.wantsNeighbours) }
        if invitation.isFull { flags.insert(.full) }
        let cost = addressees.costToCollector(routing)
        if cost != nil { flags.insert(.hasRoute) }
        if configuration.preference != .required { flags.insert(.offersPlain) }
        if configuration.preference != .none { flags.insert(.offersEncryption) }
        let state = DiscoveryMachine.OwnState(
            dataPort: configuration.dataPort, role: configuration.role, flags: flags,
            costToCollector: cost, info: configuration.info)
        guard state != presence else { return }
        presence = state
        tellDiscovery(.ownChanged(state), now)
        tellDiscovery(.content(!invitation.wantsNeighbours), now)
    }
}

extension NodeConfiguration {
    func makeDiscovery(own: PeerID, seed: UInt64) -> DiscoveryMachine {
        DiscoveryMachine(
            identity: .init(
                peer: own, run: run, versions: WireVersion.spoken, network: networkTag,
                proves: !secrets.isEmpty, datagramsPerBeacon: 2),
            own: .init(
                dataPort: dataPort, role: role, flags: role == .collector ? [] : .wantsNeighbours,
                costToCollector: role == .collector ? 0 : nil, info: info),
            seed: seed)
    }
}

extension Limits {
    /// Between two handshakes with whoever uses our name.
    static let clonePauseFirst = Duration.seconds(10)
    static let clonePauseMax = Duration.seconds(640)
}

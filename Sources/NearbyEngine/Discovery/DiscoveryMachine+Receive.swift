import NearbyCore
import NearbyWire

extension DiscoveryMachine {
    mutating func receive(
        _ frame: DiscoveryFrame, from source: Endpoint, multicast: Bool, _ now: Instant
    ) -> [Output] {
        guard frame.network == identity.network || identity.otherNetworks.contains(frame.network)
        else { return [.drop(.beaconForeignNetwork)] }
        guard frame.versions.overlaps(identity.versions) else { return [.drop(.beaconVersion)] }
        guard frame.peer != identity.peer else {
            return receiveOwn(frame, from: source, multicast: multicast, now)
        }
        switch frame.body {
        case .beacon(let beacon), .answer(let beacon):
            return receive(beacon, in: frame, from: source, multicast: multicast, now)
        case .nudge(let attempt): return receiveNudge(frame, attempt: attempt, from: source, now)
        case .infoRequest(let digest):
            return answerInfoRequest(frame, digest: digest, from: source, now)
        case .infoReply(let info): return receiveInfo(info, from: source, of: frame.peer, now)
        }
    }

    /// Our own run is an echo: two links on one LAN. Another one is a clone or a replay.
    private mutating func receiveOwn(
        _ frame: DiscoveryFrame, from source: Endpoint, multicast: Bool, _ now: Instant
    ) -> [Output] {
        guard frame.run != identity.run else { return [.drop(.beaconEcho)] }
        if let lastSuspicion, now - lastSuspicion < Limits.suspicionInterval {
            return [.drop(.beaconEcho)]
        }
        // Its sender can be asked only where it listens.
        guard case .beacon(let beacon) = frame.body else { return [.drop(.beaconEcho)] }
        lastSuspicion = now
        let sender = beacon.listeningEndpoint(from: source, multicast: multicast)
        return [.suspicion(frame.run, from: sender)]
    }

    private mutating func receive(
        _ beacon: Beacon, in frame: DiscoveryFrame, from source: Endpoint, multicast: Bool,
        _ now: Instant
    ) -> [Output] {
        if beacon.flags.contains(.leaving) { return receiveGoodbye(frame, now) }
        let endpoint = beacon.listeningEndpoint(from: source, multicast: multicast)
        if !multicast { statics.heard(from: source, now: now) }
        let place = place(of: frame, beacon, now)
        guard let position = place.position else { return place.outputs }
        let (isChange, refused) = update(
            at: position, beacon, run: frame.run, endpoint: endpoint, now)
        if multicast { links.heard(on: source.link, isConsistent: !isChange) }
        var outputs = place.outputs + refused
        if isChange { outputs += emitNews(at: position, now) }
        if case .beacon = frame.body {
            outputs += scheduleAnswer(
                at: position, to: endpoint, received: frame, beaconServes: multicast, now)
        }
        return outputs
    }

    /// A nudge may come before any beacon of its sender: then it stands for one, and has to find a
    /// place in the table.
    private mutating func receiveNudge(
        _ frame: DiscoveryFrame, attempt: UInt16, from source: Endpoint, _ now: Instant
    ) -> [Output] {
        let known = table.index(of: frame.peer).flatMap {
            table[$0].announcement == .unheard ? nil : $0
        }
        guard nudgeShares.take(frame.peer, isKnown: known != nil, from: source.address, now: now)
        else { return [.drop(.beaconNudgeShare)] }
        let nudged = Output.nudged(frame.peer, frame.run, attempt: attempt)
        guard known == nil else { return [nudged] }
        let beacon = Beacon(
            dataPort: 0, role: .agent, flags: .wantsNeighbours, costToCollector: nil,
            infoDigest: 0)
        let place = place(of: frame, beacon, now)
        guard let position = place.position else { return place.outputs }
        let refused = update(
            at: position, beacon, run: frame.run, endpoint: source, now
        ).outputs
        // People are told with its first beacon, which says more.
        return place.outputs + refused + [.heard(table[position].sighting), nudged]
    }

    /// Believed of the present run only, and not of a peer in use: a goodbye may be forged. Where
    /// people wait to see who has gone, or only members of the network can say it, it is remembered
    /// until the peer is in use no more.
    private mutating func receiveGoodbye(_ frame: DiscoveryFrame, _ now: Instant) -> [Output] {
        guard let position = table.index(of: frame.peer), table[position].run == frame.run
        else { return [] }
        guard table[position].isInUse else { return remove(at: position) }
        if identity.showsPeers || identity.proves { table[position].goodbyeHeard = now }
        return []
    }

    /// The sender's place in the table, as `admit` gives it.
    private mutating func place(
        of frame: DiscoveryFrame, _ beacon: Beacon, _ now: Instant
    ) -> (position: Int?, outputs: [Output]) {
        if let position = table.index(of: frame.peer) { return (position, []) }
        return admit(
            PeerRecord(peer: frame.peer, run: frame.run, beacon: beacon, lastHeard: now), now)
    }

    /// `isChange` if it says something that we did not know.
    ///
    /// The run heard last counts. Which of two is older cannot be told without a channel: who
    /// ignored runs that once were current would let one replayed beacon of the past hide the peer
    /// for good. So a run is a hint, and costs the listener one `changed` a second at most.
    private mutating func update(
        at position: Int, _ beacon: Beacon, run: RunID, endpoint: Endpoint, _ now: Instant
    ) -> (isChange: Bool, outputs: [Output]) {
        let isFirst = table[position].announcement == .unheard
        let isNewRun = table[position].run != run
        let isChange = isFirst || isNewRun || table[position].beacon != beacon
        let isNewDigest = isFirst || table[position].beacon.infoDigest != beacon.infoDigest
        table[position].heard(beacon, run: run, now: now)
        let candidate = table[position].candidates.heard(at: endpoint, run: run, now: now)
        if isNewDigest { fetchInfo(at: position, now) }
        if isFirst {
            table[position].announcement = .waiting(until: (now + identity.infoTimeout).onGrid)
        }
        let refused: [Output] = candidate == .refused ? [.drop(.beaconEndpointLimit)] : []
        return (isChange || candidate == .added, refused)
    }

    /// Says what is new: to the tie-break at once, to people with the info or not too often.
    private mutating func emitNews(at position: Int, _ now: Instant) -> [Output] {
        let heard = Output.heard(table[position].sighting)
        switch table[position].announcement {
        case .waiting where table[position].infoFetch == .settled:
            return [heard] + announce(at: position, now)
        case .waiting, .unheard: return [heard]
        case .announced: return [heard] + emitChange(at: position, now)
        }
    }

    mutating func announce(at position: Int, _ now: Instant) -> [Output] {
        table[position].announcement = .announced
        table[position].lastChange = now
        table[position].changeDue = nil
        return [.found(table[position].sighting)]
    }

    /// `changed`, now or a second after the last time; with the info that is being asked for.
    mutating func emitChange(at position: Int, _ now: Instant) -> [Output] {
        guard table[position].isAnnounced else { return [] }
        let infoDeadline = table[position].infoMissing + identity.infoTimeout
        if case .requesting = table[position].infoFetch, now < infoDeadline {
            table[position].changeDue = infoDeadline.onGrid
            return []
        }
        if let last = table[position].lastChange, now - last < Limits.changeInterval {
            table[position].changeDue = (last + Limits.changeInterval).onGrid
            return []
        }
        table[position].changeDue = nil
        table[position].lastChange = now
        return [.changed(table[position].sighting)]
    }
}

/// Answers and discovery info.
extension DiscoveryMachine {
    /// Answers a peer that is new, or at an address that is, if one of the two wants the other.
    private mutating func scheduleAnswer(
        at position: Int, to endpoint: Endpoint, received: DiscoveryFrame, beaconServes: Bool,
        _ now: Instant
    ) -> [Output] {
        let record = table[position]
        guard
            record.isAnswerDue(
                at: endpoint, beaconServes: beaconServes, showsPeers: identity.showsPeers),
            record.isInUse || own.isWorthAnswering(record.beacon)
        else { return [] }
        let size = frame(.answer(ownBeacon)).byteCount + identity.proofByteCount
        guard size <= received.byteCount else { return [.drop(.beaconAnswerRate)] }
        let due = now + answerDelay(beaconServes: beaconServes)
        table[position].answer = .init(due: due, endpoint: endpoint, beaconServes: beaconServes)
        return []
    }

    /// All may answer a beacon that all have heard; one beacon of a collector serves all who start.
    private mutating func answerDelay(beaconServes: Bool) -> Duration {
        if answersCallers {
            return beaconServes && table.count > 1 ? Limits.batchBeaconDelay : .zero
        }
        return generator.duration(in: .zero..<Limits.answerSpread * (table.count - 1))
    }

    /// Whoever has the network's secret may call a collector, with many others.
    var answersCallers: Bool { own.role == .collector && identity.proves }

    private mutating func answerInfoRequest(
        _ request: DiscoveryFrame, digest: UInt64, from source: Endpoint, _ now: Instant
    ) -> [Output] {
        guard digest == own.info.digest, !own.info.isEmpty else {
            return [.drop(.discoveryInfoDigest)]
        }
        let reply = frame(.infoReply(own.info))
        guard reply.byteCount + identity.proofByteCount <= request.byteCount,
            take(.infoReply, to: source.address, now)
        else { return [.drop(.beaconAnswerRate)] }
        // It knows us already.
        if let position = table.index(of: request.peer) { table[position].answer = nil }
        return [.unicast(reply, to: source)]
    }

    private mutating func fetchInfo(at position: Int, _ now: Instant) {
        guard table[position].beacon.infoDigest != table[position].info.digest else {
            table[position].infoFetch = .settled
            return
        }
        guard table[position].beacon.infoDigest != 0 else {
            table[position].info = .empty
            table[position].infoFetch = .settled
            return
        }
        table[position].infoMissing = now
        let delay = generator.duration(in: .zero..<Limits.answerSpread * (table.count - 1))
        table[position].infoFetch = .requesting(next: now + delay, tries: 0)
    }

    private mutating func receiveInfo(
        _ info: DiscoveryInfo, from source: Endpoint, of peer: PeerID, _ now: Instant
    ) -> [Output] {
        guard let position = table.index(of: peer), table[position].infoFetch != .settled else {
            return [.drop(.discoveryInfoUnsolicited)]
        }
        guard info.digest == table[position].beacon.infoDigest else {
            return [.drop(.discoveryInfoDigest)]
        }
        table[position].info = info
        table[position].infoFetch = .settled
        table[position].hasReplied = true
        table[position].candidates.markAnswered(source)
        return table[position].isAnnounced
            ? emitChange(at: position, now) : announce(at: position, now)
    }

    /// A frame other than a beacon on a link may leave now.
    mutating func take(
        _ kind: SendBudget.Kind, to address: TransportAddress, _ now: Instant
    ) -> Bool {
        let reserved = links.dueWithinASecond * identity.datagramsPerBeacon
        return budget.take(kind, to: address, reserved: reserved, now: now)
    }
}

extension Limits {
    /// Times the number of other peers known: the longest wait of an answer.
    static let answerSpread: Duration = .milliseconds(10)
    static let answeredBeaconsMax = 4
    static let changeInterval: Duration = .seconds(1)
    static let suspicionInterval: Duration = .seconds(10)
}

extension Beacon {
    /// Where its sender takes datagrams: a multicast leaves from another socket.
    fileprivate func listeningEndpoint(from source: Endpoint, multicast: Bool) -> Endpoint {
        guard multicast, dataPort != 0 else { return source }
        return Endpoint(link: source.link, address: source.address.withPort(dataPort))
    }
}

import NearbyCore
import NearbyWire

/// Sessions with peers, and when their channels are renewed or given up.
extension Node {
    mutating func perform(
        _ output: SessionMachine.Output, of association: Association, hops: Int, _ now: Instant
    ) {
        let peer = association.peer
        switch output {
        // What was delivered stays so, whatever became of the association meanwhile.
        case .frame, .broken:
            guard peers[peer] === association else { return }
        case .delivered, .drop: break
        }
        switch output {
        case .frame(let payload, let priority): enqueue(payload, to: peer, priority, now)
        case .delivered(let message, isReliable: false):
            tell(.message(message, from: peer, isReliable: false, hops: hops))
        case .delivered(let message, isReliable: true):
            switch peers.accept(message, from: peer) {
            case .success(let plain):
                tell(.message(plain, from: peer, isReliable: true, hops: hops))
            case .failure(let refusal): drops.count(refusal.reason)
            }
        case .drop(let reason): drops.count(reason)
        case .broken:
            if let channel = channels[association.token] { close(channel, .dropped, now) }
        }
    }

    /// What was measured on the old path says nothing of the new one.
    mutating func pathChanged(of association: Association, to hop: PeerID?, _ now: Instant) {
        guard let hop, hop != association.firstHop else { return }
        let isFirst = association.firstHop == nil
        association.firstHop = hop
        guard !isFirst else { return }
        tell(association, .pathReset, now)
    }

    /// Routing found or lost the way to a peer.
    mutating func reachabilityChanged(_ peer: PeerID, nextHop: PeerID?, _ now: Instant) {
        guard let association = peers[peer] else {
            if nextHop != nil { tellAddressees(.reachable(peer), now) }
            return
        }
        let isNeighbour = peers.isNeighbour(peer)
        if nextHop != nil || isNeighbour {
            pathChanged(of: association, to: isNeighbour ? peer : nextHop, now)
            association.unreachableSince = nil
        } else if association.unreachableSince == nil {
            association.unreachableSince = now
        }
    }

    mutating func associationDeadlineReached(_ association: Association, _ now: Instant) {
        tell(association, .deadlineReached, now)
        if let resumption = association.resumption, resumption.until <= now {
            association.resumption = nil
            tellInvitation(.failed(association.peer, resumption.attempt), now)
        }
        if now >= association.rekeyAt { renewKeys(association, now) }
        if now >= association.silenceCheckAt { checkSilence(of: association, now) }
        guard let since = association.unreachableSince, now >= since + Limits.unreachableTime else {
            return
        }
        guard let channel = channels[association.token] else { return dissociate(association, now) }
        close(channel, .leaving, now)
    }

    /// The peer is gone: its hop, its session and its state in the tie-break.
    mutating func dissociate(_ association: Association, _ now: Instant) {
        let peer = association.peer
        if let neighbour = peers.removeNeighbour(peer) { lost(neighbour, now) }
        guard peers.remove(peer) != nil else { return }
        if let resumption = association.resumption {
            tellInvitation(.failed(peer, resumption.attempt), now)
        }
        tell(.peer(peer, .notConnected))
        // After what routing says of the lost hop.
        work.add(.addresseesHear(.dissociated(peer)))
    }

    // MARK: New keys

    /// By a new handshake beside the old channel; only its client begins. What got no answer within
    /// a second, then two and so on, is begun anew.
    private mutating func renewKeys(_ association: Association, _ now: Instant) {
        guard let channel = channels[association.token], channel.isClient else {
            association.rekeyAt = .distantFuture
            return
        }
        association.isRenewing = true
        association.rekeyAt = now + association.rekeyRetry
        association.rekeyRetry = min(association.rekeyRetry * 2, Limits.rekeyRetryMax)
        let number = channel.attemptNumber &+ 1
        let attempts = channels.attempts(with: association.peer, number: number)
        for attempt in attempts where !attempt.isAnswered { channels.remove(attempt) }
        guard attempts.allSatisfy({ !$0.isAnswered }) else { return }
        let neighbour = peers.neighbour(association.peer)
        let path = neighbour.map { Path.link($0.endpoint) } ?? channel.path
        beginHandshake(with: association.peer, over: path, attempt: number, now)
    }

    // MARK: Silence

    /// A peer that is no neighbour and silent is asked whether it is there, and given up if it does
    /// not answer.
    private mutating func checkSilence(of association: Association, _ now: Instant) {
        association.silenceCheckAt = now + Limits.meshProbeInterval
        guard let channel = channels[association.token] else { return }
        let due = channel.heardAt + Limits.meshSilenceMax
        if peers.isNeighbour(association.peer) || now < due {
            association.silenceProbes = 0
            association.silenceCheckAt = max(due, association.silenceCheckAt)
            return
        }
        guard association.silenceProbes < Limits.meshProbesMax else {
            return close(channel, .leaving, now)
        }
        association.silenceProbes += 1
        let question = PathFrame(isResponse: false, token: random.next())
        send(question.bytes, on: channel, over: .mesh(association.peer.short), now)
    }
}

extension Limits {
    /// Between attempts to renew the keys of a channel; doubles to the maximum.
    static let rekeyRetry = Duration.seconds(1)
    static let rekeyRetryMax = Duration.seconds(4)
    /// How long nothing may come over a channel through the mesh before its peer is asked.
    static let meshSilenceMax = Duration.seconds(120)
    static let meshProbeInterval = Duration.seconds(10)
    static let meshProbesMax = 3
}

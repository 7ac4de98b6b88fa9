import NearbyCore
import NearbyWire

/// What happens because time passes.
extension DiscoveryMachine {
    mutating func serviceDeadlines(_ now: Instant) -> [Output] {
        var outputs = links.due <= now ? sendBeacons(now) : []
        if table.wake <= now { outputs += servicePeers(now) }
        if statics.due <= now { outputs += sendProbes(now) }
        return outputs
    }

    private mutating func sendBeacons(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        let beacon = frame(.beacon(ownBeacon))
        for (link, alsoBroadcast) in links.fire(content: isContent, now: now, using: &generator) {
            let broadcasts = alsoBroadcast ? 1 : 0
            budget.countBeacons(identity.datagramsPerBeacon + broadcasts, now: now)
            outputs.append(.multicast(beacon, on: link))
            if alsoBroadcast { outputs.append(.broadcast(beacon, on: link)) }
            table.dropAnswers(servedBy: link)
        }
        return outputs
    }

    private mutating func servicePeers(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        // From the back: a removal moves the last record, looked at already, into the gap.
        for position in table.deadlines.indices.reversed() where table.deadlines[position] <= now {
            outputs += servicePeer(at: position, now)
        }
        table.renewWake()
        return outputs
    }

    private mutating func servicePeer(at position: Int, _ now: Instant) -> [Output] {
        if table[position].expiry <= now { return remove(at: position) }
        var outputs: [Output] = []
        if let answer = table[position].answer, answer.due <= now {
            outputs += sendAnswer(answer, from: position, now)
        }
        if case .requesting(let next, let tries) = table[position].infoFetch, next <= now {
            outputs += sendInfoRequest(at: position, tries: tries, now)
        }
        if case .waiting(let until) = table[position].announcement, until <= now {
            outputs += announce(at: position, now)
        }
        if let due = table[position].changeDue, due <= now {
            outputs += emitChange(at: position, now)
        }
        return outputs
    }

    private mutating func sendAnswer(
        _ answer: PeerRecord.PendingAnswer, from position: Int, _ now: Instant
    ) -> [Output] {
        if answer.beaconServes, let beacon = batchBeacon(on: answer.endpoint.link, now) {
            return beacon
        }
        let kind = answersCallers && !answer.beaconServes ? SendBudget.Kind.callerAnswer : .answer
        guard take(kind, to: answer.endpoint.address, now) else {
            // Its next beacon may be half a minute away.
            guard answersCallers else {
                table[position].answered()
                return [.drop(.beaconAnswerRate)]
            }
            let due = (now + generator.duration(in: Limits.answerPause)).onGrid
            table[position].answer?.due = due
            return []
        }
        table[position].answered()
        return [.unicast(frame(.answer(ownBeacon)), to: answer.endpoint)]
    }

    /// One beacon in place of many answers, at a collector where many start at once.
    private mutating func batchBeacon(on link: LinkID, _ now: Instant) -> [Output]? {
        guard answersCallers, links.broadcasting.contains(link),
            table.answerCount(servedBy: link) >= Limits.batchBeaconAnswers,
            budget.hasRoom(forBeacon: identity.datagramsPerBeacon, now: now)
        else { return nil }
        budget.countBeacons(identity.datagramsPerBeacon, now: now)
        table.dropAnswers(servedBy: link)
        return [.multicast(frame(.beacon(ownBeacon)), on: link)]
    }

    /// Asks at the candidates in turn, six times at most, 1 s doubling apart. Waits while this node
    /// is full or has sent enough for now.
    private mutating func sendInfoRequest(
        at position: Int, tries: Int, _ now: Instant
    ) -> [Output] {
        let endpoints = table[position].sighting.endpoints
        guard tries < Limits.infoTriesMax, !endpoints.isEmpty else {
            table[position].infoFetch = .abandoned
            return []
        }
        let endpoint = endpoints[tries % endpoints.count]
        guard !own.flags.contains(.full), take(.request, to: endpoint.address, now) else {
            // A crowd waits longer: looking at it is work too.
            let wait = generator.duration(in: Limits.infoRetryDelay) * max(1, table.count / 32)
            table[position].infoFetch = .requesting(next: (now + wait).onGrid, tries: tries)
            return []
        }
        let pause = Duration.milliseconds(1_050) * (1 << tries)
        table[position].infoFetch = .requesting(next: (now + pause).onGrid, tries: tries + 1)
        let digest = table[position].beacon.infoDigest
        return [.unicast(frame(.infoRequest(digest: digest)), to: endpoint)]
    }

    private mutating func sendProbes(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        while statics.due <= now {
            guard let probe = statics.takeDue(now: now, using: &generator) else { break }
            if probe.kind == .remembered, !links.isSilent(probe.endpoint.link, now: now) {
                continue
            }
            if case .advertised = probe.kind, probe.isHeard { continue }
            // What does not fit into this second has its next turn instead.
            guard take(.request, to: probe.endpoint.address, now) else { continue }
            outputs.append(.unicast(frame(.beacon(ownBeacon)), to: probe.endpoint))
        }
        return outputs
    }
}

extension Limits {
    /// Before a collector tries again to answer what did not fit into this second.
    static let answerPause = Duration.milliseconds(100)..<Duration.milliseconds(300)
    static let infoTriesMax = 6
    static let infoRetryDelay = Duration.milliseconds(500)..<Duration.milliseconds(1_500)
}

extension Instant {
    /// Deadlines of peers that are not urgent fall on a 10 ms grid, so that a thousand of them cost
    /// a hundred looks at the table a second.
    var onGrid: Instant {
        let step: Int64 = 10_000_000
        return Instant(nanoseconds: (nanoseconds / step).addingSaturating(1) * step)
    }
}

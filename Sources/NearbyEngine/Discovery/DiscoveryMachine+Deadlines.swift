import NearbyCore
import NearbyWire

/// What happens because time passes.
extension DiscoveryMachine {
    mutating func serviceDeadlines() -> [Output] {
        var outputs = links.due <= now ? sendBeacons() : []
        if table.wake <= now { outputs += servicePeers() }
        if statics.due <= now { outputs += sendProbes() }
        return outputs
    }

    private mutating func sendBeacons() -> [Output] {
        var outputs: [Output] = []
        let beacon = frame(.beacon(ownBeacon))
        for (link, alsoBroadcast) in links.fire(content: isContent, now: now, using: &generator) {
            let broadcasts = alsoBroadcast ? 1 : 0
            budget.countBeacons(identity.datagramsPerBeacon + broadcasts, now: now)
            outputs.append(.multicast(beacon, on: link))
            if alsoBroadcast { outputs.append(.broadcast(beacon, on: link)) }
            dropAnswers(servedBy: link)
        }
        return outputs
    }

    /// Those who wait for an answer on this link have just heard us.
    private mutating func dropAnswers(servedBy link: LinkID) {
        for position in table.records.indices {
            guard let answer = table.records[position].answer else { continue }
            if answer.beaconServes, answer.endpoint.link == link { table[position].answer = nil }
        }
    }

    private mutating func servicePeers() -> [Output] {
        var outputs: [Output] = []
        // From the back: a removal moves the last record, which was looked at already, into the
        // gap.
        for position in table.deadlines.indices.reversed() where table.deadlines[position] <= now {
            outputs += servicePeer(at: position)
        }
        table.renewWake()
        return outputs
    }

    private mutating func servicePeer(at position: Int) -> [Output] {
        if table[position].expiry <= now { return remove(at: position) }
        var outputs: [Output] = []
        if let answer = table[position].answer, answer.due <= now {
            outputs += sendAnswer(answer, from: position)
        }
        if case .asking(let next, let tries) = table[position].infoFetch, next <= now {
            outputs += sendInfoRequest(at: position, tries: tries)
        }
        if case .waiting(let until) = table[position].announcement, until <= now {
            outputs += announce(at: position)
        }
        if let due = table[position].changeDue, due <= now { outputs += noteChange(at: position) }
        return outputs
    }

    private mutating func sendAnswer(
        _ answer: PeerRecord.PendingAnswer, from position: Int
    ) -> [Output] {
        table[position].answer = nil
        guard take(.answer, to: answer.endpoint.address) else { return [.drop(.beaconAnswerRate)] }
        return [.unicast(frame(.answer(ownBeacon)), to: answer.endpoint)]
    }

    /// Asks at the candidates in turn, six times at most, 1 s doubling apart. Waits while this node
    /// is full or has sent enough for now.
    private mutating func sendInfoRequest(at position: Int, tries: Int) -> [Output] {
        let endpoints = table[position].sighting.endpoints
        guard tries < Self.infoTriesMax, !endpoints.isEmpty else {
            table[position].infoFetch = .givenUp
            return []
        }
        let endpoint = endpoints[tries % endpoints.count]
        guard !own.flags.contains(.full), take(.request, to: endpoint.address) else {
            // A crowd waits longer: looking at it is work too.
            let wait = generator.duration(in: Self.postponement) * max(1, table.count / 32)
            table[position].infoFetch = .asking(next: grid(now + wait), tries: tries)
            return []
        }
        let pause = Duration.milliseconds(1_050) * (1 << tries)
        table[position].infoFetch = .asking(next: grid(now + pause), tries: tries + 1)
        let digest = table[position].beacon.infoDigest
        return [.unicast(frame(.infoRequest(digest: digest)), to: endpoint)]
    }

    private mutating func sendProbes() -> [Output] {
        var outputs: [Output] = []
        while statics.due <= now {
            guard let probe = statics.takeDue(now: now, using: &generator) else { break }
            if probe.kind == .remembered, !links.isSilent(probe.endpoint.link, now: now) {
                continue
            }
            if case .advertised = probe.kind, probe.isHeard { continue }
            // What does not fit into this second has its next turn instead.
            guard take(.request, to: probe.endpoint.address) else { continue }
            outputs.append(.unicast(frame(.beacon(ownBeacon)), to: probe.endpoint))
        }
        return outputs
    }

    private static let infoTriesMax = 6
    private static let postponement = Duration.milliseconds(500)..<Duration.milliseconds(1_500)
}

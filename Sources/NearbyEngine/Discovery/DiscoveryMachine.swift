import NearbyCore
import NearbyWire

/// Who is near: takes frames from any source and says found, changed, lost; sends beacons and answers.
///
/// Nothing that an outsider can replay or invent reaches further than this table: it is bounded, peers in
/// use are never displaced, and answers are rare and no larger than what they answer.
public struct DiscoveryMachine: Sendable {
    public enum Input: Sendable {
        case linkUp(LinkID)
        case linkDown(LinkID)
        /// A frame whose proof was right.
        case received(DiscoveryFrame, from: Endpoint)
        case ownChanged(DiscoveryFrame.Presence)
        /// A channel with the peer is open, or no more.
        case inUse(PeerID, Bool)
        /// Has all the neighbours that it wants: beacons are not hastened for others.
        case content(Bool)
        case staticPeers([Endpoint])
        /// Tell the peer at this address that we want it, or that we know nothing of its channel.
        case nudge(at: Endpoint, attempt: UInt16)
        case deadlineReached
    }

    public enum Output: Equatable, Sendable {
        case multicast(DiscoveryFrame, on: LinkID)
        case unicast(DiscoveryFrame, to: Endpoint)
        case found(Sighting)
        case changed(Sighting)
        case lost(PeerID)
        case nudged(PeerID, RunID, attempt: UInt16)
        /// Our own PeerID with another run id: perhaps a cloned card.
        case ownIdentityElsewhere(Endpoint)
        case drop(DropReason)
    }

    private let own: PeerID
    private let run: RunID
    private let network: NetworkTag
    private let dataPort: UInt16
    private let info: DiscoveryInfo
    private let sendsBeacons: Bool
    private var presence: DiscoveryFrame.Presence
    private var random: SeededGenerator
    private var beacons: [LinkID: Trickle] = [:]
    private var statics: [Endpoint: Trickle] = [:]
    private var entries: [PeerID: SightingEntry] = [:]
    private var answers: [(due: Instant, peer: PeerID, to: Endpoint)] = []
    private var nudgedAt: [(endpoint: Endpoint, at: Instant)] = []
    private var budget = Double(Limits.discoveryAnswersPerSecond)
    private var budgetAt = Instant.zero
    private var isContent = false
    private var nextExpiry: Instant?
    private var nextPatience: Instant?

    public init(
        own: PeerID, run: RunID, network: NetworkTag, dataPort: UInt16, info: DiscoveryInfo,
        presence: DiscoveryFrame.Presence, sendsBeacons: Bool = true, seed: UInt64
    ) {
        self.own = own
        self.run = run
        self.network = network
        self.dataPort = dataPort
        self.info = info
        self.presence = presence
        self.sendsBeacons = sendsBeacons
        random = SeededGenerator(seed: seed)
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .linkUp(let link):
            if sendsBeacons, beacons[link] == nil { beacons[link] = Trickle(now: now) }
        case .linkDown(let link): linkDown(link, &outputs)
        case .received(let frame, let endpoint): received(frame, endpoint, now, &outputs)
        case .ownChanged(let presence): ownChanged(presence, now)
        case .inUse(let peer, let isInUse):
            entries[peer]?.isInUse = isInUse
            if !isInUse { entries[peer]?.lastHeard = now }
            if isInUse { answers.removeAll { $0.peer == peer } }
        case .content(let content):
            if isContent, !content { hasten(now) }
            isContent = content
        case .staticPeers(let endpoints):
            let wanted = endpoints.prefix(Limits.staticPeersMax)
            statics = statics.filter { wanted.contains($0.key) }
            for endpoint in wanted where statics[endpoint] == nil {
                statics[endpoint] = Trickle(now: now)
            }
        case .nudge(let endpoint, let attempt): nudge(endpoint, attempt, now, &outputs)
        case .deadlineReached: break
        }
        sendDue(now, &outputs)
        expire(now, &outputs)
        return outputs
    }

    public var nextDeadline: Instant? {
        var earliest = min(nextExpiry ?? .distantFuture, nextPatience ?? .distantFuture)
        for trickle in beacons.values { earliest = min(earliest, trickle.next) }
        for trickle in statics.values { earliest = min(earliest, trickle.next) }
        for answer in answers { earliest = min(earliest, answer.due) }
        return earliest == .distantFuture ? nil : earliest
    }

    public var peerCount: Int { entries.count }

    public func sighting(of peer: PeerID) -> Sighting? { entries[peer]?.sighting(of: peer) }

    // MARK: Receiving

    private mutating func received(
        _ frame: DiscoveryFrame, _ source: Endpoint, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard frame.network == network else { return outputs.append(.drop(.beaconStrangeNetwork)) }
        guard WireVersion.agreed(frame.versions, WireVersion.spoken) != nil else {
            return outputs.append(.drop(.beaconVersion))
        }
        guard frame.peer != own else {
            outputs.append(frame.run == run ? .drop(.beaconEcho) : .ownIdentityElsewhere(source))
            return
        }
        let endpoint = source.with(port: frame.dataPort)
        switch frame.body {
        case .beacon(let theirs):
            heard(frame, theirs, endpoint, now, &outputs)
            planAnswer(to: frame.peer, theirs, endpoint, now, &outputs)
        case .answer(let theirs): heard(frame, theirs, endpoint, now, &outputs)
        case .nudge(let attempt):
            if entries[frame.peer] == nil {
                let unknown = DiscoveryFrame.Presence(
                    role: .agent, flags: .wantsNeighbours, costToCollector: .max, infoDigest: 0)
                heard(frame, unknown, endpoint, now, &outputs)
            } else {
                refresh(frame, endpoint, now, &outputs)
            }
            outputs.append(.nudged(frame.peer, frame.run, attempt: attempt))
        case .infoRequest: answerInfo(endpoint, now, &outputs)
        case .infoReply(let info): infoReceived(info, from: frame.peer, &outputs)
        }
    }

    private mutating func heard(
        _ frame: DiscoveryFrame, _ theirs: DiscoveryFrame.Presence, _ endpoint: Endpoint,
        _ now: Instant, _ outputs: inout [Output]
    ) {
        guard var entry = entries[frame.peer] else {
            return addEntry(frame, theirs, endpoint, now, &outputs)
        }
        let before = entry.sighting(of: frame.peer)
        entry.lastHeard = now
        entry.heard(at: endpoint)
        entry.run = frame.run
        entry.presence = theirs
        entries[frame.peer] = entry
        askInfo(frame.peer, endpoint, now, &outputs)
        let after = entry.sighting(of: frame.peer)
        if entry.isAnnounced, before != after { outputs.append(.changed(after)) }
    }

    /// A nudge tells the run and the address, and nothing else.
    private mutating func refresh(
        _ frame: DiscoveryFrame, _ endpoint: Endpoint, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard var entry = entries[frame.peer] else { return }
        let before = entry.sighting(of: frame.peer)
        entry.lastHeard = now
        entry.heard(at: endpoint)
        entry.run = frame.run
        entries[frame.peer] = entry
        let after = entry.sighting(of: frame.peer)
        if entry.isAnnounced, before != after { outputs.append(.changed(after)) }
    }

    private mutating func addEntry(
        _ frame: DiscoveryFrame, _ theirs: DiscoveryFrame.Presence, _ endpoint: Endpoint,
        _ now: Instant, _ outputs: inout [Output]
    ) {
        if entries.count >= Limits.sightingsMax, !evict(&outputs) {
            return outputs.append(.drop(.discoveryTableFull))
        }
        let entry = SightingEntry(frame: frame, presence: theirs, endpoint: endpoint, now: now)
        entries[frame.peer] = entry
        nextExpiry = min(nextExpiry ?? .distantFuture, now + Limits.sightingTime)
        if entry.info != nil { return announce(frame.peer, &outputs) }
        nextPatience = min(nextPatience ?? .distantFuture, entry.announceBy)
        askInfo(frame.peer, endpoint, now, &outputs)
    }

    /// Makes room: the one that is not in use and was not heard for the longest time.
    private mutating func evict(_ outputs: inout [Output]) -> Bool {
        let oldest = entries.filter { !$0.value.isInUse }
            .min { ($0.value.lastHeard, $0.key) < ($1.value.lastHeard, $1.key) }
        guard let oldest else { return false }
        entries[oldest.key] = nil
        answers.removeAll { $0.peer == oldest.key }
        outputs.append(.drop(.discoveryTableFull))
        if oldest.value.isAnnounced { outputs.append(.lost(oldest.key)) }
        return true
    }

    private mutating func announce(_ peer: PeerID, _ outputs: inout [Output]) {
        guard let entry = entries[peer] else { return }
        entries[peer]?.isAnnounced = true
        let sighting = entry.sighting(of: peer)
        outputs.append(entry.isAnnounced ? .changed(sighting) : .found(sighting))
    }

    // MARK: Discovery info

    private mutating func askInfo(
        _ peer: PeerID, _ endpoint: Endpoint, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard let entry = entries[peer], !entry.hasCurrentInfo else { return }
        if let asked = entry.infoAsked, now - asked < Limits.infoPatience { return }
        guard spend(now, &outputs) else { return }
        entries[peer]?.infoAsked = now
        outputs.append(.unicast(frame(.infoRequest), to: endpoint))
    }

    private mutating func answerInfo(
        _ endpoint: Endpoint, _ now: Instant, _ outputs: inout [Output]
    ) {
        guard spend(now, &outputs) else { return }
        outputs.append(.unicast(frame(.infoReply(info)), to: endpoint))
    }

    private mutating func infoReceived(
        _ info: DiscoveryInfo, from peer: PeerID, _ outputs: inout [Output]
    ) {
        guard let entry = entries[peer], entry.infoAsked != nil,
            info.digest == entry.presence.infoDigest
        else { return outputs.append(.drop(.discoveryInfoDigest)) }
        guard !entry.hasCurrentInfo else { return }
        entries[peer]?.info = info
        announce(peer, &outputs)
    }

    // MARK: Sending

    /// Answers a newcomer that we want, or that should want us: after a random time that grows with the
    /// number of those who may answer too.
    private mutating func planAnswer(
        to peer: PeerID, _ theirs: DiscoveryFrame.Presence, _ endpoint: Endpoint, _ now: Instant,
        _ outputs: inout [Output]
    ) {
        guard let entry = entries[peer], !entry.isInUse, answers.count < Limits.answersWaitingMax,
            !answers.contains(where: { $0.peer == peer })
        else { return }
        let wantsIt = presence.flags.contains(.wantsNeighbours)
        let shouldWantUs =
            theirs.flags.contains(.wantsNeighbours) && !presence.flags.contains(.isFull)
        guard wantsIt || shouldWantUs else { return }
        if let answered = entry.answeredAt, now - answered < .seconds(1) { return }
        let spread = Duration.milliseconds(10) * min(entries.count, 100)
        answers.append((now + random.duration(in: .zero..<spread), peer, endpoint))
    }

    private mutating func sendDue(_ now: Instant, _ outputs: inout [Output]) {
        for link in beacons.keys.sorted()
        where beacons[link]?.isDue(now: now, random: &random) == true {
            outputs.append(.multicast(frame(.beacon(presence)), on: link))
        }
        for endpoint in statics.keys.sorted()
        where statics[endpoint]?.isDue(now: now, random: &random) == true && !isReached(endpoint) {
            outputs.append(.unicast(frame(.beacon(presence)), to: endpoint))
        }
        let due = answers.filter { $0.due <= now }
        guard !due.isEmpty else { return }
        answers.removeAll { $0.due <= now }
        for answer in due where spend(now, &outputs) {
            entries[answer.peer]?.answeredAt = now
            outputs.append(.unicast(frame(.answer(presence)), to: answer.to))
        }
    }

    private mutating func nudge(
        _ endpoint: Endpoint, _ attempt: UInt16, _ now: Instant, _ outputs: inout [Output]
    ) {
        nudgedAt.removeAll { now - $0.at >= .milliseconds(500) }
        guard nudgedAt.count < Limits.answersWaitingMax,
            !nudgedAt.contains(where: { $0.endpoint == endpoint }), spend(now, &outputs)
        else { return }
        nudgedAt.append((endpoint, now))
        outputs.append(.unicast(frame(.nudge(attempt: attempt)), to: endpoint))
    }

    private func frame(_ body: DiscoveryFrame.Body) -> DiscoveryFrame {
        DiscoveryFrame(network: network, peer: own, run: run, dataPort: dataPort, body: body)
    }

    /// A token bucket over all unicast frames.
    private mutating func spend(_ now: Instant, _ outputs: inout [Output]) -> Bool {
        let rate = Double(Limits.discoveryAnswersPerSecond)
        let elapsed = Double((now - budgetAt).nanoseconds) / 1e9
        budget = min(rate, budget + max(elapsed, 0) * rate)
        budgetAt = now
        guard budget >= 1 else {
            outputs.append(.drop(.beaconAnswerRate))
            return false
        }
        budget -= 1
        return true
    }

    private func isReached(_ endpoint: Endpoint) -> Bool {
        entries.values.contains {
            $0.isInUse && $0.endpoints.contains { $0.address == endpoint.address }
        }
    }

    // MARK: Time and change

    private mutating func ownChanged(_ changed: DiscoveryFrame.Presence, _ now: Instant) {
        let isNews =
            (changed.costToCollector == .max) != (presence.costToCollector == .max)
            || changed.flags != presence.flags
        presence = changed
        if isNews { hasten(now) }
    }

    private mutating func hasten(_ now: Instant) {
        for link in beacons.keys.sorted() { beacons[link]?.hasten(now: now, random: &random) }
        for endpoint in statics.keys.sorted() {
            statics[endpoint]?.hasten(now: now, random: &random)
        }
    }

    private mutating func linkDown(_ link: LinkID, _ outputs: inout [Output]) {
        beacons[link] = nil
        answers.removeAll { $0.to.link == link }
        for peer in entries.keys.sorted() {
            guard var entry = entries[peer], entry.endpoints.contains(where: { $0.link == link })
            else {
                continue
            }
            entry.endpoints.removeAll { $0.link == link }
            entries[peer] = entry.endpoints.isEmpty ? nil : entry
            if entry.isAnnounced {
                outputs.append(
                    entry.endpoints.isEmpty ? .lost(peer) : .changed(entry.sighting(of: peer)))
            }
        }
    }

    private mutating func expire(_ now: Instant, _ outputs: inout [Output]) {
        if let patience = nextPatience, now >= patience {
            nextPatience = nil
            for peer in entries.keys.sorted() {
                guard let entry = entries[peer], !entry.isAnnounced else { continue }
                if now >= entry.announceBy {
                    announce(peer, &outputs)
                } else {
                    nextPatience = min(nextPatience ?? .distantFuture, entry.announceBy)
                }
            }
        }
        guard let expiry = nextExpiry, now >= expiry else { return }
        nextExpiry = nil
        for peer in entries.keys.sorted() {
            guard let entry = entries[peer], !entry.isInUse else { continue }
            let end = entry.lastHeard + Limits.sightingTime
            if now >= end {
                entries[peer] = nil
                if entry.isAnnounced { outputs.append(.lost(peer)) }
            } else {
                nextExpiry = min(nextExpiry ?? .distantFuture, end)
            }
        }
        if nextExpiry == nil, !entries.isEmpty { nextExpiry = now + Limits.sightingTime }
    }
}

extension Endpoint {
    /// The same place with another port; what has no ports stays.
    func with(port: UInt16) -> Endpoint {
        switch address {
        case .ipv4(let value, _): Endpoint(link: link, address: .ipv4(address: value, port: port))
        case .ipv6(let high, let low, _):
            Endpoint(link: link, address: .ipv6(high: high, low: low, port: port))
        case .simulated: self
        }
    }
}

extension Limits {
    public static let staticPeersMax = 64
    /// Answers and nudges that wait or are remembered.
    public static let answersWaitingMax = 64
}

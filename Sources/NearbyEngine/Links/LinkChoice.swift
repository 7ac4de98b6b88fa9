import NearbyCore

/// A place where a neighbour is, or may be, and what the link there is made of.
public struct LinkPath: Hashable, Sendable {
    public var endpoint: Endpoint
    public var linkClass: LinkClass

    public init(endpoint: Endpoint, linkClass: LinkClass) {
        self.endpoint = endpoint
        self.linkClass = linkClass
    }
}

/// Over which of several links one neighbour is addressed, under one channel.
///
/// A way is proved by a challenge that came back over it, and proved again now and then, so that
/// one that is ready can take over at once. The cheapest class wins. Of ways of one class the side
/// that decides stays with the one it has, and the other follows: otherwise each would follow the
/// other for ever.
public struct LinkChoice: Sendable {
    public enum Input: Equatable, Sendable {
        /// A challenge came back from there.
        case answered(LinkPath)
        /// A new channel was opened there.
        case opened(LinkPath)
        /// A frame of the neighbour came from there, unasked.
        case heard(LinkPath)
        /// It asks from there whether we answer: what we send otherwise does not reach it.
        case probed(LinkPath)
        /// Where discovery says that it may be, best first.
        case candidates([LinkPath])
        /// What goes out over the way in use is not answered.
        case suspected
        /// It is answered again.
        case recovered
        case linkDown(LinkID)
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        case challenge(Endpoint)
        /// From now on it is addressed there.
        case use(LinkPath)
        /// The way in use is gone, and no other is proved.
        case lost
    }

    private struct Known: Sendable {
        var path: LinkPath
        var provedAt: Instant?
        var heardAt: Instant?
        /// Frames from there since one came over the way in use.
        var heardCount = 0
        var askedAt: Instant?
        /// Challenges in a row that did not come back.
        var missedAcknowledgements = 0
        /// The next challenge, while it is not in use.
        var next: Instant
        /// Failed in use: not used again before.
        var avoidedUntil = Instant.zero
        var failures = 0
    }

    private let decides: Bool
    private var known: [Known] = []
    public private(set) var used: LinkPath
    private var usedSince: Instant
    private var isSuspected = false

    /// - Parameters:
    ///   - way: proved just now; it is in use.
    ///   - decides: of the two, the one with the lower PeerID.
    public init(path: LinkPath, decides: Bool, now: Instant) {
        used = path
        usedSince = now
        self.decides = decides
        known = [Known(path: path, provedAt: now, heardAt: now, next: .distantFuture)]
    }

    public var nextDeadline: Instant? {
        var earliest = Instant.distantFuture
        for other in known where other.path.endpoint != used.endpoint {
            earliest = min(earliest, other.next)
        }
        return earliest == .distantFuture ? nil : earliest
    }

    /// Ways that are proved, that in use among them.
    public var provedCount: Int { known.count { $0.provedAt != nil } }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .answered(let path): return answered(path, now)
        case .opened(let path):
            let outputs = answered(path, now)
            guard path.endpoint != used.endpoint, let index = index(of: path, now) else {
                return outputs
            }
            return take(index, now)
        case .heard(let path): return heard(path, now)
        case .probed(let path): return probed(path, now)
        case .candidates(let paths): return considered(paths, now)
        case .suspected: return suspected(now)
        case .recovered:
            isSuspected = false
            return []
        case .linkDown(let link): return linkDown(link, now)
        case .deadlineReached: return ask(now)
        }
    }

    // MARK: Signs of life

    private mutating func answered(_ path: LinkPath, _ now: Instant) -> [Output] {
        guard let index = index(of: path, now) else { return [] }
        known[index].provedAt = now
        known[index].heardAt = now
        known[index].missedAcknowledgements = 0
        let avoided = known[index].avoidedUntil
        known[index].next = avoided > now ? avoided : now + Self.upkeep(path.linkClass)
        if path.endpoint == used.endpoint {
            used = path
            isSuspected = false
            return []
        }
        return reconsider(index, now)
    }

    private mutating func heard(_ path: LinkPath, _ now: Instant) -> [Output] {
        guard let index = index(of: path, now) else { return [] }
        known[index].heardAt = now
        if path.endpoint == used.endpoint {
            for other in known.indices { known[other].heardCount = 0 }
            return []
        }
        known[index].heardCount += 1
        guard known[index].provedAt != nil else { return challenge(index, now) }
        return reconsider(index, now)
    }

    private mutating func probed(_ path: LinkPath, _ now: Instant) -> [Output] {
        let outputs = heard(path, now)
        guard path.endpoint != used.endpoint, usedSilence(now) >= Self.probedPatience,
            let index = index(of: path, now), known[index].provedAt != nil
        else { return outputs }
        return outputs + take(index, now)
    }

    private func usedSilence(_ now: Instant) -> Duration {
        now - (known.first { $0.path.endpoint == used.endpoint }?.heardAt ?? .zero)
    }

    /// Takes another way, proved, if there is a reason to.
    private mutating func reconsider(_ index: Int, _ now: Instant) -> [Output] {
        guard now >= known[index].avoidedUntil || isSuspected else { return [] }
        let candidate = known[index].path
        let silence = usedSilence(now)
        let isBetter = candidate.linkClass.cost < used.linkClass.cost
        let isSame = candidate.linkClass == used.linkClass
        let isHeard = known[index].heardAt.map { now - $0 < Self.silence } ?? false
        let follows = isSame && !decides && isHeard && silence >= Self.patience
        let patience = known[index].heardCount < Self.evidence ? Self.silence : Self.patience * 2
        guard isSuspected || isBetter || follows || isHeard && silence >= patience else {
            return []
        }
        return take(index, now)
    }

    private mutating func take(_ index: Int, _ now: Instant) -> [Output] {
        if let before = known.firstIndex(where: { $0.path.endpoint == used.endpoint }) {
            known[before].missedAcknowledgements = 0
            known[before].next = now + Self.repetition
            if isSuspected { failed(before, now) }
        }
        used = known[index].path
        usedSince = now
        known[index].heardAt = now
        for other in known.indices { known[other].heardCount = 0 }
        isSuspected = false
        return [.use(used)]
    }

    /// A way that keeps failing rests longer each time.
    private mutating func failed(_ index: Int, _ now: Instant) {
        if now - usedSince > Self.trust { known[index].failures = 0 }
        known[index].avoidedUntil = now + Self.avoidance * (1 << known[index].failures)
        known[index].failures = min(known[index].failures + 1, 5)
        known[index].provedAt = nil
    }

    // MARK: Trouble

    private mutating func suspected(_ now: Instant) -> [Output] {
        isSuspected = true
        if let other = bestProved(now) { return take(other, now) }
        // Whoever answers first takes over.
        var outputs: [Output] = []
        for index in known.indices where known[index].path.endpoint != used.endpoint {
            outputs += challenge(index, now)
        }
        return outputs
    }

    private mutating func linkDown(_ link: LinkID, _ now: Instant) -> [Output] {
        let wasUsed = used.endpoint.link == link
        known.removeAll { $0.path.endpoint.link == link }
        guard wasUsed else { return [] }
        guard let other = bestProved(now) else { return [.lost] }
        return take(other, now)
    }

    private func bestProved(_ now: Instant) -> Int? {
        known.indices.filter {
            known[$0].path.endpoint != used.endpoint && known[$0].provedAt != nil
                && known[$0].missedAcknowledgements < 2
        }.min { rank(known[$0]) < rank(known[$1]) }
    }

    private func rank(_ one: Known) -> (UInt16, Endpoint) {
        (one.path.linkClass.cost, one.path.endpoint)
    }

    // MARK: Challenges

    /// One way a link is enough to stand by; a link that has one is left alone.
    private mutating func considered(_ paths: [LinkPath], _ now: Instant) -> [Output] {
        for path in paths
        where !known.contains(where: { $0.path.endpoint.link == path.endpoint.link }) {
            _ = index(of: path, now)
        }
        return ask(now)
    }

    private mutating func ask(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for index in known.indices
        where known[index].path.endpoint != used.endpoint && known[index].next <= now {
            known[index].missedAcknowledgements += 1
            if known[index].missedAcknowledgements > 2 { known[index].provedAt = nil }
            outputs += challenge(index, now)
        }
        return outputs
    }

    private mutating func challenge(_ index: Int, _ now: Instant) -> [Output] {
        known[index].next =
            now + Self.repetition * (1 << min(known[index].missedAcknowledgements, 5))
        if let asked = known[index].askedAt, now - asked < Limits.challengeInterval { return [] }
        known[index].askedAt = now
        return [.challenge(known[index].path.endpoint)]
    }

    /// Of a way that is known or finds room.
    private mutating func index(of path: LinkPath, _ now: Instant) -> Int? {
        if let index = known.firstIndex(where: { $0.path.endpoint == path.endpoint }) {
            known[index].path = path
            return index
        }
        if known.count >= Limits.candidatesPerPeer {
            let idle = known.firstIndex {
                $0.provedAt == nil && $0.path.endpoint != used.endpoint
            }
            guard let idle else { return nil }
            known.remove(at: idle)
        }
        known.append(Known(path: path, next: now))
        return known.count - 1
    }

    /// Between two proofs of a way that is not in use.
    private static func upkeep(_ linkClass: LinkClass) -> Duration {
        linkClass == .bluetooth ? .seconds(30) : .seconds(10)
    }

    /// After a challenge that did not come back; doubles to 32 s.
    private static let repetition = Duration.seconds(1)
    /// So long the way in use may be silent while the neighbour is heard elsewhere.
    private static let silence = Duration.milliseconds(2_500)
    /// A few frames elsewhere make that shorter.
    private static let evidence = 5
    /// The side that follows waits so long, the other twice, with the evidence.
    private static let patience = Duration.milliseconds(500)
    /// And so long until a probe counts.
    private static let probedPatience = Duration.milliseconds(200)
    /// A way that failed in use rests so long; doubles with each time.
    private static let avoidance = Duration.seconds(2)
    /// After so long in use, earlier failures are forgotten.
    private static let trust = Duration.seconds(60)
}

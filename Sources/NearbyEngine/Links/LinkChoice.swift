import NearbyCore

/// An address where a neighbour is, or may be, and what the link there is made of.
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
/// A path is validated by a challenge that came back over it, and validated again now and then, so
/// that one that is ready can take over at once. The cheapest class wins. Of paths of one class the
/// side that decides keeps the one it has, and the other side follows: otherwise each would follow
/// the other for ever.
public struct LinkChoice: Sendable {
    public enum Input: Sendable {
        /// A challenge came back from there.
        case answered(LinkPath)
        /// A new channel was opened there.
        case opened(LinkPath)
        /// A frame of the neighbour came from there, unsolicited.
        case heard(LinkPath)
        /// It asks from there whether we answer: what we send otherwise does not reach it.
        case probed(LinkPath)
        /// Where discovery says that it may be, best first.
        case candidates([LinkPath])
        /// What goes out over the path in use is not answered.
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
        /// The path in use is gone, and no other is validated.
        case lost
    }

    private struct Known: Sendable {
        var path: LinkPath
        var validatedAt: Instant?
        var heardAt: Instant?
        /// Frames from there since one came over the path in use.
        var heardCount = 0
        var challengedAt: Instant?
        /// Challenges in a row that did not come back.
        var missedAcknowledgements = 0
        /// The next challenge, while it is not in use.
        var next: Instant
        /// It failed in use, and is not used again before then.
        var avoidedUntil = Instant.zero
        var failures = 0
    }

    private let decides: Bool
    private var known: [Known] = []
    public private(set) var used: LinkPath
    private var usedSince: Instant
    private var isSuspected = false
    /// Kept: of what each frame tells, most changes nothing about it.
    public private(set) var nextDeadline: Instant?

    /// - Parameters:
    ///   - path: validated just now; it is in use.
    ///   - decides: of the two, the one with the lower PeerID.
    public init(path: LinkPath, decides: Bool, now: Instant) {
        used = path
        usedSince = now
        self.decides = decides
        known = [Known(path: path, validatedAt: now, heardAt: now, next: .distantFuture)]
    }

    private var earliest: Instant? {
        var earliest = Instant.distantFuture
        for other in known where other.path.endpoint != used.endpoint {
            earliest = min(earliest, other.next)
        }
        return earliest == .distantFuture ? nil : earliest
    }

    /// Paths that are validated, the one in use among them.
    public var validatedCount: Int { known.count { $0.validatedAt != nil } }

    /// Where they lead, in no order.
    var validated: [Endpoint] { known.filter { $0.validatedAt != nil }.map(\.path.endpoint) }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        if case .heard(let path) = input, path.endpoint == used.endpoint {
            return heard(path, now)
        }
        defer { nextDeadline = earliest }
        switch input {
        case .answered(let path): return answered(path, now)
        case .opened(let path):
            let outputs = answered(path, now)
            guard path.endpoint != used.endpoint, let index = index(of: path, now) else {
                return outputs
            }
            return switchTo(index, now)
        case .heard(let path): return heard(path, now)
        case .probed(let path): return probed(path, now)
        case .candidates(let paths): return addCandidates(paths, now)
        case .suspected: return suspected(now)
        case .recovered:
            isSuspected = false
            return []
        case .linkDown(let link): return linkDown(link, now)
        case .deadlineReached: return challengeDue(now)
        }
    }

    // MARK: Signs of life

    private mutating func answered(_ path: LinkPath, _ now: Instant) -> [Output] {
        guard let index = index(of: path, now) else { return [] }
        known[index].validatedAt = now
        known[index].heardAt = now
        known[index].missedAcknowledgements = 0
        let avoided = known[index].avoidedUntil
        known[index].next =
            avoided > now ? avoided : now + Self.revalidationInterval(path.linkClass)
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
        guard known[index].validatedAt != nil else { return challenge(index, now) }
        return reconsider(index, now)
    }

    private mutating func probed(_ path: LinkPath, _ now: Instant) -> [Output] {
        let outputs = heard(path, now)
        guard path.endpoint != used.endpoint, timeSinceHeard(now) >= Self.probedTimeout,
            let index = index(of: path, now), known[index].validatedAt != nil
        else { return outputs }
        return outputs + switchTo(index, now)
    }

    private func timeSinceHeard(_ now: Instant) -> Duration {
        now - (known.first { $0.path.endpoint == used.endpoint }?.heardAt ?? .zero)
    }

    /// Switches to another path, a validated one, if there is a reason to.
    private mutating func reconsider(_ index: Int, _ now: Instant) -> [Output] {
        guard now >= known[index].avoidedUntil || isSuspected else { return [] }
        let candidate = known[index].path
        let silence = timeSinceHeard(now)
        let isBetter = candidate.linkClass.cost < used.linkClass.cost
        let isSame = candidate.linkClass == used.linkClass
        let isHeard = known[index].heardAt.map { now - $0 < Self.silence } ?? false
        let follows = isSame && !decides && isHeard && silence >= Self.followTimeout
        let timeout =
            known[index].heardCount < Self.evidence ? Self.silence : Self.followTimeout * 2
        guard isSuspected || isBetter || follows || isHeard && silence >= timeout else {
            return []
        }
        return switchTo(index, now)
    }

    private mutating func switchTo(_ index: Int, _ now: Instant) -> [Output] {
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

    /// A path that keeps failing is avoided for longer each time.
    private mutating func failed(_ index: Int, _ now: Instant) {
        if now - usedSince > Self.trust { known[index].failures = 0 }
        known[index].avoidedUntil = now + Self.avoidance * (1 << known[index].failures)
        known[index].failures = min(known[index].failures + 1, 5)
        known[index].validatedAt = nil
    }

    // MARK: Trouble

    private mutating func suspected(_ now: Instant) -> [Output] {
        isSuspected = true
        if let other = bestValidated(now) { return switchTo(other, now) }
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
        guard let other = bestValidated(now) else { return [.lost] }
        return switchTo(other, now)
    }

    private func bestValidated(_ now: Instant) -> Int? {
        known.indices.filter {
            known[$0].path.endpoint != used.endpoint && known[$0].validatedAt != nil
                && known[$0].missedAcknowledgements < 2
        }.min { rank(known[$0]) < rank(known[$1]) }
    }

    private func rank(_ one: Known) -> (UInt16, Endpoint) {
        (one.path.linkClass.cost, one.path.endpoint)
    }

    // MARK: Challenges

    /// One path for each link is enough in reserve; a link that has one is left alone.
    private mutating func addCandidates(_ paths: [LinkPath], _ now: Instant) -> [Output] {
        for path in paths
        where !known.contains(where: { $0.path.endpoint.link == path.endpoint.link }) {
            _ = index(of: path, now)
        }
        return challengeDue(now)
    }

    private mutating func challengeDue(_ now: Instant) -> [Output] {
        var outputs: [Output] = []
        for index in known.indices
        where known[index].path.endpoint != used.endpoint && known[index].next <= now {
            known[index].missedAcknowledgements += 1
            if known[index].missedAcknowledgements > 2 { known[index].validatedAt = nil }
            outputs += challenge(index, now)
        }
        return outputs
    }

    private mutating func challenge(_ index: Int, _ now: Instant) -> [Output] {
        known[index].next =
            now + Self.repetition * (1 << min(known[index].missedAcknowledgements, 5))
        if let asked = known[index].challengedAt, now - asked < Limits.challengeInterval {
            return []
        }
        known[index].challengedAt = now
        return [.challenge(known[index].path.endpoint)]
    }

    /// Of a path that is known, or that there is room for.
    private mutating func index(of path: LinkPath, _ now: Instant) -> Int? {
        if let index = known.firstIndex(where: { $0.path.endpoint == path.endpoint }) {
            known[index].path = path
            return index
        }
        if known.count >= Limits.candidatesPerPeer {
            let idle = known.firstIndex {
                $0.validatedAt == nil && $0.path.endpoint != used.endpoint
            }
            guard let idle else { return nil }
            known.remove(at: idle)
        }
        known.append(Known(path: path, next: now))
        return known.count - 1
    }

    /// Between two validations of a path that is not in use.
    private static func revalidationInterval(_ linkClass: LinkClass) -> Duration {
        linkClass == .bluetooth ? .seconds(30) : .seconds(10)
    }

    /// After a challenge that did not come back; doubles to 32 s.
    private static let repetition = Duration.seconds(1)
    /// How long the path in use may be silent while the neighbour is heard elsewhere.
    private static let silence = Duration.milliseconds(2_500)
    /// A few frames elsewhere make that shorter.
    private static let evidence = 5
    /// The side that follows waits this long, the other one twice as long, given the evidence.
    private static let followTimeout = Duration.milliseconds(500)
    /// How long it must have been silent before a probe counts.
    private static let probedTimeout = Duration.milliseconds(200)
    /// How long a path that failed in use is avoided; doubles each time.
    private static let avoidance = Duration.seconds(2)
    /// After this time in use, earlier failures are forgotten.
    private static let trust = Duration.seconds(60)
}

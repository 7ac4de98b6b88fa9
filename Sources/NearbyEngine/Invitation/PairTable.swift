import NearbyCore

/// The pairs, and beside them what the plan asks for, kept up to date with each change: so that an
/// input costs what its own pair costs, however many others there are.
///
/// All that is beside `pairs` follows from it.
struct PairTable: Sendable, Hashable {
    /// A pair that may be chosen: known, not connected, not found unwilling.
    struct Candidate: Sendable, Hashable, Comparable {
        let cost: UInt32
        let peer: PeerID

        static func < (left: Candidate, right: Candidate) -> Bool {
            (left.cost, left.peer) < (right.cost, right.peer)
        }
    }

    /// Those on one link.
    private struct Side: Sendable, Hashable {
        var connectedCount = 0
        var candidates: [Candidate] = []
    }

    private let own: PeerID
    private var pairs: [PeerID: InvitationPair] = [:]
    /// Without those that do not answer.
    private(set) var invitingCount = 0
    private(set) var unansweredCount = 0
    private(set) var connectedCollectorCount = 0
    /// The cheapest first.
    private(set) var candidates: [Candidate] = []
    /// The same by the links that they were heard on, with how many connected ones are there.
    private var sides: [LinkID: Side] = [:]
    /// Those that asked us and that it is on us to invite, in order.
    private(set) var callers: [PeerID] = []
    /// Connected ones that seem to have restarted, in order.
    private(set) var suspected: [PeerID] = []
    private var deadlines = DeadlineTable<PeerID>()
    private var peersByToken: [ChannelToken: PeerID] = [:]

    init(own: PeerID) { self.own = own }

    var count: Int { pairs.count }

    var connectedCount: Int { peersByToken.count }

    /// In order.
    var connectedPeers: [PeerID] { peersByToken.values.sorted() }

    var nextDeadline: Instant? { deadlines.earliest }

    func peer(with token: ChannelToken) -> PeerID? { peersByToken[token] }

    /// In order; the deadlines of those that nothing was done about return with the next change.
    mutating func takeDue(_ now: Instant) -> [PeerID] { deadlines.takeDue(now: now) }

    /// A pair of which nothing is known and with which nothing goes on is forgotten.
    subscript(peer: PeerID) -> InvitationPair? {
        get { pairs[peer] }
        set {
            let before = pairs[peer]
            let after = newValue.flatMap { $0.isForgettable ? nil : $0 }
            pairs[peer] = after
            count(after, 1)
            count(before, -1)
            Self.move(in: &candidates, from: candidate(peer, before), to: candidate(peer, after))
            place(before, peer, -1)
            place(after, peer, 1)
            Self.move(in: &callers, from: caller(peer, before), to: caller(peer, after))
            Self.move(
                in: &suspected, from: before?.suspicion.isConfirmed == true ? peer : nil,
                to: after?.suspicion.isConfirmed == true ? peer : nil)
            deadlines[peer] = after?.nextDeadline
            if before?.channel?.token != after?.channel?.token {
                if let old = before?.channel { peersByToken[old.token] = nil }
                if let new = after?.channel { peersByToken[new.token] = peer }
            }
        }
    }

    private mutating func count(_ pair: InvitationPair?, _ step: Int) {
        guard let pair else { return }
        if pair.channel != nil, pair.sighting?.role == .collector {
            connectedCollectorCount += step
        }
        guard pair.isInviting else { return }
        if pair.isUnanswered { unansweredCount += step } else { invitingCount += step }
    }

    /// Adds a pair to its links, or takes it away.
    private mutating func place(_ pair: InvitationPair?, _ peer: PeerID, _ step: Int) {
        guard let pair else { return }
        let candidate = candidate(peer, pair)
        for link in pair.links {
            var side = sides.removeValue(forKey: link) ?? Side()
            if pair.channel != nil { side.connectedCount += step }
            Self.move(
                in: &side.candidates, from: step < 0 ? candidate : nil,
                to: step > 0 ? candidate : nil)
            if side.connectedCount > 0 || !side.candidates.isEmpty { sides[link] = side }
        }
    }

    /// Those that were full for us, or we for them, in order.
    var refused: [PeerID] {
        var refused: [PeerID] = []
        for (peer, pair) in pairs where pair.isRefused { refused.append(peer) }
        return refused.sorted()
    }

    /// Whether we have nobody on the link over which this peer asks. It was heard there, or, after
    /// our start, not yet at all; then it may not have been let go just now, or that would go on
    /// for ever.
    func isBare(_ link: LinkID, for peer: PeerID) -> Bool {
        let pair = pairs[peer]
        let isKnown = pair?.sighting.map { $0.links.contains(link) } ?? (pair?.isDropped != true)
        return isKnown && sides[link]?.connectedCount ?? 0 == 0
    }

    /// Whether a connected peer is the only one on one of its links.
    func isAloneOnLink(_ peer: PeerID) -> Bool {
        pairs[peer]?.links.contains { sides[$0]?.connectedCount == 1 } ?? false
    }

    /// For each link on which nobody is connected the cheapest that was heard there.
    var bestOnBareLinks: [PeerID] {
        var best: [PeerID] = []
        for side in sides.values where side.connectedCount == 0 {
            if let peer = side.candidates.first?.peer, !best.contains(peer) { best.append(peer) }
        }
        return best.sorted()
    }

    /// A full table forgets a peer with which nothing goes on, the dearest first. False if there is
    /// none.
    mutating func makeRoom() -> Bool {
        guard pairs.count >= Limits.pairsMax else { return true }
        guard let idle = candidates.last(where: { pairs[$0.peer]?.state == .idle }) else {
            return false
        }
        self[idle.peer] = nil
        return true
    }

    private func candidate(_ peer: PeerID, _ pair: InvitationPair?) -> Candidate? {
        guard let pair, pair.channel == nil, pair.isAvailable else { return nil }
        return Candidate(cost: pair.cost, peer: peer)
    }

    private func caller(_ peer: PeerID, _ pair: InvitationPair?) -> PeerID? {
        guard let pair, pair.wantsUs, pair.sighting != nil else { return nil }
        return own < peer && pair.state == .idle || pair.state == .overdue ? peer : nil
    }

    /// Replaces an element of a sorted array.
    private static func move<Element: Comparable>(
        in array: inout [Element], from old: Element?, to new: Element?
    ) {
        guard old != new else { return }
        if let old, let index = array.position(of: old), array[index] == old {
            array.remove(at: index)
        }
        if let new { array.insert(new, at: array.position(of: new) ?? array.endIndex) }
    }
}

extension Array where Element: Comparable {
    /// In a sorted array, the first element that is not less; nil past the end.
    fileprivate func position(of element: Element) -> Int? {
        var range = startIndex..<endIndex
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            if self[middle] < element {
                range = middle + 1..<range.upperBound
            } else {
                range = range.lowerBound..<middle
            }
        }
        return range.lowerBound == endIndex ? nil : range.lowerBound
    }
}

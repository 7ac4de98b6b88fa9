import NearbyCore

/// How many neighbours a node wants, and whom beside those that it has.
struct NeighbourWish: Sendable, Hashable {
    /// Neighbours that it looks for.
    let wanted: Int
    /// And takes when asked.
    let accepted: Int

    /// - Parameter accepting: neighbours taken when asked, if not as many as the role takes.
    init(of role: Role, accepting: Int?) {
        let isCollector = role == .collector
        wanted = isCollector ? 0 : Limits.neighboursWanted
        accepted =
            accepting ?? (isCollector ? Limits.collectorNeighbours : Limits.neighboursAccepted)
    }

    /// With those that are worth more than the number: who leads to a collector where nobody did,
    /// who is on a link on which we have nobody, a far cheaper way. One collector may come beyond.
    var most: Int { accepted + wanted }

    /// How many there may be when one is accepted because its way becomes cheaper. Any number may
    /// ask for that, so fewer than `most`: two places are kept for links on which we have nobody.
    var mostShortcuts: Int { most - min(wanted, 2) }

    /// Those with the cheapest ways to a collector first, then cheap ones, then a distant one, up
    /// to the number wanted; beside them one for each link on which we have nobody.
    ///
    /// - Parameters:
    ///   - costToCollector: nil where no neighbour leads to a collector.
    ///   - takesShortcuts: none was tried just now. Who was asked for one may still be invited.
    func peers(
        of pairs: PairTable, costToCollector: UInt16?, takesShortcuts: Bool
    ) -> [PeerID] {
        guard wanted > 0 else { return [] }
        let vacancies = wanted - pairs.connectedCount
        guard vacancies <= 0 else {
            return vacant(vacancies, of: pairs) + pairs.bestOnBareLinks
        }
        guard let best = pairs.candidates.first, let sighting = pairs[best.peer]?.sighting else {
            return []
        }
        // On a LAN neighbours are found sooner than the one collector, and the way over them costs
        // twice as much.
        if sighting.role == .collector, pairs.connectedCollectorCount == 0 { return [best.peer] }
        // Those that are asked count as well: none of them may turn out to be too many.
        guard pairs.connectedCount + pairs.invitingCount < most else { return [] }
        // Whoever is on two links is a way between them, and one of few.
        let bridged = pairs.bestOnBareLinks
        guard let costToCollector else {
            // Enough of them, or even all that we accept, but none leads to a collector: one that
            // does is worth a place more.
            return sighting.costToCollector == nil ? bridged : bridged + [best.peer]
        }
        guard takesShortcuts || pairs[best.peer]?.state != .idle,
            isShortcut(sighting, insteadOf: costToCollector)
        else { return bridged }
        return bridged + [best.peer]
    }

    /// Whether one is to go: collectors and those that a program calls do not count, nor does
    /// anybody where there is no way to a collector yet, unless no place is left to find one.
    func isTooMany(_ pairs: PairTable, hasWay: Bool, besides dialed: Set<PeerID>) -> Bool {
        guard hasWay else { return pairs.connectedCount >= most }
        let count = pairs.connectedCount - pairs.connectedCollectorCount
        guard count > accepted else { return false }
        return count - dialed.count { pairs[$0]?.channel != nil } > accepted
    }

    private func vacant(_ vacancies: Int, of pairs: PairTable) -> [PeerID] {
        let candidates = pairs.candidates
        var wanted = candidates.prefix(vacancies).map(\.peer)
        let isLast = pairs.connectedCount + wanted.count == self.wanted
        if isLast, wanted.count > 1, let far = candidates.last?.peer, !wanted.contains(far) {
            wanted[wanted.count - 1] = far
        }
        return wanted
    }

    /// Somebody we hear is on a far cheaper way to a collector than ours: neighbours were chosen
    /// when nobody knew yet who would lead where.
    func isShortcut(
        _ sighting: InvitationPair.SightedRun, insteadOf cost: UInt16
    ) -> Bool {
        guard let way = sighting.wayToCollector else { return false }
        return way * Limits.shortcutGain.worth <= UInt32(cost) * Limits.shortcutGain.of
    }
}

extension Limits {
    /// Neighbours that a node looks for, and takes when asked.
    public static let neighboursWanted = 4
    public static let neighboursAccepted = 8
    static let collectorNeighbours = 1_024
    /// What a way must cost at most, of what ours costs, to be worth another neighbour.
    static let shortcutGain: (of: UInt32, worth: UInt32) = (4, 5)
    /// Peers that a program calls at once.
    static let dialedPeersMax = 512
}

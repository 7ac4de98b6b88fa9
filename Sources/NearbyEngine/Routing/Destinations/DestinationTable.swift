import NearbyCore

/// The destinations, by PeerID.
///
/// PeerIDs in messages are not proved, and packets carry the short ID alone. So all routes to one
/// short ID share one feasibility distance, and together are free of loops; a destination goes by
/// the name that the route in use has for it.
struct DestinationTable: Sendable {
    /// Each lies under its own PeerID, and no two have the same short ID: `byShortID` has exactly
    /// the short IDs of those in `all`, each with the PeerID under which it lies there; `routeless`
    /// those whose `routelessSince` is set; `hops` the next hop to each to which there is one.
    private(set) var all: [PeerID: Destination] = [:]
    private(set) var byShortID: [ShortID: PeerID] = [:]
    /// Those to which there is no route.
    private(set) var routeless: Set<PeerID> = []
    /// Those whose `constrainedSince` is set.
    private(set) var constrained: Set<PeerID> = []
    /// Asked for each packet: one look, and no copy of all that is known of the destination.
    private(set) var hops: [ShortID: PeerID] = [:]
    /// How many each neighbour told of first, of those in `all`. It is asked for each that is new:
    /// counted then, a thousand destinations would be looked at a million times.
    private(set) var shares: [PeerID: Int] = [:]

    subscript(id: PeerID) -> Destination? { all[id] }

    subscript(short: ShortID) -> Destination? { byShortID[short].flatMap { all[$0] } }

    /// Without a copy of what is known of it.
    func contains(_ id: PeerID) -> Bool { all.index(forKey: id) != nil }

    /// The destination under this short ID, whatever it was called first.
    func known(as id: PeerID) -> PeerID { byShortID[id.short] ?? id }

    var count: Int { all.count }

    var ids: Set<PeerID> { Set(all.keys) }

    /// Those to which this neighbour offers something, sorted.
    func ids(offeredBy neighbour: PeerID) -> [PeerID] {
        all.values.lazy.filter { $0.candidates[neighbour] != nil }.map(\.peer).sorted()
    }

    /// How many this neighbour told of first.
    func share(of neighbour: PeerID) -> Int { shares[neighbour] ?? 0 }

    // MARK: Changing

    /// Nothing may be known as this yet.
    mutating func add(_ destination: Destination) {
        let peer = destination.peer
        precondition(byShortID[peer.short] == nil, "\(peer) is there already")
        byShortID[peer.short] = peer
        all[peer] = destination
        shares[destination.introducer, default: 0] += 1
    }

    /// It keeps its name.
    ///
    /// - Returns: whether it is known.
    @discardableResult
    mutating func change(_ id: PeerID, _ body: (inout Destination) -> Void) -> Bool {
        guard let index = all.index(forKey: id) else { return false }
        let (before, after) = Self.change(&all.values[index], body)
        if after.hop != before.hop { hops[id.short] = after.hop }
        if after.isRouteless != before.isRouteless {
            if after.isRouteless { routeless.insert(id) } else { routeless.remove(id) }
        }
        guard after.isConstrained != before.isConstrained else { return true }
        if after.isConstrained { constrained.insert(id) } else { constrained.remove(id) }
        return true
    }

    /// What the other tables have of a destination.
    private struct Listing {
        let hop: PeerID?
        let isRouteless: Bool
        let isConstrained: Bool

        init(_ destination: borrowing Destination) {
            hop = destination.selected.hop
            isRouteless = destination.routelessSince != nil
            isConstrained = destination.constrainedSince != nil
        }
    }

    /// In place: each field that is read through the dictionary would copy the whole destination.
    private static func change(
        _ destination: inout Destination, _ body: (inout Destination) -> Void
    ) -> (before: Listing, after: Listing) {
        let before = Listing(destination)
        body(&destination)
        return (before, Listing(destination))
    }

    /// The routes to them stay as they are.
    mutating func changeAll(_ body: (inout Destination) -> Void) {
        var index = all.startIndex
        while index != all.endIndex {
            body(&all.values[index])
            all.formIndex(after: &index)
        }
    }

    /// Another PeerID of the same short ID is in use: its name counts.
    mutating func rename(_ id: PeerID, to new: PeerID) {
        precondition(id.short == new.short, "\(id) cannot become \(new)")
        guard id != new, var destination = all.removeValue(forKey: id) else { return }
        destination.rename(to: new)
        all[new] = destination
        if routeless.remove(id) != nil { routeless.insert(new) }
        if constrained.remove(id) != nil { constrained.insert(new) }
        byShortID[new.short] = new
        hops[new.short] = destination.selected.hop
    }

    mutating func remove(_ id: PeerID) {
        guard let removed = all.removeValue(forKey: id) else { return }
        let share = share(of: removed.introducer) - 1
        shares[removed.introducer] = share > 0 ? share : nil
        routeless.remove(id)
        constrained.remove(id)
        byShortID[id.short] = nil
        hops[id.short] = nil
    }
}

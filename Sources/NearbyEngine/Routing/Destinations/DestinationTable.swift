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

    subscript(id: PeerID) -> Destination? { all[id] }

    subscript(short: ShortID) -> Destination? { byShortID[short].flatMap { all[$0] } }

    /// The destination under this short ID, whatever it was called first.
    func known(as id: PeerID) -> PeerID { byShortID[id.short] ?? id }

    var count: Int { all.count }

    var ids: Set<PeerID> { Set(all.keys) }

    /// Those to which this neighbour offers something, sorted.
    func ids(offeredBy neighbour: PeerID) -> [PeerID] {
        all.values.lazy.filter { $0.candidates[neighbour] != nil }.map(\.peer).sorted()
    }

    /// How many this neighbour told of first.
    func share(of neighbour: PeerID) -> Int {
        all.values.reduce(0) { $0 + ($1.introducer == neighbour ? 1 : 0) }
    }

    // MARK: Changing

    /// Nothing may be known as this yet.
    mutating func add(_ destination: Destination) {
        let peer = destination.peer
        precondition(byShortID[peer.short] == nil, "\(peer) is there already")
        byShortID[peer.short] = peer
        all[peer] = destination
    }

    /// Nothing where it is not known. It keeps its name.
    mutating func change(_ id: PeerID, _ body: (inout Destination) -> Void) {
        guard let index = all.index(forKey: id) else { return }
        let wasRouteless = all.values[index].routelessSince != nil
        let wasConstrained = all.values[index].constrainedSince != nil
        let hop = all.values[index].selected.hop
        body(&all.values[index])
        let selected = all.values[index].selected
        if selected.hop != hop { hops[id.short] = selected.hop }
        let isRouteless = all.values[index].routelessSince != nil
        if wasRouteless != isRouteless {
            if isRouteless { routeless.insert(id) } else { routeless.remove(id) }
        }
        let isConstrained = all.values[index].constrainedSince != nil
        guard wasConstrained != isConstrained else { return }
        if isConstrained { constrained.insert(id) } else { constrained.remove(id) }
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
        guard all.removeValue(forKey: id) != nil else { return }
        routeless.remove(id)
        constrained.remove(id)
        byShortID[id.short] = nil
        hops[id.short] = nil
    }
}

import NearbyCore

/// The destinations in the order in which they last changed: one list for all neighbours, of which
/// each has read up to some place.
///
/// A collector's thousand neighbours hear of each newcomer, so a set for each of them would cost a
/// thousand insertions a change. Each destination stands once, at its last change.
struct RouteChanges: Sendable {
    /// Where those of `order` changed, ascending. They are stale if they changed again later: then
    /// `places` has another place for them.
    private var listed: [UInt64] = []
    private var order: [PeerID] = []
    private var places: [PeerID: UInt64] = [:]
    /// Of the last change; 0: there was none yet.
    private(set) var last: UInt64 = 0
    private var compactFrom = Self.compactCountMin

    /// It changed now.
    mutating func append(_ id: PeerID) {
        last += 1
        listed.append(last)
        order.append(id)
        places[id] = last
    }

    /// Stale ones included: at most twice what there is, or 64.
    var entryCount: Int { order.count }

    /// The first from this position on that changed at `end` at the latest; the position is then
    /// the one behind it.
    func next(from position: inout Int, upTo end: UInt64) -> (place: UInt64, id: PeerID)? {
        while position < order.count, listed[position] <= end {
            let (place, id) = (listed[position], order[position])
            position += 1
            if places[id] == place { return (place, id) }
        }
        return nil
    }

    /// Where those begin that changed after `place`; it holds until something changes.
    func position(after place: UInt64) -> Int {
        var low = 0
        var high = listed.count
        while low < high {
            let middle = (low + high) / 2
            if listed[middle] <= place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Compaction

    /// The list has grown to twice what it was after the last compaction.
    var wantsCompaction: Bool { order.count >= compactFrom }

    /// Stale places go, and with them every destination that is not kept.
    mutating func compact(keeping isKept: (PeerID) -> Bool) {
        var count = 0
        for index in order.indices {
            let (place, id) = (listed[index], order[index])
            guard places[id] == place else { continue }
            guard isKept(id) else {
                places[id] = nil
                continue
            }
            (listed[count], order[count]) = (place, id)
            count += 1
        }
        listed.removeLast(listed.count - count)
        order.removeLast(order.count - count)
        compactFrom = max(Self.compactCountMin, count * 2)
    }

    private static let compactCountMin = 64
}

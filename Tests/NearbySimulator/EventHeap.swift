import NearbyCore

/// Events by (time, insertion): the same order in every process.
struct EventHeap<Event> {
    private var items: [(time: Instant, order: UInt64, event: Event)] = []
    private var inserted: UInt64 = 0

    var nextTime: Instant? { items.first?.time }

    mutating func insert(_ event: Event, at time: Instant) {
        inserted += 1
        items.append((time, inserted, event))
        var child = items.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() -> (time: Instant, event: Event)? {
        guard let first = items.first else { return nil }
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < items.count && precedes(child, least) {
                least = child
            }
            if least == parent { break }
            items.swapAt(parent, least)
            parent = least
        }
        return (first.time, first.event)
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        (items[left].time, items[left].order) < (items[right].time, items[right].order)
    }
}

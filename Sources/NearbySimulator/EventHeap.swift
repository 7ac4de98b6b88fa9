import NearbyCore

/// Events by (time, insertion): the same order in every process.
struct EventHeap<Event> {
    /// The events lie apart, so that little is moved where the heap is put in order.
    private struct Item {
        var time: Instant
        var order: UInt64
        var slot: Int

        func precedes(_ other: Item) -> Bool {
            time != other.time ? time < other.time : order < other.order
        }
    }

    private var items: [Item] = []
    private var events: [Event?] = []
    private var freeSlots: [Int] = []
    private var inserted: UInt64 = 0

    var count: Int { items.count }

    var nextTime: Instant? { items.first?.time }

    mutating func insert(_ event: Event, at time: Instant) {
        inserted += 1
        let slot = freeSlots.popLast() ?? events.count
        if slot == events.count { events.append(event) } else { events[slot] = event }
        let item = Item(time: time, order: inserted, slot: slot)
        items.append(item)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard item.precedes(items[parent]) else { break }
            items[child] = items[parent]
            child = parent
        }
        items[child] = item
    }

    mutating func removeFirst() -> (time: Instant, event: Event)? {
        guard let first = items.first, let last = items.popLast() else { return nil }
        if !items.isEmpty { sink(last) }
        freeSlots.append(first.slot)
        guard let event = events[first.slot] else { return nil }
        events[first.slot] = nil
        return (first.time, event)
    }

    /// Puts the item where it belongs, from the top, whose place is free.
    private mutating func sink(_ item: Item) {
        var parent = 0
        while true {
            var least = 2 * parent + 1
            guard least < items.count else { break }
            if least + 1 < items.count, items[least + 1].precedes(items[least]) { least += 1 }
            guard items[least].precedes(item) else { break }
            items[parent] = items[least]
            parent = least
        }
        items[parent] = item
    }
}

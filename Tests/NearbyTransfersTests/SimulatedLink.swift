import NearbyCore

/// One direction of a path: a bottleneck with a queue, then a delay. What it does follows from its
/// seed.
final class SimulatedLink {
    struct Terms {
        /// Bytes a second.
        var rate = 12_500_000.0
        var delay = Duration.milliseconds(10)
        /// Besides, for each packet.
        var jitter = Duration.zero
        /// Late packets hold up those behind them, as on a radio, instead of being overtaken.
        var keepsOrder = false
        /// Bytes that wait.
        var queueLimit = 256 << 10
        var loss = 0.0
        var duplication = 0.0
    }

    var terms: Terms
    private(set) var droppedCount = 0
    /// Bytes that came through.
    private(set) var carried = 0
    /// The most that waited since the last call of `resetBacklog`.
    private(set) var backlogMost = 0
    private var busyUntil = Instant.zero
    private var lastArrival = Instant.zero
    private var random: SeededGenerator

    init(_ terms: Terms, seed: UInt64) {
        self.terms = terms
        random = SeededGenerator(seed: seed)
    }

    func resetBacklog() { backlogMost = 0 }

    /// When a packet arrives: never, once or twice.
    func send(_ byteCount: Int, now: Instant) -> [Instant] {
        let start = max(now, busyUntil)
        let backlog = Int(Double((start - now).nanoseconds) / 1e9 * terms.rate)
        guard backlog + byteCount <= terms.queueLimit else {
            droppedCount += 1
            return []
        }
        backlogMost = max(backlogMost, backlog + byteCount)
        busyUntil = start + .nanoseconds(Int64(Double(byteCount) / terms.rate * 1e9))
        if Double.random(in: 0..<1, using: &random) < terms.loss { return [] }
        carried += byteCount
        var arrivals = [arrival()]
        if Double.random(in: 0..<1, using: &random) < terms.duplication {
            arrivals.append(arrival())
        }
        return arrivals
    }

    private func arrival() -> Instant {
        var time = busyUntil + terms.delay + random.duration(in: .zero..<terms.jitter)
        if terms.keepsOrder { time = max(time, lastArrival + .nanoseconds(1)) }
        lastArrival = max(lastArrival, time)
        return time
    }
}

/// Events in the order of their times, and of their coming where these are equal.
struct EventHeap<Event> {
    /// Small, and nothing to count references of: a debug build moves them about in no time.
    private struct Entry {
        var time: Instant
        var order: Int
        var slot: Int

        func isBefore(_ other: Entry) -> Bool {
            time != other.time ? time < other.time : order < other.order
        }
    }

    private var heap: [Entry] = []
    private var events: [Event?] = []
    private var freeSlots: [Int] = []
    private var order = 0

    var first: Instant? { heap.first?.time }

    mutating func add(_ event: Event, at time: Instant) {
        order += 1
        let slot = freeSlots.popLast() ?? events.count
        if slot == events.count { events.append(event) } else { events[slot] = event }
        let entry = Entry(time: time, order: order, slot: slot)
        heap.append(entry)
        var index = heap.count - 1
        while index > 0, entry.isBefore(heap[(index - 1) / 2]) {
            heap[index] = heap[(index - 1) / 2]
            index = (index - 1) / 2
        }
        heap[index] = entry
    }

    mutating func popFirst() -> (time: Instant, event: Event)? {
        guard let first = heap.first, let event = events[first.slot] else { return nil }
        events[first.slot] = nil
        freeSlots.append(first.slot)
        let last = heap.removeLast()
        if !heap.isEmpty { sink(last) }
        return (first.time, event)
    }

    /// Puts it where it belongs, from the top down.
    private mutating func sink(_ entry: Entry) {
        var index = 0
        while 2 * index + 1 < heap.count {
            var child = 2 * index + 1
            if child + 1 < heap.count, heap[child + 1].isBefore(heap[child]) { child += 1 }
            if entry.isBefore(heap[child]) { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = entry
    }
}

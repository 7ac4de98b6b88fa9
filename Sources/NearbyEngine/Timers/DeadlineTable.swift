import NearbyCore

/// One deadline for each key. The next one costs nothing to find, a change the logarithm of how
/// many there are.
struct DeadlineTable<Key: Hashable & Comparable & Sendable>: Hashable, Sendable {
    private struct Entry: Comparable {
        var deadline: Instant
        var key: Key

        static func < (left: Entry, right: Entry) -> Bool {
            (left.deadline, left.key) < (right.deadline, right.key)
        }
    }

    private var deadlines: [Key: Instant] = [:]
    /// A binary heap. Entries whose deadline has changed stay until they come to the top; the one
    /// at the top always holds.
    private var heap: [Entry] = []

    init() {}

    /// With those that are stale: what it takes in memory.
    var entryCount: Int { heap.count }

    var earliest: Instant? { heap.first?.deadline }

    subscript(key: Key) -> Instant? {
        get { deadlines[key] }
        set {
            guard newValue != deadlines[key] else { return }
            deadlines[key] = newValue
            if let newValue { insert(Entry(deadline: newValue, key: key)) }
            dropStale()
        }
    }

    /// Removes those that are due, and returns them in their keys' order.
    mutating func takeDue(now: Instant) -> [Key] {
        var due: [Key] = []
        while let first = heap.first, first.deadline <= now {
            due.append(first.key)
            deadlines[first.key] = nil
            dropStale()
        }
        return due.sorted()
    }

    static func == (left: DeadlineTable, right: DeadlineTable) -> Bool {
        left.deadlines == right.deadlines
    }

    func hash(into hasher: inout Hasher) { hasher.combine(deadlines) }

    // MARK: The heap

    private mutating func insert(_ entry: Entry) {
        if heap.count >= 2 * deadlines.count + 16 { rebuild() } else { heap.append(entry) }
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func dropStale() {
        while let first = heap.first, deadlines[first.key] != first.deadline { removeFirst() }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in 2 * parent + 1...2 * parent + 2
            where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    /// Without what is stale; a sorted array is a heap.
    private mutating func rebuild() {
        heap = deadlines.map { Entry(deadline: $0.value, key: $0.key) }.sorted()
    }
}

import NearbyCore

/// What wants attention at a time of its own.
protocol Timed: AnyObject {
    /// nil: at no time.
    var nextDeadline: Instant? { get }
}

extension Timed {
    func isDue(_ now: Instant) -> Bool { nextDeadline ?? .distantFuture <= now }
}

/// When a node's neighbours, channels and associations want attention. They say themselves that
/// their deadline may be another; it is looked up once, when the next one is asked for. So what a
/// datagram costs does not depend on how many others there are.
///
/// No place in the heap is later than its owner's deadline. One that is too early is put right when
/// it comes to the top: most deadlines move on and on and are never met.
final class NodeTimers {
    /// In the order in which those that are due at once get their turn.
    enum Timer: Hashable, Comparable {
        case neighbour(PeerID)
        case channel(ChannelToken)
        case association(PeerID)
    }

    /// Where one of them stands.
    final class Place {
        let timer: Timer
        fileprivate unowned var owner: (any Timed)?
        /// In the heap's order; `distantFuture` for what is not in it.
        fileprivate var deadline = Instant.distantFuture
        fileprivate var position = 0
        fileprivate var isTouched = false

        init(_ timer: Timer) { self.timer = timer }

        fileprivate var ownersDeadline: Instant { owner?.nextDeadline ?? .distantFuture }
    }

    private var heap: [Place] = []
    private var touched: [Place] = []

    /// `owner` ends the place before it is gone.
    func begin(_ place: Place, of owner: any Timed) {
        place.owner = owner
        touch(place)
    }

    func end(_ place: Place) {
        place.owner = nil
        move(place, to: .distantFuture)
    }

    /// Its owner's deadline may have changed.
    func touch(_ place: Place) {
        guard !place.isTouched else { return }
        place.isTouched = true
        touched.append(place)
    }

    var earliest: Instant? {
        lookUp()
        return first?.deadline
    }

    /// Those that are due. What becomes of their deadlines is looked up again.
    func takeDue(now: Instant) -> [Timer] {
        lookUp()
        var due: [Timer] = []
        while let place = first, place.deadline <= now {
            due.append(place.timer)
            move(place, to: .distantFuture)
            touch(place)
        }
        return due.sorted()
    }

    private func lookUp() {
        for place in touched {
            place.isTouched = false
            let deadline = place.ownersDeadline
            if deadline < place.deadline { move(place, to: deadline) }
        }
        touched.removeAll(keepingCapacity: true)
    }

    // MARK: The heap

    /// The first whose deadline holds.
    private var first: Place? {
        while let place = heap.first {
            let deadline = place.ownersDeadline
            if deadline <= place.deadline { return place }
            move(place, to: deadline)
        }
        return nil
    }

    private func move(_ place: Place, to deadline: Instant) {
        let isThere = place.deadline < .distantFuture
        place.deadline = deadline
        if deadline < .distantFuture {
            if !isThere {
                place.position = heap.count
                heap.append(place)
            }
            settle(place)
        } else if isThere, let last = heap.popLast(), last !== place {
            put(last, at: place.position)
            settle(last)
        }
    }

    /// Up or down, to where it belongs.
    private func settle(_ place: Place) {
        while place.position > 0 {
            let parent = heap[(place.position - 1) / 2]
            guard place.deadline < parent.deadline else { break }
            exchange(place, with: parent)
        }
        while let child = earlierChild(of: place), child.deadline < place.deadline {
            exchange(place, with: child)
        }
    }

    private func earlierChild(of place: Place) -> Place? {
        let left = 2 * place.position + 1
        guard left < heap.count else { return nil }
        guard left + 1 < heap.count, heap[left + 1].deadline < heap[left].deadline else {
            return heap[left]
        }
        return heap[left + 1]
    }

    private func exchange(_ one: Place, with other: Place) {
        let position = one.position
        put(one, at: other.position)
        put(other, at: position)
    }

    private func put(_ place: Place, at position: Int) {
        heap[position] = place
        place.position = position
    }
}

/// A double-ended queue: what is at the front leaves, what is new joins at the back, each in
/// constant time on average; what left is freed at once.
struct Ring<Element: Sendable>: Sendable {
    /// A power of two of places, or none.
    private var storage: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var first: Element? { isEmpty ? nil : storage[head] }

    var last: Element? { isEmpty ? nil : storage[place(count - 1)] }

    /// The element so many places behind the front; the position must exist.
    subscript(position: Int) -> Element {
        get {
            guard let element = storage[place(position)] else {
                preconditionFailure("position \(position) of \(count) in a ring")
            }
            return element
        }
        _modify {
            precondition(position < count, "position \(position) of \(count) in a ring")
            let place = place(position)
            guard var element = storage[place] else {
                preconditionFailure("an empty place within a ring")
            }
            // Moved out and back, so that what it holds is not copied.
            storage[place] = nil
            defer { storage[place] = element }
            yield &element
        }
    }

    mutating func append(_ element: Element) {
        if count == storage.count { grow() }
        storage[place(count)] = element
        count += 1
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        defer {
            storage[head] = nil
            head = (head + 1) & (storage.count - 1)
            count -= 1
        }
        return storage[head]
    }

    mutating func removeAll() { self = Ring() }

    /// The first position whose element passes a test that all later ones pass too; the count if
    /// none does.
    func firstPosition(where passes: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if passes(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func place(_ position: Int) -> Int { (head + position) & (storage.count - 1) }

    private mutating func grow() {
        let places = max(8, 2 * storage.count)
        var larger: [Element?] = []
        larger.reserveCapacity(places)
        for position in 0..<count { larger.append(storage[place(position)]) }
        larger.append(contentsOf: repeatElement(nil, count: places - count))
        storage = larger
        head = 0
    }
}

/// A queue of elements by position: what is at the front leaves, what is new joins at the back,
/// each in constant time on average; what left is freed at once.
///
/// Inlinable, because queues of frames are in each datagram's way.
public struct Deque<Element: Sendable>: Sendable {
    /// A power of two of places, or none.
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0
    @usableFromInline var elementCount = 0

    @inlinable public init() {}

    @inlinable public var count: Int { elementCount }

    @inlinable public var isEmpty: Bool { elementCount == 0 }

    @inlinable public var first: Element? { isEmpty ? nil : storage[head] }

    @inlinable public var last: Element? { isEmpty ? nil : storage[place(elementCount - 1)] }

    /// The element so many places behind the front; the position must exist.
    @inlinable public subscript(position: Int) -> Element {
        get {
            guard position < elementCount, let element = storage[place(position)] else {
                preconditionFailure("position \(position) of \(elementCount) in a deque")
            }
            return element
        }
        _modify {
            precondition(
                position < elementCount, "position \(position) of \(elementCount) in a deque")
            let place = place(position)
            guard var element = storage[place] else {
                preconditionFailure("an empty place within a deque")
            }
            // Moved out and back, so that what it holds is not copied.
            storage[place] = nil
            defer { storage[place] = element }
            yield &element
        }
    }

    /// All, the front first.
    @inlinable public var elements: some Sequence<Element> {
        (0..<elementCount).lazy.compactMap { storage[place($0)] }
    }

    @inlinable public mutating func append(_ element: Element) {
        if elementCount == storage.count { grow() }
        storage[place(elementCount)] = element
        elementCount += 1
    }

    @discardableResult
    @inlinable public mutating func popFirst() -> Element? {
        guard elementCount > 0 else { return nil }
        defer { removeFirst() }
        return storage[head]
    }

    /// Fewer, where there are fewer.
    @inlinable public mutating func removeFirst(_ count: Int = 1) {
        for _ in 0..<min(count, elementCount) {
            storage[head] = nil
            head = (head + 1) & (storage.count - 1)
            elementCount -= 1
        }
    }

    /// Nothing, where there is none.
    @inlinable public mutating func removeLast() {
        guard elementCount > 0 else { return }
        elementCount -= 1
        storage[place(elementCount)] = nil
    }

    /// Gives places back, where three of four are free.
    @inlinable public mutating func shrink() {
        guard storage.count > 16, elementCount * 4 < storage.count else { return }
        var smaller = Deque()
        for element in elements { smaller.append(element) }
        self = smaller
    }

    @inlinable public mutating func removeAll() { self = Deque() }

    /// The first position whose element passes a test that all later ones pass too; the count if
    /// none does.
    @inlinable public func firstPosition(where passes: (Element) -> Bool) -> Int {
        var low = 0
        var high = elementCount
        while low < high {
            let middle = (low + high) / 2
            if passes(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    @inlinable func place(_ position: Int) -> Int { (head + position) & (storage.count - 1) }

    @usableFromInline mutating func grow() {
        let places = max(8, 2 * storage.count)
        var larger: [Element?] = []
        larger.reserveCapacity(places)
        for position in 0..<elementCount { larger.append(storage[place(position)]) }
        larger.append(contentsOf: repeatElement(nil, count: places - elementCount))
        storage = larger
        head = 0
    }
}

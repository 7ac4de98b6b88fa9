/// Elements that join at the end and leave at the front, each in constant time on average.
struct Line<Element: Sendable>: Sendable {
    /// Nil before `head`, so that what left (a message of up to 1 MiB) is not kept alive.
    private var storage: [Element?] = []
    private var head = 0

    var count: Int { storage.count - head }

    var isEmpty: Bool { count == 0 }

    var first: Element? { isEmpty ? nil : storage[head] }

    var last: Element? { isEmpty ? nil : storage[storage.count - 1] }

    /// The element so many places behind the front; the position must exist.
    subscript(position: Int) -> Element {
        get {
            guard let element = storage[head + position] else {
                preconditionFailure("position \(position) of \(count) in a line left already")
            }
            return element
        }
        set { storage[head + position] = newValue }
    }

    /// All, the front first.
    var elements: some Sequence<Element> { storage[head...].lazy.compactMap { $0 } }

    mutating func append(_ element: Element) { storage.append(element) }

    /// Elements are freed at once, their places only when half of these are unused.
    mutating func removeFirst(_ count: Int = 1) {
        for _ in 0..<min(count, self.count) {
            storage[head] = nil
            head += 1
        }
        if head >= 64, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
    }

    /// The first position whose element passes a test which all later ones pass too; the count if
    /// none.
    func firstPosition(where passes: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if passes(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

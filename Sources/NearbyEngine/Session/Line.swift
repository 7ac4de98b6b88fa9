/// Elements that join at the end and leave at the front, each in constant time on average.
struct Line<Element: Sendable>: Sendable {
    private var storage: [Element] = []
    private var head = 0

    var count: Int { storage.count - head }

    var isEmpty: Bool { count == 0 }

    var first: Element? { isEmpty ? nil : storage[head] }

    var last: Element? { isEmpty ? nil : storage[storage.count - 1] }

    /// The element so many places behind the front; the position must exist.
    subscript(position: Int) -> Element {
        get { storage[head + position] }
        set { storage[head + position] = newValue }
    }

    var elements: ArraySlice<Element> { storage[head...] }

    mutating func append(_ element: Element) { storage.append(element) }

    /// Elements leave at once but their memory only when half of it is unused.
    mutating func removeFirst(_ count: Int = 1) {
        head += min(count, self.count)
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

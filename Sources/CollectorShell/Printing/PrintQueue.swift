import NearbyCore

/// The texts that wait for a reader. One that finds no room is dropped whole, and so is each that
/// follows until all that waits is written: one gap, not many.
struct PrintQueue: Sendable {
    private var waiting = Deque<[UInt8]>()
    /// Of what waits, and of what is being written.
    private var byteCount = 0
    private var isDropping = false
    /// errno's code.
    private(set) var fault: Int32?

    var isEmpty: Bool { byteCount == 0 }

    /// False: dropped. After a fault everything is as good as written.
    mutating func add(_ text: [UInt8], bytesMax: Int) -> Bool {
        guard fault == nil else { return true }
        guard !isDropping, isEmpty || byteCount + text.count <= bytesMax else {
            isDropping = true
            return false
        }
        waiting.append(text)
        byteCount += text.count
        return true
    }

    mutating func replaceWaiting(with text: [UInt8]) {
        guard fault == nil else { return }
        while let older = waiting.popFirst() { byteCount -= older.count }
        waiting.append(text)
        byteCount += text.count
    }

    /// What is to be written next. It counts until it is written.
    mutating func next() -> [UInt8]? { waiting.popFirst() }

    /// Returns whether there is room again after texts were dropped.
    mutating func wrote(_ text: [UInt8]) -> Bool {
        byteCount -= text.count
        guard isEmpty, isDropping else { return false }
        isDropping = false
        return true
    }

    mutating func fail(_ code: Int32) {
        fault = code
        waiting.removeAll()
        byteCount = 0
    }
}

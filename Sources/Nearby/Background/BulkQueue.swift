import NearbyCore
import NearbyEngine

extension Limits {
    /// Bulk datagrams that are opened before sockets and timers have their turn again, beside
    /// messages, which then wait some 20 µs, and without any.
    static let bulkQuantum = 2
    static let bulkQuantumMax = 64
    /// Bulk datagrams that wait: what one peer may have under way.
    static let bulkQueueMax = 1_024
}

/// Datagrams of resources that came and were not opened so far. They are taken from the socket at
/// once, which costs a tenth of opening them, so that no message has to stand behind them there.
struct BulkQueue {
    /// Messages pass.
    var isShared = false
    private var waiting = Deque<Node.Input>()

    var isEmpty: Bool { waiting.isEmpty }

    /// - Returns: false if there is no room; the sender takes it for a loss, and slows down.
    mutating func add(_ datagram: Node.Input) -> Bool {
        guard waiting.count < Limits.bulkQueueMax else { return false }
        waiting.append(datagram)
        return true
    }

    /// As many as may be opened in a row, the oldest first.
    mutating func takeQuantum() -> [Node.Input] {
        let most = isShared ? Limits.bulkQuantum : Limits.bulkQuantumMax
        let quantum = (0..<min(waiting.count, most)).map { waiting[$0] }
        waiting.removeFirst(quantum.count)
        return quantum
    }

    mutating func removeAll() { waiting.removeAll() }
}

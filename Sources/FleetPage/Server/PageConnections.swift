import CMicroHTTPD
import Glibc

/// The connections, and which of them wait for a whole request. Whoever sends one byte now and then
/// would hold its place for ever: where places become few, the one that has waited for longest is
/// ended.
///
/// For libmicrohttpd's thread, which closes no socket between two calls.
struct PageConnections {
    private struct Waiting {
        var socket: Int32
        /// The order in which they began to wait.
        var number: UInt64
    }

    /// Above this number of connections, each new one ends a waiting one.
    let enough: Int
    private(set) var count = 0
    private var waiting: [OpaquePointer: Waiting] = [:]
    private var lastNumber: UInt64 = 0

    init(enough: Int) { self.enough = enough }

    var waitingCount: Int { waiting.count }

    /// - Returns: the socket of one that is to end.
    mutating func opened(_ connection: OpaquePointer, socket: Int32) -> Int32? {
        count += 1
        wait(connection, socket: socket)
        guard count > enough,
            let oldest = waiting.min(by: { $0.value.number < $1.value.number })
        else { return nil }
        // It is told of as closed soon.
        waiting[oldest.key] = nil
        return oldest.value.socket
    }

    mutating func closed(_ connection: OpaquePointer) {
        count -= 1
        waiting[connection] = nil
    }

    /// A request has come.
    mutating func busy(_ connection: OpaquePointer) { waiting[connection] = nil }

    /// It was answered, and another one may come.
    mutating func wait(_ connection: OpaquePointer, socket: Int32) {
        lastNumber += 1
        waiting[connection] = Waiting(socket: socket, number: lastNumber)
    }
}

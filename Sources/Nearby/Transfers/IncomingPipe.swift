import NearbyCore
import Synchronization

/// What came over a stream and the program has not read: as much as the writer was given credit
/// for.
final class IncomingPipe: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        /// Those before were read.
        var head = 0
        /// Read since the background thread was told.
        var consumed = 0
        var isEnded = false
        var isStopped = false
        var error: NearbyError?
        var isPosted = false
        var waiter: Reply<Void>?
        var onBytes: (@Sendable () -> Void)?

        var isEmpty: Bool { head >= bytes.count }
    }

    private let state = Mutex(State())

    // MARK: The program

    var isOpen: Bool {
        state.withLock { !($0.isEnded && $0.isEmpty) && !$0.isStopped && $0.error == nil }
    }

    var onBytes: (@Sendable () -> Void)? {
        get { state.withLock { $0.onBytes } }
        set { state.withLock { $0.onBytes = newValue } }
    }

    func read(upTo count: Int) throws(NearbyError) -> [UInt8]? {
        let outcome = state.withLock { state -> Result<[UInt8]?, NearbyError> in
            guard state.isEmpty else {
                let part = Array(state.bytes[state.head...].prefix(count))
                state.head += part.count
                state.consumed += part.count
                if state.isEmpty { (state.bytes, state.head) = ([], 0) }
                return .success(part)
            }
            if let error = state.error { return .failure(error) }
            return .success(state.isEnded || state.isStopped ? nil : [])
        }
        return try outcome.get()
    }

    func waitForBytes() async throws(NearbyError) {
        let reply = Reply<Void>()
        let isReady = state.withLock { state in
            if !state.isEmpty || state.isEnded || state.isStopped || state.error != nil {
                return true
            }
            state.waiter?.succeed()
            state.waiter = reply
            return false
        }
        if !isReady { try await reply.value {} }
    }

    func stop() {
        wake { state in
            state.isStopped = true
            state.bytes = []
            state.head = 0
        }
    }

    func becomesPosted() -> Bool {
        state.withLock { state in
            defer { state.isPosted = true }
            return !state.isPosted
        }
    }

    // MARK: The background thread

    /// How many bytes were read since the last time, whether no more are wanted, and whether all
    /// came and was read.
    func news() -> (consumed: Int, isStopped: Bool, isReadToEnd: Bool) {
        state.withLock { state in
            state.isPosted = false
            defer { state.consumed = 0 }
            return (state.consumed, state.isStopped, state.isEnded && state.isEmpty)
        }
    }

    func received(_ bytes: [UInt8]) {
        wake { state in
            guard !state.isStopped else { return }
            if state.head > 0 {
                state.bytes.removeFirst(state.head)
                state.head = 0
            }
            if state.bytes.isEmpty { state.bytes = bytes } else { state.bytes += bytes }
        }
    }

    func end() { wake { $0.isEnded = true } }

    /// Before its end; what came can still be read. One that has ended has come whole.
    func end(_ error: NearbyError) {
        wake { if $0.error == nil, !$0.isEnded { $0.error = error } }
    }

    private func wake(_ change: (inout State) -> Void) {
        let (waiter, onBytes) = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return (state.waiter, state.onBytes)
        }
        waiter?.succeed()
        onBytes?()
    }
}

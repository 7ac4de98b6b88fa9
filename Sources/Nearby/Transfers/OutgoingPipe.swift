import NearbyCore
import Synchronization

/// What a program wrote to a stream and the background thread has not taken: at most 256 KiB.
final class OutgoingPipe: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isFinished = false
        var isReset = false
        /// Why nothing more can be written.
        var error: NearbyError?
        /// The background thread knows that there is something to do.
        var isPosted = false
        var waiters: [Reply<Void>] = []
        var onRoom: (@Sendable () -> Void)?

        var isOpen: Bool { !isFinished && !isReset && error == nil }
    }

    let name: String
    let peer: Peer
    let session: OpenedSession
    private let state = Mutex(State())

    init(_ name: String, to peer: Peer, in session: OpenedSession) {
        self.name = name
        self.peer = peer
        self.session = session
    }

    // MARK: The program

    var isOpen: Bool { state.withLock { $0.isOpen } }

    var onRoom: (@Sendable () -> Void)? {
        get { state.withLock { $0.onRoom } }
        set { state.withLock { $0.onRoom = newValue } }
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(NearbyError) -> Int {
        let outcome = state.withLock { state -> Result<Int, NearbyError> in
            if let error = state.error { return .failure(error) }
            guard state.isOpen else {
                return .failure(
                    NearbyError(.invalidParameter, "the stream \"\(name)\" is finished"))
            }
            let count = min(bytes.count, Self.bytesMax - state.bytes.count)
            state.bytes += bytes.prefix(count)
            return .success(count)
        }
        return try outcome.get()
    }

    func waitForRoom() async throws(NearbyError) {
        let reply = Reply<Void>()
        let isRoom = state.withLock { state in
            state.waiters.removeAll(where: \.isResolved)
            if state.bytes.count < Self.bytesMax || !state.isOpen { return true }
            state.waiters.append(reply)
            return false
        }
        if !isRoom { try await reply.value {} }
    }

    func finish() { state.withLock { $0.isFinished = true } }

    func reset() {
        let waiters = state.withLock { state in
            state.isReset = true
            state.bytes = []
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.succeed() }
    }

    /// Whether the background thread is to be told.
    func becomesPosted() -> Bool {
        state.withLock { state in
            defer { state.isPosted = true }
            return !state.isPosted
        }
    }

    // MARK: The background thread

    enum Wish {
        case write([UInt8])
        case finish
        case reset
        /// There are bytes, and no room for any.
        case room
        case nothing
    }

    /// What the program wants next; at most so many bytes.
    func next(upTo room: Int) -> Wish {
        let (wish, waiters, onRoom) = state.withLock {
            state -> (Wish, [Reply<Void>], (@Sendable () -> Void)?) in
            state.isPosted = false
            if state.error != nil { return (.nothing, [], nil) }
            if state.isReset { return (.reset, [], nil) }
            guard !state.bytes.isEmpty else {
                return (state.isFinished ? .finish : .nothing, [], nil)
            }
            guard room > 0 else { return (.room, [], nil) }
            let taken: [UInt8]
            if room >= state.bytes.count {
                taken = state.bytes
                state.bytes = []
            } else {
                taken = Array(state.bytes.prefix(room))
                state.bytes.removeFirst(room)
            }
            defer { state.waiters = [] }
            return (.write(taken), state.waiters, state.onRoom)
        }
        for waiter in waiters { waiter.succeed() }
        onRoom?()
        return wish
    }

    /// The stream is over.
    func end(_ error: NearbyError) {
        let (waiters, onRoom) = state.withLock { state in
            if state.error == nil { state.error = error }
            defer { state.waiters = [] }
            return (state.waiters, state.onRoom)
        }
        for waiter in waiters { waiter.succeed() }
        onRoom?()
    }

    private static let bytesMax = 256 << 10
}

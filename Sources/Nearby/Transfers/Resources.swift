import NearbyCore
import Synchronization

/// How far a file is.
public struct Progress: Sendable, Equatable {
    /// Bytes.
    public var completed: Int64
    /// The size of the file, in bytes.
    public var total: Int64

    /// Of so many bytes, so many.
    public init(completed: Int64, total: Int64) {
        self.completed = completed
        self.total = total
    }
}

/// A file on its way to a member. Let go, it goes on.
public final class OutgoingResource: Sendable {
    private let state: TransferState
    private let outcome: Reply<Void>

    init(_ state: TransferState, _ outcome: Reply<Void>) {
        self.state = state
        self.outcome = outcome
    }

    /// The latest, as it changes, until it is over.
    public var progress: Events<Progress> { Events(queue: state.progress) }

    /// How far it is now.
    public var current: Progress { state.current }

    /// Bytes that the receiver had already from an earlier attempt; nil: it has not answered.
    public var resumedAt: Int64? { state.resumedAt }

    /// Ends it on both sides: `.cancelled`.
    public func cancel() {
        outcome.resolve(.failure(.cancelled))
        state.cancel()
    }

    /// Returns when the receiver has all of it, checked. For one task; cancelled, the file goes on.
    ///
    /// - Throws: `.cancelled`, by either side; `.notConnected`; `.unavailable` with the reason.
    public func finished() async throws(NearbyError) {
        try await outcome.value()
    }
}

/// A file that comes from a member. Let go before it is there, it is cancelled.
public final class IncomingResource: Sendable {
    /// The last part of what the sender called it, and never a path.
    public let name: String
    /// Who sends it.
    public let from: Peer
    /// Its size, as the sender says; no more than that is taken.
    public let byteCount: Int64
    private let state: TransferState
    private let outcome: Reply<String>

    init(
        name: String, from: Peer, byteCount: Int64, _ state: TransferState,
        _ outcome: Reply<String>
    ) {
        self.name = name
        self.from = from
        self.byteCount = byteCount
        self.state = state
        self.outcome = outcome
    }

    /// The latest, as it changes, until it is over.
    public var progress: Events<Progress> { Events(queue: state.progress) }

    /// How far it is now.
    public var current: Progress { state.current }

    /// Bytes that were here already from an earlier attempt.
    public var resumedAt: Int64 { state.resumedAt ?? 0 }

    /// Ends it on both sides: `.cancelled`.
    ///
    /// - Parameter keepingPart: if true, what an earlier attempt left here is kept for a later one,
    ///   without what has arrived since; otherwise it is removed.
    public func cancel(keepingPart: Bool = false) {
        outcome.resolve(.failure(.cancelled))
        state.cancel(keepingPart: keepingPart)
    }

    /// The path of the file, whole and checked. Ours to move away: it is removed when this object
    /// goes. For one task; cancelled, the file goes on.
    ///
    /// - Throws: `.cancelled`, by either side; `.notConnected`; `.unavailable` with the reason.
    public func file() async throws(NearbyError) -> String {
        try await outcome.value()
    }

    deinit {
        if !outcome.resolve(.failure(.cancelled)), let path = outcome.told { removeFile(path) }
        state.cancel()
    }
}

/// What the program and the background thread share of a file on its way.
final class TransferState: Sendable {
    let progress = EventQueue<Progress>(count: 1)
    private struct State {
        var current: Progress
        var resumedAt: Int64?
        var isOver = false
        var isCancelled = false
        var keepsPart = false
    }

    private let state: Mutex<State>

    init(byteCount: Int64) {
        state = Mutex(State(current: Progress(completed: 0, total: byteCount)))
    }

    var resumedAt: Int64? { state.withLock { $0.resumedAt } }

    /// The receiver has so many bytes.
    func begin(at byteCount: Int64) {
        state.withLock { $0.resumedAt = byteCount }
        update(byteCount)
    }

    var current: Progress { state.withLock { $0.current } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// What an earlier attempt left is to stay.
    var keepsPart: Bool { state.withLock { $0.keepsPart } }

    func update(_ completed: Int64) {
        let news = state.withLock { state -> Progress? in
            guard completed != state.current.completed else { return nil }
            state.current.completed = completed
            return state.current
        }
        if let news { progress.push(news, .news) }
    }

    func cancel(keepingPart: Bool = false) {
        let isNews = state.withLock { state in
            defer { state.isCancelled = true }
            if !state.isCancelled { state.keepsPart = keepingPart }
            return !state.isOver && !state.isCancelled
        }
        if isNews { Background.shared.postIfRunning(.cancelTransfer(self)) }
    }

    func end() {
        state.withLock { $0.isOver = true }
        progress.finish()
    }
}

import Store
import Synchronization

/// A cursor on its way to the store.
public struct CursorPost: Sendable {
    public var progress: OutputProgress
    /// Of the store, which is another one after it was set aside.
    public var generation: UInt64
    var batch: UInt64
}

/// Where the outputs' threads and the store's thread meet: cursors one way, news the other.
public final class OutputExchange: Sendable {
    private struct State {
        var threads: [OutputThread] = []
        /// The newest of each output.
        var posts: [String: CursorPost] = [:]
        var keep: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    public init() {}

    // MARK: The store's thread

    /// - Parameter keep: called when cursors are to be kept now, though there is no commit; from
    ///   any thread.
    public func onKeep(_ keep: @escaping @Sendable () -> Void) {
        state.withLock { $0.keep = keep }
    }

    /// What is to be kept with the next commit; those of another store are dropped.
    public func take(generation: UInt64) -> [CursorPost] {
        state.withLock { state in
            let posts = state.posts.values.filter { $0.generation == generation }
            state.posts = [:]
            return posts.sorted { $0.progress.name < $1.progress.name }
        }
    }

    /// These are kept.
    public func kept(_ posts: [CursorPost]) {
        let threads = state.withLock { $0.threads }
        for post in posts {
            for thread in threads where thread.name == post.progress.name {
                thread.mail.kept(batch: post.batch)
            }
        }
    }

    /// They could not be kept; newer ones have replaced them, perhaps.
    public func giveBack(_ posts: [CursorPost]) {
        state.withLock { state in
            for post in posts where state.posts[post.progress.name] == nil {
                state.posts[post.progress.name] = post
            }
        }
    }

    /// Something was committed.
    public func committed() {
        for thread in state.withLock({ $0.threads }) { thread.mail.hearNews() }
    }

    // MARK: The outputs' side

    func add(_ thread: OutputThread) { state.withLock { $0.threads.append(thread) } }

    func remove(_ thread: OutputThread) {
        state.withLock { $0.threads.removeAll { $0 === thread } }
    }

    /// - Parameter isValid: asked while nothing can be forgotten.
    func post(_ post: CursorPost, if isValid: () -> Bool = { true }) {
        state.withLock { state in
            if isValid() { state.posts[post.progress.name] = post }
        }
    }

    /// The output is not configured any more: what was posted of it would move the cursor of
    /// another one that is called the same later.
    func forget(_ name: String) { state.withLock { $0.posts[name] = nil } }

    func keepNow() { state.withLock { $0.keep }?() }
}

import Synchronization

/// Where the newest snapshot hangs: the logic thread publishes, any other reads. Nobody makes one
/// that nobody reads.
public final class FleetBoard: Sendable {
    private struct State {
        var latest: FleetSnapshot?
        /// How often nobody has to look until none is made any more.
        var patience = 0
    }

    private static let patience = 10

    private let state = Mutex(State())

    public init() {}

    public func publish(_ snapshot: FleetSnapshot) { state.withLock { $0.latest = snapshot } }

    /// Nil until the first, and after a time in which nobody looked: the next comes within a
    /// second.
    public var latest: FleetSnapshot? {
        state.withLock {
            $0.patience = Self.patience
            return $0.latest
        }
    }

    /// Whether somebody looked lately; asked once a second, before one is made.
    public func isWanted() -> Bool {
        state.withLock {
            guard $0.patience > 0 else {
                // What hangs there is old.
                $0.latest = nil
                return false
            }
            $0.patience -= 1
            return true
        }
    }
}

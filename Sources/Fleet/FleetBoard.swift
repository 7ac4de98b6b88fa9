import Synchronization

/// Where the newest snapshot hangs: the logic thread publishes, any other reads. Nobody makes one
/// that nobody reads.
public final class FleetBoard: Sendable {
    private struct State {
        var latest: FleetSnapshot?
        /// How many were published.
        var turn: UInt64 = 0
        /// How often nobody has to look until none is made any more.
        var patience = 0
    }

    private static let patience = 10

    private let state = Mutex(State())

    public init() {}

    public func publish(_ snapshot: FleetSnapshot) {
        state.withLock { state in
            state.latest = snapshot
            state.turn += 1
        }
    }

    /// Nil until the first, and after a time in which nobody looked: the next comes within a
    /// second.
    public var latest: FleetSnapshot? { newest?.snapshot }

    /// As `latest`, with its number: whoever has made something of it can tell whether that is
    /// still the newest.
    public var newest: (turn: UInt64, snapshot: FleetSnapshot)? {
        state.withLock { state in
            state.patience = Self.patience
            return state.latest.map { (state.turn, $0) }
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

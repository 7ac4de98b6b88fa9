import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import Synchronization

/// Answers out of the newest snapshot, on a thread that may take its time over it: of a thousand
/// nodes they have megabytes. What many ask is made once for each snapshot.
final class SnapshotDesk: Sendable {
    private struct Made: Sendable {
        let turn: UInt64
        let response: PageResponse
    }

    private static let wait: Duration = .seconds(3)
    private static let tooEarly = PageResponse(503, "there is no snapshot yet; try again")

    private let board: FleetBoard
    private let workers = WorkerPool(threads: 1, most: 4)
    private let made = Mutex<[SnapshotForm: Made]>([:])

    init(_ board: FleetBoard) { self.board = board }

    /// `done` is called exactly once, on another thread or at once if too many wait.
    func answer(_ form: SnapshotForm, _ done: @escaping @Sendable (PageResponse) -> Void) {
        let isTaken = workers.run { [self] in done(answerNow(form)) }
        if !isTaken { done(Self.tooEarly) }
    }

    private func answerNow(_ form: SnapshotForm) -> PageResponse {
        guard let (turn, snapshot) = newest else { return Self.tooEarly }
        // Whoever asks the same meanwhile waits here, and finds it.
        return made.withLock { made in
            if let known = made[form], known.turn == turn { return known.response }
            let response = form.response(snapshot)
            made[form] = Made(turn: turn, response: response)
            return response
        }
    }

    /// Nobody makes snapshots while nobody looks: the first is waited for.
    private var newest: (turn: UInt64, snapshot: FleetSnapshot)? {
        let end = MonotonicClock.now() + Self.wait
        while true {
            if let newest = board.newest { return newest }
            guard MonotonicClock.now() < end else { return nil }
            usleep(50_000)
        }
    }
}

extension SnapshotForm {
    fileprivate func response(_ snapshot: FleetSnapshot) -> PageResponse {
        switch self {
        case .fleet: .json(FleetJSON.text(snapshot))
        case .metrics(let openMetrics):
            MetricsText.response(snapshot, openMetrics: openMetrics)
        }
    }
}

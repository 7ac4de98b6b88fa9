import NearbyCore
import Telemetry

extension Limits {
    /// How long readings of a killed run may still be on their way when its successor was heard.
    static let lostEndTime: Duration = .seconds(10)
    /// Killed runs whose ends are waited for.
    static let lostEndsMax = 1_024
}

/// Runs that were killed, by the word of the runs that followed them: what they had in memory only
/// is lost, and is told of once what was on its way has come.
struct LostEnds: Sendable {
    private var due: [RunKey: (at: Instant, previous: PreviousRun)] = [:]

    var nextDeadline: Instant? { due.values.map(\.at).min() }

    /// A run says how the one before it ended.
    mutating func add(_ previous: PreviousRun, of peer: PeerID, now: Instant) {
        guard previous.endedInOrder == false else { return }
        let key = RunKey(peer: peer, run: previous.run)
        guard due[key] != nil || due.count < Limits.lostEndsMax else { return }
        due[key] = (due[key]?.at ?? now + Limits.lostEndTime, previous)
    }

    /// Those that nothing comes of any more.
    mutating func takeDue(now: Instant) -> [(key: RunKey, previous: PreviousRun)] {
        let over = due.filter { $0.value.at <= now }
        for key in over.keys { due[key] = nil }
        return over.sorted { $0.key < $1.key }.map { ($0.key, $0.value.previous) }
    }
}

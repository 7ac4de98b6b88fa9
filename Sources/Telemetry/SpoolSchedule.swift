import NearbyCore

/// When the journal goes to disk, and how much is asked of the disk at a time: one batch, and a few
/// blocks to be read.
struct SpoolSchedule: Sendable {
    private enum State { case idle, writing, paused(until: Instant) }

    private var state = State.idle
    private var fetchCount = 0

    /// When the next batch is due; nil while one is being written, or nothing waits.
    func deadline(of journal: Journal) -> Instant? {
        guard let due = journal.spoolDeadline else { return nil }
        switch state {
        case .idle: return due
        case .writing: return nil
        case .paused(let until): return max(due, until)
        }
    }

    var mayFetch: Bool { fetchCount < Limits.fetchesMax }

    mutating func writing() { state = .writing }

    mutating func written() { state = .idle }

    /// The disk is full or broken: the same blocks are tried again later.
    mutating func failed(now: Instant) { state = .paused(until: now + Limits.spoolPause) }

    mutating func fetching() { fetchCount += 1 }

    mutating func fetched() { fetchCount = max(0, fetchCount - 1) }
}

extension Limits {
    /// Blocks that are being read from disk at a time.
    static let fetchesMax = 4
    /// After the disk refused a batch.
    static let spoolPause: Duration = .seconds(10)
    /// Gaps are announced at most so often, and so many together.
    static let gapInterval: Duration = .seconds(1)
    static let gapsTogetherMax = 16
}

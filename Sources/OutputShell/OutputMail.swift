import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import Outputs
import Store
import Synchronization

/// What others leave for an output's thread, and what the thread shows them: all that they share,
/// behind one lock that is never held for long.
final class OutputMail: Sendable {
    private struct Shared {
        var source: OutputSource?
        var hasNews = false
        var keptBatch: UInt64 = 0
        var isStopping = false
        var isAbandoned = false
        var isForgotten = false
        var isFinished = false
        var status: OutputStatus
        var oldest: Int64?
        var failingSince: Instant?
        /// How far it came, and in which store.
        var progress: (OutputProgress, generation: UInt64)?
        var estate: OutputEstate?
    }

    private let shared: Mutex<Shared>
    private let bell: Doorbell

    init(_ settings: OutputSettings, _ source: OutputSource) throws(SystemError) {
        bell = try Doorbell()
        let status = OutputStatus(
            name: settings.name, kind: settings.kind.name, target: settings.kind.target)
        shared = Mutex(Shared(source: source, status: status))
    }

    // MARK: From other threads

    func hearNews() { change { $0.hasNews = true } }

    func kept(batch: UInt64) { change { $0.keptBatch = max($0.keptBatch, batch) } }

    /// The store is another one from now on.
    func move(to source: OutputSource) { change { $0.source = source } }

    /// It ends when the call that is under way has returned.
    func stop() { change { $0.isStopping = true } }

    /// Nobody waits for it any more, and what it posts does not count.
    func abandon() { change { $0.isAbandoned = true } }

    /// Its cursor is given up: one that is called the same does not go on from it.
    func forget() {
        change {
            $0.isAbandoned = true
            $0.isForgotten = true
        }
    }

    var isFinished: Bool { shared.withLock { $0.isFinished } }

    /// Where another one goes on.
    var progress: (OutputProgress, generation: UInt64)? {
        shared.withLock { $0.isForgotten ? nil : $0.progress }
    }

    /// What its sink leaves to the one that goes on.
    var estate: OutputEstate? { shared.withLock { $0.estate } }

    /// - Parameter utc: ours, nanoseconds.
    func status(now: Instant, utc: Int64) -> OutputStatus {
        shared.withLock { shared in
            var status = shared.status
            let lag = shared.oldest.map { utc.subtractingSaturating($0) } ?? 0
            status.lag = .nanoseconds(max(0, lag))
            status.failingSince = shared.failingSince.map { now - $0 }
            return status
        }
    }

    /// The last cursor of the one before is where the next begins.
    func waitForEnd(patience: Duration) {
        let end = MonotonicClock.now() + patience
        while !isFinished, MonotonicClock.now() < end { usleep(20_000) }
        abandon()
    }

    private func change(_ body: (inout Shared) -> Void) {
        shared.withLock { body(&$0) }
        bell.ring()
    }

    // MARK: From the output's thread

    /// Until there is something for it, or the time has come.
    func wait(until end: Instant) { bell.wait(until: end) }

    /// What came since the last time.
    func take() -> (hasNews: Bool, keptBatch: UInt64, isStopping: Bool) {
        shared.withLock { shared in
            defer { shared.hasNews = false }
            return (shared.hasNews, shared.keptBatch, shared.isStopping)
        }
    }

    /// The store that is there now, if that is news.
    func takeSource() -> OutputSource? {
        shared.withLock { shared in
            defer { shared.source = nil }
            return shared.source
        }
    }

    var isStopping: Bool { shared.withLock { $0.isStopping } }

    var isAbandoned: Bool { shared.withLock { $0.isAbandoned } }

    func record(_ progress: OutputProgress, generation: UInt64) {
        shared.withLock { $0.progress = (progress, generation) }
    }

    func show(_ machine: OutputMachine, _ work: OutputWork) {
        shared.withLock { shared in
            shared.status.phase = machine.state
            shared.status.lastFault = machine.fault?.text
            shared.failingSince = machine.fault?.since
            shared.status.waitingCount = work.waitingCount
            shared.oldest = work.oldest
            guard let progress = work.progress else { return }
            shared.status.deliveredCount = progress.deliveredCount
            shared.status.refusedCount = progress.refusedCount
            shared.status.lostCount = progress.lostCount
        }
    }

    func finish(leaving estate: OutputEstate?) {
        shared.withLock { shared in
            shared.estate = estate
            shared.isFinished = true
        }
    }
}

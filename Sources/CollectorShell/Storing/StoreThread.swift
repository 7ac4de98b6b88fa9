import CollectorComposition
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import OutputShell
import Store
import Synchronization

/// The one thread that the store lives on. An fsync on a card takes seconds now and then; the
/// logic thread only posts batches and takes answers.
final class StoreThread: @unchecked Sendable {
    enum Answer: Sendable {
        case done(CollectorNode.StoreResult)
        /// Windows or retention had to be left for later.
        case untidy(String)
        /// Readings that are left out, because they cannot be read any more.
        case damaged(String)
        /// Where the outputs' log is, and whose cursors are gone, or another's now.
        case outputs(OutputSource, departed: [OutputSuccession.Departure])
        /// Retention has begun, or ended, to wait for these outputs, or to delete what they need.
        case holds(Store.Holds)
    }

    let answers: Mailbox<Answer>
    private let worker = WorkerPool(threads: 1, most: 1)
    /// Touched on the worker only.
    private let work: StoreWork

    /// - Parameter exchange: where the outputs' cursors come from.
    init(
        path: String, settings: Store.Settings, exchange: OutputExchange
    ) throws(SystemError) {
        answers = try Mailbox()
        work = StoreWork(path, settings, exchange, answers)
        exchange.onKeep { [unowned self] in
            // If too much waits already, there is a commit among it.
            _ = worker.run { self.work.keepCursors() }
        }
    }

    func post(_ job: CollectorNode.StoreJob) {
        switch job {
        case .open: run { _ = self.work.openIfNeeded() }
        case .commit(let batch, let clock):
            run {
                guard self.work.commit(batch) else { return }
                self.work.tidy(clock) { self.worker.hasWaiting }
            }
        case .tidy(let clock):
            // If too much waits already, there is a commit among it, which tidies too.
            _ = worker.run { self.work.tidy(clock) { self.worker.hasWaiting } }
        }
    }

    /// Writes who reaches whom; what cannot be written now is written with the next.
    func record(mesh links: [FleetLink], utc: Int64) {
        _ = worker.run { self.work.record(mesh: links, utc: utc) }
    }

    /// Another set of outputs.
    func use(_ outputs: [OutputRegistration]) {
        if !worker.run({ self.work.use(outputs) }) {
            _ = answers.post(.untidy("outputs: the store is far behind; reload again"))
        }
    }

    /// The outputs' last cursors, after they have ended. Waits until they are kept, or for so long.
    func keepLast(until end: Instant) {
        let isKept = Atomic(false)
        guard
            worker.run({
                self.work.keepCursors(); isKept.store(true, ordering: .releasing)
            })
        else {
            return
        }
        while !isKept.load(ordering: .acquiring), MonotonicClock.now() < end { usleep(5_000) }
    }

    private func run(_ job: @escaping @Sendable () -> Void) {
        if !worker.run(job) { _ = answers.post(.done(.refused("the store is far behind"))) }
    }
}

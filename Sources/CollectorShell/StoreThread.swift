import Collector
import CollectorComposition
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Store
import Telemetry

/// The one thread that the store lives on. An fsync on a card takes seconds now and then; the
/// logic thread only posts batches and takes answers.
final class StoreThread: @unchecked Sendable {
    enum Answer: Sendable {
        case done(CollectorNode.StoreAnswer)
        /// Windows or retention had to be left for later.
        case untidy(String)
    }

    private static let tidyRounds = 4

    let answers: Mailbox<Answer>
    private let path: String
    private let settings: Store.Settings
    private let worker = WorkerPool(threads: 1, most: 1)
    // Touched on the worker only.
    private var store: Store?
    private var isDamaged = false

    init(path: String, settings: Store.Settings) throws(SystemError) {
        self.path = path
        self.settings = settings
        answers = try Mailbox()
    }

    func post(_ job: CollectorNode.StoreJob) {
        switch job {
        case .open: run { _ = self.openIfNeeded() }
        case .commit(let batch, let clock): commit(batch, clock)
        case .tidy(let clock): run { if let store = self.store { self.tidy(store, clock) } }
        }
    }

    /// Writes the batch, opening the store if that failed before. Then does a bounded piece of what
    /// can wait.
    private func commit(_ batch: StoreBatch, _ clock: ClockReading) {
        run {
            guard self.openIfNeeded(), let store = self.store else { return }
            do throws(StoreError) {
                let refused = try store.commit(batch)
                self.answer(.committed(without: refused, freeBytes: self.freeBytes))
            } catch {
                return self.failed(error)
            }
            self.tidy(store, clock)
        }
    }

    /// A few short pieces: the next commit is a second away.
    private func tidy(_ store: Store, _ clock: ClockReading) {
        do throws(StoreError) {
            for _ in 0..<Self.tidyRounds {
                if try store.tidy(now: MonotonicClock.now(), clock: clock).isDone { break }
            }
        } catch {
            _ = answers.post(.untidy(error.description))
        }
    }

    private func failed(_ error: StoreError) {
        if case .damaged = error {
            store = nil
            isDamaged = true
        }
        answer(.refused(error.description))
    }

    private func run(_ job: @escaping @Sendable () -> Void) {
        if !worker.run(job) { answer(.refused("the store is far behind")) }
    }

    private func openIfNeeded() -> Bool {
        if store != nil { return true }
        do throws(StoreError) {
            let opened = try Store.open(path, settings, isDamaged: isDamaged)
            store = opened.store
            isDamaged = false
            answer(.opened(opened.runs, opened.clocks, notices: opened.notices))
            return true
        } catch {
            answer(.refused(error.description))
            return false
        }
    }

    private var freeBytes: Int? {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        let (bytes, isPast) = Int(space.f_bavail).multipliedReportingOverflow(
            by: Int(space.f_frsize))
        return isPast ? nil : bytes
    }

    private func answer(_ answer: CollectorNode.StoreAnswer) { _ = answers.post(.done(answer)) }
}

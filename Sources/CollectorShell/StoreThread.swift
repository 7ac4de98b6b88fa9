import Collector
import CollectorComposition
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import OutputShell
import Store
import Synchronization
import Telemetry

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

    /// Pieces of tidying after each commit, where the next one waits already.
    private static let tidyRounds = 4
    /// No further piece is begun after so long, whether anything waits or not.
    private static let tidyTime: Duration = .milliseconds(200)

    let answers: Mailbox<Answer>
    private let path: String
    private let exchange: OutputExchange
    private let worker = WorkerPool(threads: 1, most: 1)
    // Touched on the worker only.
    private var settings: Store.Settings
    private var store: Store?
    private var isDamaged = false
    /// How often a store was opened.
    private var generation: UInt64 = 0
    private var holds = Store.Holds()
    /// Outputs that could not be registered yet.
    private var isRegistrationDue = false
    /// What was told last, until it went well again.
    private var untidyText: String?

    /// - Parameter exchange: where the outputs' cursors come from.
    init(
        path: String, settings: Store.Settings, exchange: OutputExchange
    ) throws(SystemError) {
        self.path = path
        self.settings = settings
        self.exchange = exchange
        answers = try Mailbox()
        exchange.onKeep { [unowned self] in
            // If too much waits already, there is a commit among it.
            _ = worker.run { self.keepCursors() }
        }
    }

    func post(_ job: CollectorNode.StoreJob) {
        switch job {
        case .open: run { _ = self.openIfNeeded() }
        case .commit(let batch, let clock): commit(batch, clock)
        case .tidy(let clock):
            // If too much waits already, there is a commit among it, which tidies too.
            _ = worker.run { if let store = self.store { self.tidy(store, clock) } }
        }
    }

    /// Writes who reaches whom; what cannot be written now is written with the next.
    func record(mesh links: [FleetLink], utc: Int64) {
        _ = worker.run {
            guard let store = self.store else { return }
            do throws(StoreError) {
                try store.record(mesh: links, utc: utc)
            } catch {
                _ = self.answers.post(.untidy(error.description))
            }
        }
    }

    /// Writes the batch, opening the store if that failed before. Then does a bounded piece of what
    /// can wait.
    private func commit(_ batch: StoreBatch, _ clock: ClockReading) {
        run {
            if let store = self.store, !store.isInPlace() { self.abandon() }
            guard self.openIfNeeded(), let store = self.store else { return }
            if self.isRegistrationDue { self.register() }
            let posts = self.exchange.take(generation: self.generation)
            do throws(StoreError) {
                let refused = try store.commit(
                    batch, progress: posts.map(\.progress),
                    utc: WallClock.read().unixNanoseconds)
                self.answer(.committed(without: refused, freeBytes: self.freeBytes))
            } catch {
                self.exchange.giveBack(posts)
                return self.failed(error)
            }
            self.exchange.kept(posts)
            self.exchange.committed()
            self.tidy(store, clock)
        }
    }

    // MARK: Outputs

    /// Another set of outputs.
    func use(_ outputs: [OutputRegistration]) {
        let isTaken = worker.run {
            self.settings.outputs = outputs
            self.register()
        }
        if !isTaken { _ = answers.post(.untidy("outputs: the store is far behind; reload again")) }
    }

    /// What fails is tried again with the next commit: the former outputs have ended already. Where
    /// no store is open, they are registered when it is.
    private func register() {
        isRegistrationDue = false
        guard let store else { return }
        do throws(StoreError) {
            tell(try store.register(settings.outputs))
        } catch {
            isRegistrationDue = true
            untidy("outputs: \(error)")
        }
    }

    private func tell(_ registered: Store.Registered) {
        let source = OutputSource(
            path: path, generation: generation, progress: registered.progress)
        _ = answers.post(.outputs(source, departed: registered.departed))
    }

    /// Where no commit takes them along.
    private func keepCursors() {
        guard let store else { return }
        let posts = exchange.take(generation: generation)
        guard !posts.isEmpty else { return }
        do throws(StoreError) {
            try store.save(posts.map(\.progress))
            exchange.kept(posts)
        } catch {
            exchange.giveBack(posts)
        }
    }

    /// The outputs' last cursors, after they have ended. Waits until they are kept, or for so long.
    func keepLast(until end: Instant) {
        let isKept = Atomic(false)
        guard
            worker.run({
                self.keepCursors(); isKept.store(true, ordering: .releasing)
            })
        else {
            return
        }
        while !isKept.load(ordering: .acquiring), MonotonicClock.now() < end { usleep(5_000) }
    }

    // MARK: Parts

    /// A few short pieces, and more while nobody waits: the next commit is a second away.
    private func tidy(_ store: Store, _ clock: ClockReading) {
        let end = MonotonicClock.now() + Self.tidyTime
        var rounds = 0
        do throws(StoreError) {
            while rounds == 0
                || MonotonicClock.now() < end && (rounds < Self.tidyRounds || !worker.hasWaiting)
            {
                rounds += 1
                let report = try store.tidy(now: MonotonicClock.now(), clock: clock)
                if report.holds != holds {
                    holds = report.holds
                    _ = answers.post(.holds(holds))
                }
                for line in report.damagedBlocks { _ = answers.post(.damaged(line)) }
                if report.isDone { break }
            }
            untidyText = nil
        } catch {
            untidy(error.description)
            damaged(by: error)
        }
    }

    /// The same text is told once: it may come with each commit.
    private func untidy(_ text: String) {
        guard text != untidyText else { return }
        untidyText = text
        _ = answers.post(.untidy(text))
    }

    /// What is damaged is set aside, and another begun, with the next commit.
    private func damaged(by error: StoreError) {
        guard case .damaged = error else { return }
        store = nil
        isDamaged = true
    }

    /// Nothing more is acknowledged for a file that nobody will find again.
    private func abandon() {
        store = nil
        let line =
            "\(path), or the log beside it, was removed, moved or replaced while it was in use; "
            + "what is there now is opened, or a new file made"
        _ = answers.post(.damaged(line))
    }

    private func failed(_ error: StoreError) {
        damaged(by: error)
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
            isRegistrationDue = false
            generation += 1
            tell(opened.outputs)
            answer(.opened(opened.runs, opened.clocks, diagnostics: opened.diagnostics))
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

    private func answer(_ answer: CollectorNode.StoreResult) { _ = answers.post(.done(answer)) }
}

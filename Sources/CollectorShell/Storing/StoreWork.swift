import Collector
import CollectorComposition
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import OutputShell
import Store
import Telemetry

/// What the thread of a store does with it: opens it, and anew when it is damaged or gone, writes
/// what it is given, keeps the outputs' cursors and tidies. Owns the open store.
final class StoreWork {
    private let path: String
    private var settings: Store.Settings
    private let exchange: OutputExchange
    private let answers: Mailbox<StoreThread.Answer>
    private var store: Store?
    private var isDamaged = false
    /// How often a store was opened.
    private var generation: UInt64 = 0
    /// Outputs that could not be registered yet.
    private var isRegistrationDue = false
    private var tidying: StoreTidying

    /// - Parameters:
    ///   - exchange: where the outputs' cursors come from.
    ///   - answers: where all that there is to say goes.
    init(
        _ path: String, _ settings: Store.Settings, _ exchange: OutputExchange,
        _ answers: Mailbox<StoreThread.Answer>
    ) {
        self.path = path
        self.settings = settings
        self.exchange = exchange
        self.answers = answers
        tidying = StoreTidying(answers)
    }

    /// False if there is no store now.
    func openIfNeeded() -> Bool {
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

    /// Writes the batch, opening the store if that failed before. False if nothing was written.
    func commit(_ batch: StoreBatch) -> Bool {
        if let store, !store.isInPlace() { abandon() }
        guard openIfNeeded(), let store else { return false }
        if isRegistrationDue { register() }
        let posts = exchange.take(generation: generation)
        do throws(StoreError) {
            let refused = try store.commit(
                batch, progress: posts.map(\.progress), utc: WallClock.read().unixNanoseconds)
            answer(.committed(without: refused, freeBytes: freeBytes))
        } catch {
            exchange.giveBack(posts)
            setAside(after: error)
            answer(.refused(error.description))
            return false
        }
        exchange.kept(posts)
        exchange.committed()
        return true
    }

    /// Writes who reaches whom.
    func record(mesh links: [FleetLink], utc: Int64) {
        do throws(StoreError) {
            try store?.record(mesh: links, utc: utc)
        } catch {
            post(.untidy(error.description))
        }
    }

    /// A bounded piece of what can wait.
    func tidy(_ clock: ClockReading, hasWaiting: () -> Bool) {
        guard let store else { return }
        do throws(StoreError) {
            try tidying.tidy(store, clock, hasWaiting: hasWaiting)
        } catch {
            tidying.tell(fault: error.description)
            setAside(after: error)
        }
    }

    // MARK: Outputs

    /// Another set of outputs.
    func use(_ outputs: [OutputRegistration]) {
        settings.outputs = outputs
        register()
    }

    /// Where no commit takes them along.
    func keepCursors() {
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

    /// What fails is tried again with the next commit: the former outputs have ended already. Where
    /// no store is open, they are registered when it is.
    private func register() {
        isRegistrationDue = false
        guard let store else { return }
        do throws(StoreError) {
            tell(try store.register(settings.outputs))
        } catch {
            isRegistrationDue = true
            tidying.tell(fault: "outputs: \(error)")
        }
    }

    private func tell(_ registered: Store.Registered) {
        let source = OutputSource(
            path: path, generation: generation, progress: registered.progress)
        post(.outputs(source, departed: registered.departed))
    }

    // MARK: Parts

    /// What is damaged is set aside, and another begun, with the next commit.
    private func setAside(after error: StoreError) {
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
        post(.damaged(line))
    }

    private var freeBytes: Int? {
        var space = statvfs()
        guard statvfs(path, &space) == 0 else { return nil }
        let (bytes, isPast) = Int(space.f_bavail).multipliedReportingOverflow(
            by: Int(space.f_frsize))
        return isPast ? nil : bytes
    }

    private func answer(_ answer: CollectorNode.StoreResult) { post(.done(answer)) }

    private func post(_ answer: StoreThread.Answer) { _ = answers.post(answer) }
}

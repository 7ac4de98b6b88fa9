import Collector
import NearbyCore
import NearbyLinux
import Program
import Store
import Telemetry

/// The one thread that the store lives on. An fsync on a card takes seconds now and then; the
/// logic thread only posts batches and takes answers.
final class StoreThread: @unchecked Sendable {
    enum Answer: Sendable {
        case opened([StoredRun], [ClockMapping], notices: [String])
        case committed
        case refused(String)
    }

    let answers: Mailbox<Answer>
    private let path: String
    private let worker = WorkerPool(threads: 1)
    // Touched on the worker only.
    private var store: Store?
    private var isDamaged = false

    init(path: String) throws(SystemError) {
        self.path = path
        answers = try Mailbox()
    }

    /// Opens the store; `.opened` or `.refused` follows.
    func open() { post { _ = self.openIfNeeded() } }

    /// Writes the batch, opening the store if that failed before; `.committed` or `.refused`
    /// follows.
    func commit(_ batch: StoreBatch) {
        post {
            guard self.openIfNeeded(), let store = self.store else { return }
            do throws(StoreError) {
                try store.commit(batch)
                self.answer(.committed)
            } catch {
                self.failed(error)
            }
        }
    }

    private func failed(_ error: StoreError) {
        if case .damaged = error {
            store = nil
            isDamaged = true
        }
        answer(.refused(error.description))
    }

    private func post(_ job: @escaping @Sendable () -> Void) {
        if !worker.run(job) { answer(.refused("the store is far behind")) }
    }

    private func openIfNeeded() -> Bool {
        if store != nil { return true }
        do throws(StoreError) {
            let opened = try Store.open(path)
            store = opened.store
            isDamaged = false
            answer(.opened(opened.runs, opened.clocks, notices: opened.notices))
            return true
        } catch {
            answer(.refused(error.description))
            return false
        }
    }

    private func answer(_ answer: Answer) { _ = answers.post(answer) }
}

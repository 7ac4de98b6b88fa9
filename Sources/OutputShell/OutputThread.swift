import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import Outputs
import Store
import Synchronization

/// Where the store is, and how far the outputs had come when it was opened.
public struct OutputSource: Sendable {
    public var path: String
    /// Another one for each store that takes the place of a damaged one.
    public var generation: UInt64
    public var progress: [OutputProgress]

    public init(path: String, generation: UInt64, progress: [OutputProgress]) {
        self.path = path
        self.generation = generation
        self.progress = progress
    }
}

/// The thread of one output: reads the store, gives batches to the sink, and posts the cursor.
/// What is shared with other threads is behind a lock; a call to the sink may take its time.
final class OutputThread: Sendable {
    /// What others leave for the thread, and what it shows them.
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

    let settings: OutputSettings
    let words: FleetWords
    var name: String { settings.name }
    private let context: OutputContext
    private let shared: Mutex<Shared>
    private let bell: Doorbell
    /// The one that it replaces, which may still be at work.
    private let predecessor: OutputThread?

    init(
        _ settings: OutputSettings, words: FleetWords, context: OutputContext,
        source: OutputSource, after predecessor: OutputThread?
    ) throws(SystemError) {
        self.settings = settings
        self.words = words
        self.context = context
        self.predecessor = predecessor
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

    private func change(_ body: (inout Shared) -> Void) {
        shared.withLock { body(&$0) }
        bell.ring()
    }

    // MARK: The thread

    /// Starts it; the thread keeps itself alive. Throws if the system gives none.
    func start() throws(SystemError) {
        context.exchange.add(self)
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // Libraries for TLS and names need more than our own threads do.
        pthread_attr_setstacksize(&attributes, 1 << 20)
        defer { pthread_attr_destroy(&attributes) }
        let raw = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, &attributes,
            { raw in
                guard let raw else { return nil }
                Unmanaged<OutputThread>.fromOpaque(raw).takeRetainedValue().run()
                return nil
            }, raw.toOpaque())
        guard code == 0 else {
            raw.release()
            context.exchange.remove(self)
            throw SystemError(call: "pthread_create", code: code)
        }
    }

    private func run() {
        predecessor?.waitForEnd()
        let work = OutputWork(settings, words: words, context: context)
        if let estate = predecessor?.shared.withLock(\.estate) { work.inherit(estate) }
        serve(work)
        context.exchange.remove(self)
        shared.withLock { shared in
            shared.estate = work.estate
            shared.isFinished = true
        }
    }

    private func serve(_ work: OutputWork) {
        var work = work
        var machine = OutputMachine(seed: context.seed &+ UInt64(bitPattern: Int64(name.hashValue)))
        feed(.start, into: &machine, &work)
        while machine.state != .stopped {
            bell.wait(until: nextWaking(machine, work))
            deliverMail(to: &machine, &work)
        }
    }

    /// The last cursor of the one before is where this one begins.
    private func waitForEnd() {
        let end = MonotonicClock.now() + Self.patience
        while !isFinished, MonotonicClock.now() < end { usleep(20_000) }
        abandon()
    }

    /// For the end of a call to a sink.
    static let patience: Duration = .seconds(5)
    /// A cursor is kept without a commit after this time.
    static let keepDelay: Duration = .seconds(2)

    private func nextWaking(_ machine: OutputMachine, _ work: OutputWork) -> Instant {
        let deadline = machine.nextDeadline ?? .distantFuture
        return min(deadline, work.unkeptSince.map { $0 + Self.keepDelay } ?? .distantFuture)
    }

    private func deliverMail(to machine: inout OutputMachine, _ work: inout OutputWork) {
        let (hasNews, kept, isStopping) = shared.withLock { shared in
            defer { shared.hasNews = false }
            return (shared.hasNews, shared.keptBatch, shared.isStopping)
        }
        let now = MonotonicClock.now()
        if work.kept(upTo: kept) { feed(.kept(batch: kept), into: &machine, &work) }
        if let since = work.unkeptSince, now - since >= Self.keepDelay {
            work.unkeptSince = now
            context.exchange.keepNow()
        }
        if isStopping { feed(.stop, into: &machine, &work) }
        if hasNews { feed(.news, into: &machine, &work) }
        feed(.deadlineReached, into: &machine, &work)
    }

    /// Does what the machine asks for, until there is nothing to be done now.
    private func feed(
        _ input: OutputMachine.Input, into machine: inout OutputMachine, _ work: inout OutputWork
    ) {
        var outputs = machine.handle(input, now: MonotonicClock.now())[...]
        while let output = outputs.popFirst() {
            takeUp(&work)
            if let result = carryOut(output, &work) {
                // What others want is heard between two calls.
                if shared.withLock({ $0.isStopping }) {
                    outputs += machine.handle(.stop, now: MonotonicClock.now())
                }
                outputs += machine.handle(result, now: MonotonicClock.now())
            }
            show(machine, work)
        }
        if machine.waitsForStore { context.exchange.keepNow() }
    }

    /// The store that is there now, and where its log goes on for this output.
    private func takeUp(_ work: inout OutputWork) {
        let source = shared.withLock { shared in
            defer { shared.source = nil }
            return shared.source
        }
        guard let source, var progress = source.progress.first(where: { $0.name == name }) else {
            return
        }
        if let (last, generation) = predecessor?.progress, generation == source.generation,
            work.progress == nil
        {
            progress = last
            progress.name = name
        }
        work.use(source, progress)
    }

    private func carryOut(
        _ output: OutputMachine.Output, _ work: inout OutputWork
    ) -> OutputMachine.Input? {
        switch output {
        case .fetch: return work.fetch()
        case .deliver: return work.deliver()
        case .idle: return work.idle()
        case .advance(let batch): advance(&work, batch)
        case .tell(let diagnostic): context.tell(name, diagnostic)
        case .close: work.close()
        }
        return nil
    }

    private func advance(_ work: inout OutputWork, _ batch: UInt64) {
        guard let (progress, generation) = work.advance(batch) else { return }
        shared.withLock { $0.progress = (progress, generation) }
        let post = CursorPost(progress: progress, generation: generation, batch: batch)
        context.exchange.post(post) { !shared.withLock(\.isAbandoned) }
    }

    private func show(_ machine: OutputMachine, _ work: OutputWork) {
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
}

import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import Outputs
import Store

/// The thread of one output: reads the store, gives batches to the sink, and posts the cursor. A
/// call to the sink may take its time.
final class OutputThread: Sendable {
    let settings: OutputSettings
    let words: FleetWords
    /// What it shares with other threads.
    let mail: OutputMail
    var name: String { settings.name }
    private let context: OutputContext
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
        mail = try OutputMail(settings, source)
    }

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
        predecessor?.mail.waitForEnd(patience: Self.patience)
        let work = OutputWork(settings, words: words, context: context)
        if let estate = predecessor?.mail.estate { work.inherit(estate) }
        serve(work)
        context.exchange.remove(self)
        mail.finish(leaving: work.estate)
    }

    private func serve(_ work: OutputWork) {
        var work = work
        var machine = OutputMachine(seed: context.seed &+ UInt64(bitPattern: Int64(name.hashValue)))
        feed(.start, into: &machine, &work)
        while machine.state != .stopped {
            mail.wait(until: nextWaking(machine, work))
            deliverMail(to: &machine, &work)
        }
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
        let (hasNews, kept, isStopping) = mail.take()
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
                if mail.isStopping {
                    outputs += machine.handle(.stop, now: MonotonicClock.now())
                }
                outputs += machine.handle(result, now: MonotonicClock.now())
            }
            mail.show(machine, work)
        }
        if machine.waitsForStore { context.exchange.keepNow() }
    }

    /// The store that is there now, and where its log goes on for this output.
    private func takeUp(_ work: inout OutputWork) {
        guard let source = mail.takeSource(),
            var progress = source.progress.first(where: { $0.name == name })
        else {
            return
        }
        if let (last, generation) = predecessor?.mail.progress, generation == source.generation,
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
        mail.record(progress, generation: generation)
        let post = CursorPost(progress: progress, generation: generation, batch: batch)
        context.exchange.post(post) { !mail.isAbandoned }
    }
}

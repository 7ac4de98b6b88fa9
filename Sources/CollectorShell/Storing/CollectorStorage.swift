import CollectorComposition
import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import OutputShell
import Outputs
import Store

/// What a collector keeps, and who gets it from there: the thread of the store, and the outputs
/// behind it.
final class CollectorStorage {
    /// As retention found last.
    private(set) var holds = Store.Holds()
    private let store: StoreThread
    private let roster: OutputRoster
    private let log: StandardErrorLog

    init(
        path: String, _ configuration: CollectorSettings, _ program: NodeProgram,
        _ board: FleetBoard
    ) throws(SystemError) {
        let settings = configuration.node
        log = program.log
        roster = try OutputRoster(
            board: board, collector: program.runner.identity.peer, network: settings.network,
            seed: program.run.value)
        roster.use(configuration.outputs, words: FleetWords(configuration.agents))
        var stored = Store.Settings()
        stored.windowWidth = settings.window
        stored.keep = settings.keep
        stored.outputs = roster.registrations
        store = try StoreThread(path: path, settings: stored, exchange: roster.exchange)
    }

    /// Hears the store and the outputs from now on.
    ///
    /// - Parameter onResult: called with what has become of a job.
    func open(
        _ loop: EventLoop, onResult: @escaping (CollectorNode.StoreResult) -> Void
    ) throws(SystemError) {
        try loop.register(store.answers) { [unowned self] in answered($0, onResult) }
        try loop.register(roster.messages) { [unowned self] in tell($0) }
    }

    func post(_ job: CollectorNode.StoreJob) { store.post(job) }

    /// - Parameter utc: nanoseconds.
    func record(mesh links: [FleetLink], utc: Int64) { store.record(mesh: links, utc: utc) }

    /// The configuration was read again.
    func use(_ outputs: [OutputSettings], words: FleetWords) {
        roster.use(outputs, words: words)
        store.use(roster.registrations)
    }

    /// How the outputs fare.
    var outputStatuses: [OutputStatus] {
        roster.statuses(now: MonotonicClock.now(), utc: WallClock.read().unixNanoseconds)
    }

    /// Ends the outputs. Each may finish the call that is under way; a server that hangs does not
    /// keep us.
    func stopOutputs() {
        let end = MonotonicClock.now() + Self.patience
        roster.stop()
        while !roster.isFinished, MonotonicClock.now() < end { usleep(10_000) }
        for name in roster.unfinished {
            log.write(
                .warning, "output \(name) has not ended; what it is delivering may come again")
        }
        store.keepLast(until: MonotonicClock.now() + Self.patience)
    }

    /// How long outputs may take to end.
    private static let patience: Duration = .seconds(3)

    // MARK: What is told

    private func answered(
        _ answer: StoreThread.Answer, _ onResult: (CollectorNode.StoreResult) -> Void
    ) {
        switch answer {
        case .untidy(let fault): log.write(.warning, "\(fault): windows are computed later")
        case .damaged(let line): log.write(.warning, "store: \(line)")
        case .done(let result): onResult(result)
        case .outputs(let source, let departed): follow(source, departed)
        case .holds(let holds): tell(holds)
        }
    }

    /// The store says where each output stands.
    private func follow(_ source: OutputSource, _ departed: [OutputSuccession.Departure]) {
        for departure in departed {
            log.write(departure.isLoss ? .warning : .diagnostic, departure.text)
        }
        do throws(SystemError) {
            try roster.follow(source)
        } catch {
            log.write(.error, "outputs: \(error)")
        }
    }

    private func tell(_ message: OutputMessage) {
        log.write(message.level == .fault ? .warning : .diagnostic, message.text)
    }

    /// Once for each output.
    private func tell(_ holds: Store.Holds) {
        for name in holds.held.subtracting(self.holds.held).sorted() {
            log.write(
                .warning,
                "output \(name) is behind: readings older than `collector: keep` stay in the "
                    + "store until it has them, up to its `hold`")
        }
        for name in holds.lost.subtracting(self.holds.lost).sorted() {
            log.write(
                .error,
                "output \(name) is too far behind: readings older than `keep` and `hold` "
                    + "together are deleted, although it has not delivered them")
        }
        self.holds = holds
    }
}

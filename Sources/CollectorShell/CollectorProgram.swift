import Collector
import CollectorComposition
import CollectorConfiguration
import Configuration
import Fleet
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell

/// `rivulet collect`: the sockets, the store and the screen around a `CollectorNode`. Without a
/// store it is a viewer, which gives no receipts.
public final class CollectorProgram: NodeOwner {
    let program: NodeProgram
    let options: CollectOptions
    let log: StandardErrorLog
    let collector: CollectorNode
    /// Nil for a viewer.
    let storage: CollectorStorage?
    /// Nothing is taken any more; the loop runs until what came is committed.
    private(set) var isStopping = false
    private var turns = OutputTurns<CollectorNode.Output>()
    let output: WindowOutput
    let fleet: FleetWatch
    /// Nil without a store.
    private let recall: FleetRecall?
    let page: PageHost
    let alarms: AlarmWatch
    let screen: ScreenEvents
    /// The time by which windows are shown.
    private var clock: ShownClock
    /// The one window that was asked for is printed.
    private var isDone = false

    public init(
        _ configuration: CollectorSettings, _ options: CollectOptions
    ) throws(StartError) {
        let settings = configuration.node
        var options = options
        // Lines of an output and tables would be in each other's way.
        if configuration.outputs.contains(where: \.isOnStandardOutput) { options.format = .none }
        self.options = options
        guard settings.role == .collector || settings.role == .viewer else {
            throw StartError(
                "\(settings.file): role \(settings.role.rawValue): `rivulet collect` needs "
                    + "`role: collector`, or `role: viewer` to look in; rivulet-agent runs agents "
                    + "and relays", .configuration)
        }
        // Before there is another thread.
        screen = try ScreenEvents(options)
        log = screen.log
        let path = settings.role == .collector ? settings.store : nil
        program = try NodeProgram(settings, role: path == nil ? .viewer : .collector, log: log)
        let board = FleetBoard()
        do throws(SystemError) {
            if let path {
                storage = try CollectorStorage(path: path, configuration, program, board)
            } else {
                storage = nil
            }
        } catch {
            throw StartError(error)
        }
        let now = WallClock.read()
        let offset = Duration.nanoseconds(
            now.unixNanoseconds.subtractingSaturating(now.monotonic.nanoseconds))
        clock = ShownClock(unixOffset: offset)
        var composed = CollectorNode.Settings(
            isDurable: path != nil, boot: ThisMachine.bootID, seed: systemRandom())
        composed.quotas = CollectorQuotas(settings)
        composed.clockSources = Set(settings.collectors)
        composed.windows.width = options.every ?? settings.window
        composed.windows.phase = offset
        composed.windows.seriesPerPeerMax = settings.seriesPerAgent
        collector = CollectorNode(node: program.runner.makeNode(), settings: composed)
        let role = path == nil ? "viewer" : "collector"
        fleet = FleetWatch(
            program, collector, board, words: FleetWords(configuration.agents), storePath: path)
        page = PageHost(
            program, configuration.web, board: board, store: path,
            words: FleetWords(configuration.agents))
        do throws(SystemError) {
            output = WindowOutput(
                options, words: FleetWords(configuration.agents),
                title: "\(role) in network \(settings.network)", width: composed.windows.width,
                writer: try PrintThread(), log: log)
            alarms = try AlarmWatch(program, collector, configuration)
            recall = try path.map { path throws(SystemError) in try FleetRecall(path: path) }
        } catch {
            throw StartError(error)
        }
        program.runner.owner = self
    }

    /// Serves until SIGTERM, SIGINT, or as the options say; the last window is printed at the end.
    public func run() throws(StartError) {
        program.onStop = { [unowned self] in stop() }
        program.onReload = { [unowned self] in reload() }
        program.onClock = { [unowned self] in give(.clock($0), $1) }
        tellStatus()
        do throws(SystemError) {
            try storage?.open(program.loop) { [unowned self] in stored($0) }
            if let recall {
                try program.loop.register(recall.answers) { [unowned self] in fleet.recall($0) }
            }
            try screen.open(output, program.loop)
        } catch {
            throw StartError(error)
        }
        let start = MonotonicClock.now()
        fleet.onLinks = { [unowned self] in storage?.record(mesh: $0, utc: $1) }
        fleet.outputs = { [unowned self] in outputStatuses }
        fleet.start(start)
        page.start()
        defer { page.stop() }
        fleet.alarms = { [unowned self] in alarms.shown }
        fleet.drops = { [unowned self] in drops }
        do throws(SystemError) {
            try alarms.start(start)
        } catch {
            throw StartError(error)
        }
        give(.start, start)
        let end = options.limit.map { MonotonicClock.now() + $0 } ?? .distantFuture
        try serve(until: end)
        if let fault = output.fault { throw fault }
    }

    /// Whatever ends it, what was printed is seen before anything is said of the end.
    private func serve(until end: Instant) throws(StartError) {
        defer {
            // A terminal that stands still would hold up these lines too.
            if output.finish(isInterrupted: program.isInterrupted) {
                screen.tellLast()
            } else {
                screen.forgetLast()
            }
        }
        try program.serve(until: end)
    }

    // MARK: The collector

    public var node: Node { collector.node }

    public var nextDeadline: Instant? { collector.nextDeadline }

    public func handle(_ inputs: [Node.Input], now: Instant) { give(.network(inputs), now) }

    public func deadlineReached(now: Instant) { give(.deadlineReached, now) }

    /// What comes of an input while outputs are carried out has its turn after them.
    private func give(_ input: CollectorNode.Input, _ now: Instant) {
        guard turns.begin(with: collector.handle(input, now: now)) else { return }
        while let output = turns.next() { carryOut(output, now) }
        program.runner.settled(now)
    }

    private func carryOut(_ output: CollectorNode.Output, _ now: Instant) {
        switch output {
        case .node(.transmit(let transmission)): program.runner.carryOut(transmission, now)
        case .store(let job): storage?.post(job)
        case .node(.event(let event)):
            program.record(event, now)
            fleet.note(event, now)
            tell(event, now)
        case .event(.window(let window)): show(window, now)
        case .event(let event):
            fleet.note(event, now)
            alarms.note(event, now)
            tell(event, now)
        }
    }

    private func show(_ window: Window, _ now: Instant) {
        guard !isDone else { return }
        clock.unixOffset = collector.shownOffset
        if !options.utc { clock.zone = .local(at: window.start + clock.unixOffset) }
        let shown = output.show(window, clock: clock, now: now)
        guard options.once, shown?.hasReadings == true else { return }
        isDone = true
        program.loop.stop()
    }

    // MARK: The store, and the end

    private func stored(_ result: CollectorNode.StoreResult) {
        if case .opened = result { recall?.begin() }
        give(.store(result), MonotonicClock.now())
        if isStopping, collector.isSettled { program.loop.stop() }
    }

    /// The last window is printed, and what waits is committed: the loop goes on until the store
    /// has it, for five seconds at most.
    private func stop() {
        let end = MonotonicClock.now() + .seconds(5)
        isStopping = true
        give(.finish, MonotonicClock.now())
        do throws(SystemError) {
            while !collector.isSettled, MonotonicClock.now() < end {
                try program.loop.run(until: end)
            }
        } catch {
            log.write(.error, "\(error): readings may not be in the store; agents keep them")
        }
        alarms.stop()
        storage?.stopOutputs()
    }
}

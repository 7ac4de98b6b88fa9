import CollectorComposition
import CollectorConfiguration
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
    let page: PageHost
    let alarms: AlarmWatch
    let screen: ScreenEvents

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
        let role = path == nil ? Role.viewer : .collector
        program = try NodeProgram(settings, role: role, log: log)
        let (board, words) = (FleetBoard(), FleetWords(configuration.agents))
        do throws(SystemError) {
            storage = try path.map { [program] path throws(SystemError) in
                try CollectorStorage(path: path, configuration, program, board)
            }
            let composed = CollectorNode.Settings(
                settings, width: options.every, isDurable: path != nil)
            collector = CollectorNode(node: program.runner.makeNode(), settings: composed)
            fleet = try FleetWatch(program, collector, board, words: words, storePath: path)
            page = PageHost(program, configuration.web, board: board, store: path, words: words)
            output = WindowOutput(
                options, words: words, title: "\(role) in network \(settings.network)",
                width: composed.windows.width, writer: try PrintThread(), log: log)
            alarms = try AlarmWatch(program, collector, configuration)
        } catch {
            throw StartError(error)
        }
        program.runner.owner = self
    }

    /// Serves until SIGTERM, SIGINT, or as the options say; the last window is printed at the end.
    public func run() throws(StartError) {
        connect()
        tellStatus()
        let start = MonotonicClock.now()
        do throws(SystemError) {
            try storage?.open(program.loop) { [unowned self] in stored($0) }
            try screen.open(output, program.loop)
            try fleet.start(start)
            try alarms.start(start)
        } catch {
            throw StartError(error)
        }
        page.start()
        defer { page.stop() }
        give(.start, start)
        let end = options.limit.map { MonotonicClock.now() + $0 } ?? .distantFuture
        do {
            // Whatever ends it, what was printed is seen before anything is said of the end.
            defer { screen.close(output, isInterrupted: program.isInterrupted) }
            try program.serve(until: end)
        }
        if let fault = output.fault { throw fault }
    }

    private func connect() {
        program.onStop = { [unowned self] in stop() }
        program.onReload = { [unowned self] in reload() }
        program.onClock = { [unowned self] in give(.clock($0), $1) }
        fleet.onLinks = { [unowned self] in storage?.record(mesh: $0, utc: $1) }
        fleet.outputs = { [unowned self] in outputStatuses }
        fleet.alarms = { [unowned self] in alarms.shown }
        fleet.drops = { [unowned self] in drops }
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
        case .event(.window(let window)):
            let offset = collector.shownOffset
            let shown = self.output.show(window, unixOffset: offset, now: now)
            if shown != nil, self.output.isDone { program.loop.stop() }
        case .event(let event):
            fleet.note(event, now)
            alarms.note(event, now)
            tell(event, now)
        }
    }

    // MARK: The store, and the end

    private func stored(_ result: CollectorNode.StoreResult) {
        if case .opened = result { fleet.storeOpened() }
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

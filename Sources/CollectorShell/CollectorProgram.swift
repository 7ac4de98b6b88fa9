import Collector
import CollectorComposition
import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import NodeShell
import Store

/// `rivulet collect`: the sockets, the store and the screen around a `CollectorNode`. Without a
/// store it is a viewer, which gives no receipts.
public final class CollectorProgram: NodeOwner {
    let program: NodeProgram
    let options: CollectOptions
    let log: StandardErrorLog
    let collector: CollectorNode
    let store: StoreThread?
    /// Nothing is taken any more; the loop runs until what came is committed.
    private var isStopping = false
    private var outputs = OutputTurns<CollectorNode.Output>()
    let output: WindowOutput
    private let screen: ScreenEvents
    /// The time by which windows are shown.
    private var clock: Collector.WallClock
    /// The one window that was asked for is printed.
    private var isDone = false

    public init(_ settings: Settings, _ options: CollectOptions) throws(StartError) {
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
        do throws(SystemError) {
            store = try path.map { path throws(SystemError) in
                var stored = Store.Settings()
                stored.windowWidth = settings.window
                stored.keep = settings.keep
                return try StoreThread(path: path, settings: stored)
            }
        } catch {
            throw StartError(error)
        }
        let now = NearbyLinux.WallClock.read()
        let offset = Duration.nanoseconds(
            now.unixNanoseconds.subtractingSaturating(now.monotonic.nanoseconds))
        clock = Collector.WallClock(unixOffset: offset)
        var composed = CollectorNode.Settings(
            isDurable: path != nil, boot: ThisMachine.bootID, seed: systemRandom())
        composed.quotas = CollectorQuotas(settings)
        composed.clockSources = Set(settings.collectors)
        composed.windows.width = options.every ?? settings.window
        composed.windows.phase = offset
        composed.windows.seriesPerPeerMax = settings.seriesPerAgent
        collector = CollectorNode(node: program.runner.makeNode(), settings: composed)
        let role = path == nil ? "viewer" : "collector"
        output = WindowOutput(
            options, title: "\(role) in network \(settings.network)",
            width: composed.windows.width)
        program.runner.owner = self
    }

    /// Serves until SIGTERM, SIGINT, or as the options say; the last window is printed at the end.
    public func run() throws(StartError) {
        program.onStop = { [unowned self] in stop() }
        program.onClock = { [unowned self] in give(.clock($0), $1) }
        tellStatus()
        do throws(SystemError) {
            if let store {
                try program.loop.register(store.answers) { [unowned self] in answered($0) }
            }
            try screen.open(output, program.loop)
        } catch {
            throw StartError(error)
        }
        give(.start, MonotonicClock.now())
        let end = options.limit.map { MonotonicClock.now() + $0 } ?? .distantFuture
        try program.serve(until: end)
        if let fault = output.fault { throw fault }
    }

    // MARK: The collector

    public var node: Node { collector.node }

    public var nextDeadline: Instant? { collector.nextDeadline }

    public func handle(_ inputs: [Node.Input], now: Instant) { give(.network(inputs), now) }

    public func deadlineReached(now: Instant) { give(.deadlineReached, now) }

    /// What comes of an input while outputs are carried out has its turn after them.
    private func give(_ input: CollectorNode.Input, _ now: Instant) {
        guard outputs.begin(with: collector.handle(input, now: now)) else { return }
        while let output = outputs.next() { carryOut(output, now) }
        program.runner.settled(now)
    }

    private func carryOut(_ output: CollectorNode.Output, _ now: Instant) {
        switch output {
        case .node(.transmit(let transmission)): program.runner.carryOut(transmission, now)
        case .store(let job): store?.post(job)
        case .node(.event(let event)):
            program.note(event, now)
            tell(event, now)
        case .event(.window(let window)): show(window, now)
        case .event(let event): tell(event, now)
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

    // MARK: The store

    private func answered(_ answer: StoreThread.Answer) {
        switch answer {
        case .untidy(let fault): log.write(.warning, "\(fault): windows are computed later")
        case .done(let answer): give(.store(answer), MonotonicClock.now())
        }
        if isStopping, collector.isSettled { program.loop.stop() }
    }

    /// The last window is printed, and what waits is committed: the loop goes on until the store
    /// has it, for five seconds at most.
    private func stop() {
        let end = MonotonicClock.now() + .seconds(5)
        isStopping = true
        give(.finish, MonotonicClock.now())
        defer { screen.tellLast() }
        do throws(SystemError) {
            while !collector.isSettled, MonotonicClock.now() < end {
                try program.loop.run(until: end)
            }
        } catch {
            log.write(.error, "\(error): readings may not be in the store; agents keep them")
        }
    }
}

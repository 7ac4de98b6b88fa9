import Collector
import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import Program
import Store
import Telemetry

/// How `rivulet collect` prints, and for how long.
public struct CollectOptions {
    /// `none` prints nothing: a service that stores.
    public enum Format: String, CaseIterable { case table, json, csv, none }

    /// When a table is coloured; `auto`: on a terminal.
    public enum ColourChoice: String, CaseIterable { case auto, always, never }

    public var format = Format.table
    public var colour = ColourChoice.auto
    /// Only the nodes whose names or PeerIDs match any of these; empty: all.
    public var nodes: [Glob] = []
    /// Only these channels.
    public var channels: [Glob] = []
    /// Times of day of tables in UTC, not in this machine's zone.
    public var utc = false
    /// How much is logged; nil: what suits the output.
    public var logLevel: StandardErrorLog.Level?
    /// The span of a window; nil: as configured.
    public var every: Duration?
    /// Ends after this time.
    public var limit: Duration?
    /// Ends after the first window with readings.
    public var once = false
    /// Tells of each report on standard error: `report NANOSECONDS-SINCE-1970 NAME READINGS`.
    public var traces = false

    public init() {}

    /// Tables are drawn over each other.
    var hasScreen: Bool { format == .table && Terminal.takesSequences }
}

/// `rivulet collect`: takes readings in, stores them and gives receipts, aggregates them over
/// windows and prints the windows. Without a store it is a viewer, which gives no receipts.
public final class CollectorProgram {
    private let program: NodeProgram
    private let options: CollectOptions
    private let log: StandardErrorLog
    private var machine: CollectorMachine
    private let store: StoreThread?
    private var storeFault: String?
    /// Nothing is taken any more; the loop runs until what came is committed.
    private var isStopping = false
    private var ownClock = ClockReading(rank: .none, unixOffset: .zero)
    private var aggregator: WindowAggregator
    private let output: WindowOutput
    /// Lines of the log for the screen.
    private let logLines: Mailbox<String>
    private let resizes: SignalSource
    private var screenTimer: EventLoop.TimerID?
    private var drops: [DropReason: Int] = [:]
    private var collectorTimer: EventLoop.TimerID?
    private var windowTimer: EventLoop.TimerID?
    private var clock: Collector.WallClock
    private var readingCount = 0
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
        do throws(SystemError) {
            logLines = try Mailbox()
            // Before there is another thread.
            resizes = try SignalSource(options.hasScreen ? [SIGWINCH] : [])
        } catch {
            throw StartError(error)
        }
        // On a terminal the table has the screen; the log keeps to what matters.
        log = StandardErrorLog(
            threshold: options.logLevel ?? (options.hasScreen ? .warning : .information),
            showsTimes: true, screen: options.hasScreen ? logLines : nil)
        let path = settings.role == .collector ? settings.store : nil
        program = try NodeProgram(settings, role: path == nil ? .viewer : .collector, log: log)
        machine = CollectorMachine(
            isDurable: path != nil, boot: ThisMachine.bootID,
            quotas: CollectorQuotas(settings), clockSources: Set(settings.collectors))
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
        var windows = WindowAggregator.Settings()
        windows.width = options.every ?? settings.window
        windows.phase = offset
        windows.seriesPerPeerMax = settings.seriesPerAgent
        aggregator = WindowAggregator(settings: windows, seed: systemRandom())
        let role = path == nil ? "viewer" : "collector"
        output = WindowOutput(
            options, title: "\(role) in network \(settings.network)", width: windows.width)
    }

    /// Serves until SIGTERM, SIGINT, or as the options say; the last window is printed at the end.
    public func run() throws(StartError) {
        let loop = program.loop
        program.runner.onEvent = { [unowned self] in interpret($0, $1) }
        program.onStop = { [unowned self] in stop() }
        program.onClock = { [unowned self] in
            ownClock = $0
            store?.tidy(clock: $0)
            take(machine.handle(.ownClock($0), now: $1), $1)
            follow(machine.unixOffset)
        }
        program.statusDetails = { [unowned self] in statusDetails }
        program.summaryLine = { [unowned self] in
            "store      \(storeState), \(machine.uncommittedCount) readings not committed yet"
        }
        collectorTimer = loop.addTimer { [unowned self] in
            take(machine.handle(.deadlineReached, now: $0), $0)
        }
        windowTimer = loop.addTimer { [unowned self] in give(.deadlineReached, $0) }
        try openStore()
        try openScreen()
        let end = options.limit.map { MonotonicClock.now() + $0 } ?? .distantFuture
        try program.serve(until: end)
        if let fault = output.fault { throw fault }
    }

    /// Windows begin at whole multiples of their width by the clock's first reading. A later one
    /// that differs by microseconds would show them a millisecond early.
    private func follow(_ offset: Duration?) {
        guard let offset else { return }
        let difference = max(offset - clock.unixOffset, clock.unixOffset - offset)
        if difference >= Self.shownDifference { clock.unixOffset = offset }
    }

    private static let shownDifference: Duration = .milliseconds(100)

    // MARK: The screen

    private func openScreen() throws(StartError) {
        let loop = program.loop
        output.onEnd = { [unowned self] in program.loop.stop() }
        guard options.hasScreen else { return }
        do throws(SystemError) {
            try loop.register(resizes) { [unowned self] _ in output.resize(MonotonicClock.now()) }
            try loop.register(logLines) { [unowned self] in
                output.tell(.message($0), MonotonicClock.now())
            }
        } catch {
            throw StartError(error)
        }
        screenTimer = loop.addTimer { [unowned self] in tick($0) }
        tick(MonotonicClock.now())
    }

    private func tick(_ now: Instant) {
        output.tell(.tick, now)
        guard let screenTimer, output.needsTicks else { return }
        program.loop.set(screenTimer, to: now + .seconds(1))
    }

    private func name(_ peer: PeerID) -> String {
        program.runner.node.name(of: peer) ?? String(peer.description.prefix(11))
    }

    // MARK: The store

    private func openStore() throws(StartError) {
        guard let store else { return }
        do throws(SystemError) {
            try program.loop.register(store.answers) { [unowned self] in answered($0) }
        } catch {
            throw StartError(error)
        }
        store.open()
    }

    private func answered(_ answer: StoreThread.Answer) {
        let now = MonotonicClock.now()
        switch answer {
        case .opened(let runs, let clocks, let notices):
            for notice in notices { log.write(.warning, notice) }
            take(machine.handle(.restored(runs, clocks), now: now), now)
        case .committed(let refused, let freeBytes):
            if storeFault != nil { log.write(.notice, "the store works again") }
            storeFault = nil
            if let freeBytes { take(machine.handle(.storeSpace(freeBytes), now: now), now) }
            if !refused.isEmpty { take(machine.handle(.partsRefused(refused), now: now), now) }
            take(machine.handle(.committed, now: now), now)
        case .untidy(let fault): log.write(.warning, "\(fault): windows are computed later")
        case .refused(let fault):
            if storeFault != fault {
                log.write(.error, "\(fault): no receipts are given, agents keep their readings")
            }
            storeFault = fault
            take(machine.handle(.refused, now: now), now)
        }
        if isStopping { flush(now) }
    }

    /// The last window is printed, and what waits is committed: the loop goes on until the store
    /// has it, for five seconds at most.
    private func stop() {
        let now = MonotonicClock.now()
        let end = now + .seconds(5)
        give(.finish, now)
        isStopping = true
        defer { tellLast() }
        guard store != nil, storeFault == nil else { return }
        flush(now)
        do throws(SystemError) {
            while machine.isCommitting, storeFault == nil, MonotonicClock.now() < end {
                try program.loop.run(until: end)
            }
        } catch {
            log.write(.error, "\(error): readings may not be in the store; agents keep them")
        }
    }

    /// What the log said since the loop ended, below the screen.
    private func tellLast() {
        for line in logLines.take() {
            var bytes = Array((line + "\n").utf8)
            _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
        }
    }

    /// The loop ends when nothing waits for the store any more, or when it takes nothing.
    private func flush(_ now: Instant) {
        take(machine.handle(.flush, now: now), now)
        if !machine.isCommitting || storeFault != nil { program.loop.stop() }
    }

    // MARK: Readings

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .message where isStopping: break
        case .message(let bytes, let peer, _, let hops):
            let input = CollectorMachine.Input.received(
                bytes, from: peer, hops: UInt8(clamping: hops))
            take(machine.handle(input, now: now), now)
        case .notice(let notice): program.tell(notice, now)
        case .peer(let peer, .connected):
            self.output.tell(.connected(peer, name: name(peer)), now)
            take(machine.handle(.connected(peer), now: now), now)
        case .peer(let peer, .notConnected):
            self.output.tell(.disconnected(peer), now)
            take(machine.handle(.disconnected(peer), now: now), now)
        case .peer, .collector, .viewers: break
        }
    }

    private func take(_ outputs: [CollectorMachine.Output], _ now: Instant) {
        for output in outputs {
            switch output {
            case .accepted(let delivery):
                readingCount += delivery.readings.count
                if options.traces { trace(delivery) }
                log.write(
                    .debug,
                    "\(delivery.birth.node.name): \(delivery.readings.count) readings over "
                        + (delivery.hops == 1 ? "1 hop" : "\(delivery.hops) hops"))
                self.output.tell(.readings(delivery.peer, count: delivery.readings.count), now)
                give(.delivery(delivery), now)
            case .born(let peer, let birth):
                let count = birth.channels.count
                log.write(
                    .information,
                    "\(birth.node.name) has \(count == 1 ? "1 channel" : "\(count) channels")")
                self.output.tell(.birth(peer, name: birth.node.name, channelCount: count), now)
            case .send(let bytes, let peer):
                program.runner.give(.sendReliable(bytes, to: peer), at: now)
            case .sendUnreliable(let bytes, let peer):
                program.runner.give(.sendUnreliable(bytes, to: peer, .control), at: now)
            case .commit(let batch): store?.commit(batch, clock: ownClock)
            case .notice(let notice): log.write(.warning, notice.text(program.runner))
            case .drop(let reason, let count):
                log.write(.debug, "dropped \(count): \(reason.rawValue)")
                drops[reason, default: 0] += count
            }
        }
        if let collectorTimer { program.loop.set(collectorTimer, to: machine.nextDeadline) }
    }

    private func give(_ input: WindowAggregator.Input, _ now: Instant) {
        for output in aggregator.handle(input, now: now) {
            switch output {
            case .window(let window): show(window)
            case .shareFull(let peer, let node):
                log.write(
                    .warning,
                    "\(node.name) (\(peer)) has more channels than one agent's share of windows: "
                        + "the rest is stored and not shown (collector.series-per-agent)")
            case .drop(let reason, let count): drops[reason, default: 0] += count
            }
        }
        if let windowTimer { program.loop.set(windowTimer, to: aggregator.nextDeadline) }
    }

    private func show(_ window: Window) {
        guard !isDone else { return }
        if !options.utc { clock.zone = .local(at: window.start + clock.unixOffset) }
        let shown = output.show(window, clock: clock, now: MonotonicClock.now())
        guard options.once, shown?.hasReadings == true else { return }
        isDone = true
        program.loop.stop()
    }

    private func trace(_ delivery: Delivery) {
        let time = NearbyLinux.WallClock.read().unixNanoseconds
        let line = "report \(time) \(delivery.birth.node.name) \(delivery.readings.count)\n"
        var bytes = Array(line.utf8)
        _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
    }

    private var storeState: String { store == nil ? "none" : storeFault ?? "good" }

    private var statusDetails: [(String, JSONValue)] {
        [
            ("agents", .integer(machine.peerCount)),
            ("readings", .integer(readingCount)),
            ("reportsHeld", .integer(machine.heldReportCount)),
            ("readingsUncommitted", .integer(machine.uncommittedCount)),
            ("queuedBytes", .integer(machine.queuedByteCount)),
            ("store", .text(storeState)),
            (
                "collectorDrops",
                .object(
                    drops.sorted { $0.key.rawValue < $1.key.rawValue }
                        .map { ($0.key.rawValue, .integer($0.value)) })
            ),
        ]
    }
}

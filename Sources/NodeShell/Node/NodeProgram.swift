import Configuration
import Glibc
import NearbyCore
import NearbyEngine
import NearbyLinux
import Telemetry

/// What an agent and a collector have in common: the node, its control socket, signals and systemd.
package final class NodeProgram {
    package let settings: Settings
    package let log: StandardErrorLog
    package let loop: EventLoop
    package let runner: NodeRunner
    package let run: RunID
    private let started = MonotonicClock.now()
    /// Called at SIGHUP, and before the end.
    package var onReload: (() -> Void)?
    package var onStop: (() -> Void)?
    /// Called with what this machine knows of UTC: at the start, once a minute, and when the wall
    /// clock was set.
    package var onClock: ((ClockReading, Instant) -> Void)?
    /// What a program adds to its summary for people, and to its status.
    package var additions = StatusAdditions()
    /// For what may block.
    package let workers = WorkerPool()
    private let lock: StateLock?
    private let memory: PeerMemory?
    private(set) var avahi: AvahiLink?
    private let control = ControlService()
    /// Made before any thread, so that all of them leave signals to it.
    private let signals: SignalSource
    private let systemd: SystemdReports
    private let clock: ClockWatch
    private let pages: PageReturn
    private let diagnostics: DiagnosticLines

    package init(_ settings: Settings, role: Role, log: StandardErrorLog) throws(StartError) {
        self.settings = settings
        self.log = log
        CoreDumps.withholdMemory()
        run = RunID(value: systemRandom())
        do {
            lock = settings.keepsNothing ? nil : try StateLock.acquire(settings.state)
            signals = try SignalSource()
            loop = try EventLoop()
            clock = try ClockWatch(loop)
            let identity = try settings.makeIdentity(role, log)
            systemd = SystemdReports(loop)
            pages = PageReturn(loop, startedAt: started)
            diagnostics = DiagnosticLines(loop, log)
            for diagnostic in identity.diagnostics { log.write(.warning, diagnostic) }
            StartWarnings.tell(settings, log)
            let options = try NodeOptions(settings, role: role, run: run, identity)
            runner = try NodeRunner(options, identity: identity, loop: loop, log: log)
            // Without a place for the identity there is none for peers.
            memory =
                identity.ephemeral ? nil : try PeerMemory(settings.state, loop, log, workers)
            let isExposed = lock == nil && !identity.ephemeral
            for line in StartWarnings.lines(settings, role, identity.peer, isExposed: isExposed) {
                log.write(.warning, line)
            }
        } catch let error as StartError {
            throw error
        } catch {
            throw StartError(error)
        }
    }

    /// Starts everything and serves until SIGTERM, SIGINT, or `end`.
    package func serve(until end: Instant = .distantFuture) throws(StartError) {
        // A reader of our output that goes away must not end us with a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            try loop.register(signals) { [unowned self] in received(signal: $0) }
            control.open(for: self)
            systemd.startWatchdog()
            pages.releaseLater()
            try clock.start { [unowned self] in onClock?($0, $1) }
            memory?.serve(runner)
            try runner.start()
            startAvahi()
            log.write(
                .information,
                "\(settings.name) is \(runner.node.ownPeer), port \(runner.port)")
            systemd.ready()
            try loop.run(until: end)
        } catch let error as StartError {
            throw error
        } catch {
            throw StartError(error)
        }
        systemd.stopping()
        onStop?()
        memory?.finish()
        runner.handle(.stop, at: MonotonicClock.now())
        avahi?.stop()
        runner.bluetooth.stop()
        control.close()
    }

    /// What else the control socket answers; nil for what is none of a program's requests.
    package func answerRequests(_ answer: @escaping (String) -> [String]?) {
        control.onRequest = answer
    }

    /// Whether SIGTERM or SIGINT has come, also after `serve` has returned.
    package func isInterrupted() -> Bool {
        while signals.next() != nil {}
        return signals.isInterrupted
    }

    package func uptime(_ now: Instant) -> Duration { now - started }

    /// Of the node and of all that is around it.
    package var allDrops: DropCounters {
        var drops = runner.node.dropCounters
        drops.add(runner.shellDrops)
        if let avahi { drops.add(avahi.drops) }
        return drops
    }

    /// One line.
    var health: String {
        NodeHealth.text(
            sent: runner.links.transport.sent.datagrams &+ runner.bluetooth.sentCount,
            neighbours: runner.node.neighbourStatus.count)
    }

    /// Takes what the node told: writes what a person should read.
    package func record(_ event: Node.Event, _ now: Instant) {
        if case .diagnostic(let diagnostic) = event {
            diagnostics.write(diagnostic, of: runner, now: now)
        }
        control.record(event)
        runner.record(event, now)
    }

    private func startAvahi() {
        guard settings.avahi == .auto else { return }
        avahi = AvahiLink(runner, network: settings.network) { [unowned self] in
            pages.releaseLater()
        }
        runner.onLinks = { [unowned self] in avahi?.linksChanged() }
        runner.advertisedName = { [unowned self] in avahi?.name(of: $0) }
    }

    private func received(signal: Int32) {
        guard signal == SIGHUP else { return loop.stop() }
        systemd.reloading()
        onReload?()
        systemd.ready()
    }
}

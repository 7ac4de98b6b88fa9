import Configuration
import Glibc
import NearbyCore
import NearbyDTLS
import NearbyEngine
import NearbyLinux
import NearbyWire
import Telemetry

/// What an agent and a collector have in common: the node, its control socket, signals and systemd.
package final class NodeProgram {
    package let settings: Settings
    package let log: StandardErrorLog
    package let loop: EventLoop
    package let runner: NodeRunner
    package let run: RunID
    let started = MonotonicClock.now()
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
    private let refusals: RefusalLines

    package init(_ settings: Settings, role: Role, log: StandardErrorLog) throws(StartError) {
        self.settings = settings
        self.log = log
        CoreDumps.withholdMemory()
        run = RunID(value: systemRandom())
        lock = settings.keepsNothing ? nil : try StateLock.acquire(settings.state)
        let identity: NodeIdentity
        do {
            signals = try SignalSource()
            loop = try EventLoop()
            clock = try ClockWatch(loop)
            identity = try settings.makeIdentity(role, log)
        } catch let error as StartError {
            throw error
        } catch {
            throw StartError(error)
        }
        systemd = SystemdReports(loop)
        pages = PageReturn(loop, startedAt: started)
        refusals = RefusalLines(loop, log)
        for diagnostic in identity.diagnostics { log.write(.warning, diagnostic) }
        Self.tell(settings, log)
        let options = try NodeOptions(settings, role: role, run: run, identity)
        runner = try NodeRunner(options, identity: identity, loop: loop, log: log)
        do {
            // Without a place for the identity there is none for peers.
            memory =
                identity.ephemeral
                ? nil : try PeerMemory(settings.state, loop, log, workers)
        } catch {
            throw StartError(error)
        }
        if lock == nil, !identity.ephemeral {
            log.write(
                .warning,
                "\(settings.state): no lock can be taken there; see to it that no other process "
                    + "uses this state directory")
        }
        tellIfUnnamed(role)
    }

    /// A collector that its own configuration does not name takes no readings of those who go by
    /// the same list.
    private func tellIfUnnamed(_ role: Role) {
        let own = runner.identity.peer
        guard role == .collector, !settings.collectors.isEmpty, !settings.collectors.contains(own)
        else { return }
        log.write(
            .warning,
            "collectors: does not name this collector, \(own); nodes with the same list give "
                + "it no readings: add it to theirs, and here")
    }

    private func rememberPeers() {
        guard let memory else { return }
        runner.onAdmitted = { memory.remember($0, at: $1, now: $2) }
        memory.onNews = { [unowned self] in
            runner.tryRememberedPeers(at: memory.peers.entries.map(\.address))
        }
        memory.onNews?()
    }

    /// What is wrong with these settings here, though nothing that prevents a start.
    static func tell(_ settings: Settings, _ log: StandardErrorLog) {
        for warning in settings.warnings { log.write(.warning, warning.description) }
        for finding in MachineCheck.findings(settings, isStarting: true) {
            log.write(finding.isError ? .error : .warning, finding.description)
        }
    }

    /// Starts everything and serves until SIGTERM, SIGINT, or `end`.
    package func serve(until end: Instant = .distantFuture) throws(StartError) {
        // A reader of our output that goes away must not end us with a signal.
        signal(SIGPIPE, SIG_IGN)
        do {
            try loop.register(signals) { [unowned self] in received(signal: $0) }
            openControl()
            systemd.startWatchdog()
            pages.releaseLater()
            try clock.start { [unowned self] in onClock?($0, $1) }
            rememberPeers()
            try runner.start()
            startAvahi()
            log.write(
                .information,
                "\(settings.name) is \(runner.node.ownPeer), port \(runner.transport.port)")
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
        runner.stopBluetooth()
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

    /// Takes what the node told: writes what a person should read.
    package func record(_ event: Node.Event, _ now: Instant) {
        if case .diagnostic(let diagnostic) = event { tell(diagnostic, now) }
        control.record(event)
        runner.record(event, now)
    }

    /// Refusals that repeat are written as sums.
    private func tell(_ diagnostic: Node.Diagnostic, _ now: Instant) {
        let line = diagnostic.text(runner)
        guard case .refused(let peer, let reason, let endpoint, _) = diagnostic else {
            return log.write(diagnostic.level, line)
        }
        refusals.handle(.refused(peer, reason, at: endpoint, line: line), now: now)
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

    /// Without its control socket a node still does its work. Where it may not make the one that is
    /// configured, it makes one in its state directory.
    private func openControl() {
        guard !settings.keepsNothing else { return }
        let fallback = Settings.fallbackControl(state: settings.state)
        do throws(ControlError) {
            try control.open(settings.control, for: self)
        } catch {
            log.write(.warning, "\(error)")
            guard error.concernsItsPlace, fallback != settings.control else { return }
            do throws(ControlError) {
                try control.open(fallback, for: self)
                log.write(
                    .diagnostic,
                    "the control socket is \(fallback): `rivulet status` finds it through the "
                        + "configuration, or with --socket \(fallback)")
            } catch {
                log.write(.warning, "\(error): `rivulet status` cannot ask this node")
            }
        }
    }
}

import NearbyCore
import NearbyWire

extension Limits {
    /// Lines about found, changed and lost peers in a minute.
    static let serviceDiagnosticsPerMinute = 60
    /// Names tried before publishing rests for a while.
    static let serviceNamesMax = 16
}

/// What is done with the daemon: when to connect, under which name to publish, what to resolve, and
/// which addresses the node shall try.
///
/// The daemon may be absent, come, restart or die at any time. After a loss everything that the
/// daemon had from us is gone and begins anew; what the node made of it stays its own matter.
public struct AvahiMachine: Sendable {
    public enum Input: Sendable {
        case start
        /// The client exists: the daemon is absent, has to find a host name, or serves.
        case daemon(DaemonState)
        /// No client could be made, or it is of no use any more.
        case clientLost(String)
        case group(GroupState)
        case found(ServiceKey)
        case removed(ServiceKey)
        case browserLost(String)
        case resolved(ServiceKey, ServiceAnswer)
        case unresolved(ServiceKey)
        /// The links that the node uses, in order.
        case links([LinkID])
        case deadlineReached
    }

    public enum DaemonState: Equatable, Sendable { case absent, busy, running }

    public enum GroupState: Sendable {
        case established
        case collision
        case failed(String)
    }

    public enum Output: Equatable, Sendable {
        /// A client; `daemon` or `clientLost` follows.
        case connect
        /// No client any more, nor anything that belongs to it.
        case disconnect
        /// In place of what was published before; `group` follows.
        case publish(name: String, on: [LinkID])
        case withdraw
        /// In place of an earlier browser.
        case browse
        /// `resolved` or `unresolved` follows, again with each change.
        case resolve(ServiceKey)
        case forget(ServiceKey)
        /// All addresses to try now.
        case advertise([Endpoint])
        case diagnostic(AvahiDiagnostic)
        case drop(DropReason)
    }

    /// How far we are with the daemon.
    public enum Phase: Equatable, Sendable {
        case idle
        /// Nothing that could be connected to; tried again at the time.
        case retrying(at: Instant)
        case connecting
        case noDaemon
        case serving(Publication)
    }

    /// How far our own service is.
    public enum Publication: Equatable, Sendable {
        /// No link is in use, or the daemon has no host name yet.
        case none
        case registering
        case published
        case backingOff(until: Instant)
    }

    private var name: ServiceName
    private let isPublished: Bool
    public private(set) var phase = Phase.idle
    /// Connections that failed or were lost since the last steady one.
    private var attempts = 0
    private var servingSince = Instant.zero
    private var links: [LinkID] = []
    private var publishedLinks: [LinkID] = []
    private var services: FoundServices
    /// As last told.
    public private(set) var peers: [FoundPeer] = []
    private var endpoints: [Endpoint] = []
    private var diagnosticsLeft = Limits.serviceDiagnosticsPerMinute
    private var diagnosticsSince = Instant.zero

    /// `name`: the display name; at most 63 bytes of it are published, or nothing at all.
    public init(peer: PeerID, name: String, isPublished: Bool = true) {
        self.isPublished = isPublished
        self.name = ServiceName(name, peer: peer)
        services = FoundServices(own: peer)
    }

    /// The name that is published, or would be.
    public var serviceName: String { name.text }

    public var serviceCount: Int { services.count }

    public var nextDeadline: Instant? {
        switch phase {
        case .idle, .connecting, .noDaemon: nil
        case .retrying(let time): time
        case .serving(.backingOff(let time)): min(time, services.nextDeadline ?? .distantFuture)
        case .serving: services.nextDeadline
        }
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs = apply(input, now: now)
        if isServing { outputs += services.takeUnresolved(now: now).map { .resolve($0) } }
        return outputs + reportChanges(now: now)
    }

    private mutating func apply(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .start: phase = .retrying(at: now + Self.startPause)
        case .daemon(let state): return daemonChanged(to: state, now: now)
        case .clientLost(let reason): return clientLost(reason, now: now)
        case .group(let state): return groupChanged(to: state, now: now)
        case .found(let key): return found(key)
        case .removed(let key): return removed(key)
        case .browserLost(let reason): return isServing ? clientLost(reason, now: now) : []
        case .resolved(let key, let answer): return drop(services.resolve(key, answer))
        case .unresolved(let key):
            services.fail(key, now: now)
            return [.forget(key)]
        case .links(let links): return linksChanged(to: links)
        case .deadlineReached: return deadlineReached(now: now)
        }
        return []
    }

    private var isServing: Bool { if case .serving = phase { true } else { false } }

    // MARK: The daemon

    private mutating func daemonChanged(to state: DaemonState, now: Instant) -> [Output] {
        switch (state, phase) {
        case (.absent, .connecting):
            phase = .noDaemon
            defer { attempts = 1 }
            return attempts == 0 ? [.diagnostic(.noDaemon)] : []
        case (.absent, _), (_, .idle), (_, .retrying): return []
        case (.busy, .connecting), (.busy, .noDaemon): return [serve(now: now)]
        case (.busy, .serving):
            // The host's name changes, and with it what the service points to.
            publishedLinks = []
            phase = .serving(.none)
            return [.withdraw]
        case (.running, .connecting), (.running, .noDaemon): return [serve(now: now)] + publish()
        case (.running, .serving(.none)): return publish()
        case (.running, .serving): return []
        }
    }

    private mutating func serve(now: Instant) -> Output {
        servingSince = now
        phase = .serving(.none)
        return .browse
    }

    private mutating func clientLost(_ reason: String, now: Instant) -> [Output] {
        guard phase != .idle else { return [] }
        var outputs = [Output.disconnect]
        _ = services.removeAll()
        publishedLinks = []
        // One that dies again and again is left alone for longer and longer.
        if isServing, now - servingSince >= Self.steadiness { attempts = 0 }
        // Told once, not with every attempt.
        if isServing { outputs.append(.diagnostic(.daemonLost(reason))) }
        if phase == .connecting, attempts == 0 { outputs.append(.diagnostic(.noDaemon)) }
        phase = .retrying(at: now + Self.pause(after: attempts))
        attempts += 1
        return outputs
    }

    private mutating func deadlineReached(now: Instant) -> [Output] {
        switch phase {
        case .retrying(let time) where time <= now:
            phase = .connecting
            return [.connect]
        case .serving(.backingOff(let time)) where time <= now: return publish()
        default: return []
        }
    }

    // MARK: Our own service

    private mutating func publish() -> [Output] {
        guard isPublished, !links.isEmpty else {
            phase = .serving(.none)
            return []
        }
        publishedLinks = links
        phase = .serving(.registering)
        return [.publish(name: name.text, on: links)]
    }

    private mutating func groupChanged(to state: GroupState, now: Instant) -> [Output] {
        guard case .serving(let publication) = phase else { return [] }
        switch state {
        case .established:
            guard publication == .registering else { return [] }
            phase = .serving(.published)
            return [.diagnostic(.published(name.text))]
        case .collision:
            name.collide()
            let hasTriedAll = name.collisionCount % Limits.serviceNamesMax == 0
            return hasTriedAll ? [backOff(now: now)] : publish()
        case .failed(let reason):
            return [.diagnostic(.publishingFailed(reason)), backOff(now: now)]
        }
    }

    private mutating func backOff(now: Instant) -> Output {
        publishedLinks = []
        phase = .serving(.backingOff(until: now + Self.backoff))
        return .withdraw
    }

    /// A link that is gone stays published: the daemon itself knows when it is there.
    private mutating func linksChanged(to links: [LinkID]) -> [Output] {
        self.links = links
        let forgotten = services.setLinks(links).map { Output.forget($0) }
        guard case .serving(let publication) = phase else { return forgotten }
        switch publication {
        case .registering, .published:
            return links.allSatisfy(publishedLinks.contains) ? forgotten : forgotten + publish()
        case .none: return forgotten + publish()
        case .backingOff: return forgotten
        }
    }

    // MARK: The services of others

    private mutating func found(_ key: ServiceKey) -> [Output] {
        guard isServing else { return [] }
        let (verdict, evicted) = services.add(key)
        return drop(verdict) + (evicted.map { [.forget($0)] } ?? [])
    }

    private mutating func removed(_ key: ServiceKey) -> [Output] {
        guard services.remove(key) else { return [] }
        // There is room for those that were dropped: the daemon names them again.
        guard services.isIncomplete, services.count <= Limits.servicesMax / 2 else {
            return [.forget(key)]
        }
        return [.forget(key)] + services.removeAll().map { .forget($0) } + [.browse]
    }

    private func drop(_ verdict: FoundServices.Verdict) -> [Output] {
        guard case .refused(let reason) = verdict else { return [] }
        return [.drop(reason)]
    }

    /// Says what is found, changed and lost since the last time.
    private mutating func reportChanges(now: Instant) -> [Output] {
        let before = peers
        peers = services.peers
        guard peers != before else { return [] }
        var diagnostics: [AvahiDiagnostic] = []
        for peer in peers {
            let known = before.first { $0.record.peer == peer.record.peer }
            if known == nil {
                diagnostics.append(.found(peer))
            } else if known != peer {
                diagnostics.append(.changed(peer))
            }
        }
        for peer in before where !peers.contains(where: { $0.record.peer == peer.record.peer }) {
            diagnostics.append(.lost(peer))
        }
        let told = diagnostics.compactMap { report($0, now: now) }
        let current = FoundServices.endpoints(of: peers)
        guard current != endpoints else { return told }
        endpoints = current
        return told + [.advertise(current)]
    }

    /// A flood of services does not become a flood of lines.
    private mutating func report(_ diagnostic: AvahiDiagnostic, now: Instant) -> Output? {
        if now - diagnosticsSince >= .seconds(60) {
            diagnosticsLeft = Limits.serviceDiagnosticsPerMinute
            diagnosticsSince = now
        }
        guard diagnosticsLeft > 0 else { return nil }
        diagnosticsLeft -= 1
        return .diagnostic(diagnosticsLeft > 0 ? diagnostic : .silenced)
    }

    /// 1 s, doubling to a minute.
    private static func pause(after attempts: Int) -> Duration {
        .seconds(min(60, 1 << min(attempts, 6)))
    }

    /// The node's own first steps come first.
    private static let startPause: Duration = .milliseconds(100)
    private static let backoff: Duration = .seconds(60)
    private static let steadiness: Duration = .seconds(60)
}

/// What a person should read in the log.
public enum AvahiDiagnostic: Equatable, Sendable {
    case noDaemon
    /// The library cannot be loaded: not installed, or lacking a function.
    case libraryMissing(String)
    case daemonLost(String)
    case published(String)
    case publishingFailed(String)
    case found(FoundPeer)
    case changed(FoundPeer)
    case lost(FoundPeer)
    /// More of these in this minute are left out.
    case silenced
}

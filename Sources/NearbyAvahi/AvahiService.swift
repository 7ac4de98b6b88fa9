import CAvahi
import Glibc
import NearbyCore
import NearbyLinux
import NearbyWire

/// DNS-SD through Avahi's daemon: publishes this node, finds others. The shell around
/// `AvahiMachine`: calls of the client library, and what it calls back.
///
/// The library's calls wait for the daemon's answer: about a millisecond each, and at most
/// `CallLimit`. After one that took so long nothing more is asked of this client. What the library
/// calls back is only queued, and handled once it has returned.
public final class AvahiService {
    /// What the node tells about itself.
    public struct ServiceAdvertisement: Sendable {
        /// `greenhouse` becomes `_greenhouse._udp`.
        public var network: String
        public var name: String
        public var record: ServiceRecord
        /// False: others are looked for, and nobody hears of us.
        public var isPublished = true

        public init(network: String, name: String, record: ServiceRecord) {
            self.network = network
            self.name = name
            self.record = record
        }
    }

    /// Called with all addresses to try, whenever they change.
    public var onEndpoints: (([Endpoint]) -> Void)?
    public var onDiagnostic: ((AvahiDiagnostic) -> Void)?
    /// Called when the library has worked: it rests now, often for hours.
    public var onWork: (() -> Void)?
    public private(set) var machine: AvahiMachine
    public private(set) var drops = DropCounters()
    private let advertisement: ServiceAdvertisement
    private let type: [CChar]
    private let loop: EventLoop
    private let poll: LoopPoll
    private var timer: EventLoop.TimerID?
    /// Nil until there is a bus.
    private var library: AvahiLibrary?
    private var client: OpaquePointer?
    private var group: OpaquePointer?
    private var browser: OpaquePointer?
    private var resolvers: [ServiceKey: Resolver] = [:]
    /// The daemon has let a call wait too long.
    private var isStalled = false
    /// The lack of the library has been reported.
    private var isMissingTold = false
    /// What the library told since the loop came by.
    private var queued: [AvahiMachine.Input] = []

    public init(_ advertisement: ServiceAdvertisement, loop: EventLoop) {
        self.advertisement = advertisement
        self.loop = loop
        type = Array("_\(advertisement.network)._udp".utf8CString)
        machine = AvahiMachine(
            peer: advertisement.record.peer, name: advertisement.name,
            isPublished: advertisement.isPublished)
        poll = LoopPoll(loop: loop)
    }

    deinit { disconnect() }

    /// Begins, within a moment: the loop's other handlers come first.
    public func start() {
        timer = loop.addTimer { [unowned self] now in
            let inputs = queued
            queued = []
            for input in inputs { handle(input, now) }
            handle(.deadlineReached, now)
            onWork?()
        }
        handle(.start, MonotonicClock.now())
    }

    /// Says goodbye: the daemon withdraws what belongs to a client that is gone.
    public func stop() {
        if let timer { loop.removeTimer(timer) }
        timer = nil
        disconnect()
    }

    /// The links that the node uses, in order.
    public func use(_ links: [LinkID]) { handle(.links(links), MonotonicClock.now()) }

    private func handle(_ input: AvahiMachine.Input, _ now: Instant) {
        for output in machine.handle(input, now: now) {
            switch output {
            case .connect: inTime { connect() }
            case .disconnect: disconnect()
            case .publish(let name, let links): inTime { publish(name, links) }
            case .withdraw: inTime { withdraw() }
            case .browse: inTime { browse() }
            case .resolve(let key): inTime { resolve(key) }
            case .forget(let key): inTime { forget(key) }
            case .advertise(let endpoints): onEndpoints?(endpoints)
            case .diagnostic(let diagnostic): onDiagnostic?(diagnostic)
            case .drop(let reason): drops.count(reason)
            }
        }
        let deadline = queued.isEmpty ? machine.nextDeadline : now
        if let timer { loop.set(timer, to: deadline) }
    }

    /// Does what waits for the daemon, unless it has stalled.
    private func inTime(_ calls: () -> Void) {
        guard !isStalled else { return }
        let began = MonotonicClock.now()
        calls()
        guard MonotonicClock.now() - began >= .milliseconds(Int64(CallLimit.milliseconds)) else {
            return
        }
        // What it told meanwhile is of no use: the client goes.
        queued = []
        isStalled = true
        enqueue(.clientLost("the daemon does not answer"))
    }

    /// For the library's callbacks.
    fileprivate func enqueue(_ input: AvahiMachine.Input) {
        queued.append(input)
        if let timer { loop.set(timer, to: MonotonicClock.now()) }
    }

    // MARK: The client

    private func connect() {
        disconnect()
        guard AvahiLibrary.mayHaveBus else { return enqueue(.clientLost("there is no D-Bus")) }
        var reason = ""
        library = library ?? AvahiLibrary(fault: &reason)
        guard let library else {
            if !isMissingTold { onDiagnostic?(.libraryMissing(reason)) }
            isMissingTold = true
            return enqueue(.clientLost(reason))
        }
        var fault: Int32 = 0
        client = cavahi_client_new(
            library.functions, poll.api, AVAHI_CLIENT_NO_FAIL,
            { client, state, service in AvahiService.of(service)?.changed(client, state) },
            handle, &fault)
        if client == nil { enqueue(.clientLost(library.text(fault))) }
    }

    private func changed(_ client: OpaquePointer?, _ state: AvahiClientState) {
        switch state {
        case AVAHI_CLIENT_S_RUNNING: enqueue(.daemon(.running))
        case AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: enqueue(.daemon(.busy))
        case AVAHI_CLIENT_CONNECTING: enqueue(.daemon(.absent))
        default: enqueue(.clientLost(fault(of: client)))
        }
    }

    /// Frees the client with all that belongs to it; what it told before counts no more.
    private func disconnect() {
        queued = []
        isStalled = false
        if let client, let library { cavahi_client_free(library.functions, client) }
        (client, group, browser) = (nil, nil, nil)
        resolvers = [:]
    }

    // MARK: Our own service

    private func publish(_ name: String, _ links: [LinkID]) {
        withdraw()
        guard let client, let library else { return }
        let functions = library.functions
        group = cavahi_entry_group_new(
            functions, client, { _, state, service in AvahiService.of(service)?.changed(state) },
            handle)
        guard let group else { return enqueue(.group(.failed(lastFault))) }
        let text = advertisement.record.bytes
        var strings: UnsafeMutablePointer<AvahiStringList>?
        guard cavahi_string_list_parse(functions, text, text.count, &strings) == 0 else {
            return enqueue(.group(.failed("no memory")))
        }
        defer { cavahi_string_list_free(functions, strings) }
        for link in links {
            let fault = cavahi_entry_group_add_service_strlst(
                functions, group, Int32(truncatingIfNeeded: link.value), Int32(AVAHI_PROTO_UNSPEC),
                AvahiPublishFlags(0), name, type, advertisement.record.port, strings)
            if fault == AVAHI_ERR_COLLISION { return enqueue(.group(.collision)) }
            if fault != 0 { return enqueue(.group(.failed(library.text(fault)))) }
        }
        let fault = cavahi_entry_group_commit(functions, group)
        if fault != 0 { enqueue(.group(.failed(library.text(fault)))) }
    }

    private func changed(_ state: AvahiEntryGroupState) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: enqueue(.group(.established))
        case AVAHI_ENTRY_GROUP_COLLISION: enqueue(.group(.collision))
        case AVAHI_ENTRY_GROUP_FAILURE: enqueue(.group(.failed(lastFault)))
        default: return
        }
    }

    private func withdraw() {
        if let group, let library { cavahi_entry_group_free(library.functions, group) }
        group = nil
    }

    // MARK: The services of others

    private func browse() {
        guard let client, let functions = library?.functions else { return }
        if let browser { cavahi_service_browser_free(functions, browser) }
        browser = cavahi_service_browser_new(
            functions, client, Int32(AVAHI_IF_UNSPEC), Int32(AVAHI_PROTO_UNSPEC), type,
            { _, link, family, event, name, _, domain, _, service in
                guard let service = AvahiService.of(service) else { return }
                if event == AVAHI_BROWSER_FAILURE {
                    return service.enqueue(.browserLost(service.lastFault))
                }
                guard let key = ServiceKey(link, family, name, domain) else { return }
                if event == AVAHI_BROWSER_NEW { service.enqueue(.found(key)) }
                if event == AVAHI_BROWSER_REMOVE { service.enqueue(.removed(key)) }
            }, handle)
        if browser == nil { enqueue(.browserLost(lastFault)) }
    }

    /// What a resolver's callback needs.
    private final class Resolver {
        unowned let service: AvahiService
        let key: ServiceKey
        var raw: OpaquePointer?

        init(_ service: AvahiService, _ key: ServiceKey) {
            self.service = service
            self.key = key
        }

        func answered(
            _ event: AvahiResolverEvent, _ address: UnsafePointer<AvahiAddress>?, _ port: UInt16,
            _ strings: UnsafeMutablePointer<AvahiStringList>?
        ) {
            guard event == AVAHI_RESOLVER_FOUND, let address = TransportAddress(address) else {
                return service.enqueue(.unresolved(key))
            }
            let text = service.library?.record(strings) ?? []
            let answer = ServiceAnswer(address: address, port: port, text: text)
            service.enqueue(.resolved(key, answer))
        }
    }

    private func resolve(_ key: ServiceKey) {
        forget(key)
        guard let client, let functions = library?.functions else { return }
        let resolver = Resolver(self, key)
        let family = key.family.number
        resolver.raw = cavahi_service_resolver_new(
            functions, client, Int32(truncatingIfNeeded: key.link.value), family,
            AvahiText.zeroTerminated(key.name), type, AvahiText.zeroTerminated(key.domain), family,
            { _, _, _, event, _, _, _, _, address, port, strings, _, resolver in
                guard let resolver else { return }
                Unmanaged<Resolver>.fromOpaque(resolver).takeUnretainedValue()
                    .answered(event, address, port, strings)
            }, Unmanaged.passUnretained(resolver).toOpaque())
        if resolver.raw == nil { enqueue(.unresolved(key)) } else { resolvers[key] = resolver }
    }

    private func forget(_ key: ServiceKey) {
        guard let resolver = resolvers.removeValue(forKey: key) else { return }
        if let raw = resolver.raw, let library {
            cavahi_service_resolver_free(library.functions, raw)
        }
    }

    // MARK: Parts

    private var handle: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private static func of(_ handle: UnsafeMutableRawPointer?) -> AvahiService? {
        handle.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    private var lastFault: String { client.map { fault(of: $0) } ?? "no client" }

    private func fault(of client: OpaquePointer?) -> String {
        library.map { $0.text(cavahi_client_errno($0.functions, client)) } ?? "no library"
    }
}

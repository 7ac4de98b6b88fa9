import CMicroHTTPD
import CollectorConfiguration
import Fleet
import Glibc
import NearbyCore
import NearbyLinux
import Synchronization

/// The page of a collector, and what it asks for: served by libmicrohttpd on a thread of its own,
/// out of the newest snapshot and, on other threads, the store.
public final class FleetPage: Sendable {
    /// Why the page cannot be served.
    public struct Fault: Error, Equatable, CustomStringConvertible {
        public let description: String
    }

    private struct State {
        var router: PageRouter
        var connections = PageConnections(enough: Int(connectionsMax) / 8 * 7)
        var exportCount = 0
        var isStopping = false
        /// Requests that somebody works on.
        var workCount = 0
    }

    private static let connectionsMax: UInt32 = 256
    private static let exportsMax = 2
    /// Of connections on which nothing moves.
    private static let idleSeconds: UInt32 = 30
    private static let connectionMemory = 32_768

    private let settings: WebSettings
    private let hub: EventHub
    private let snapshots: SnapshotDesk
    private let desk: StoreDesk
    private let state: Monitor<State>
    private let daemon = Mutex<DaemonPointer?>(nil)

    private struct DaemonPointer: @unchecked Sendable { let pointer: OpaquePointer }

    /// - Parameters:
    ///   - store: nil if nothing is stored.
    ///   - names: what this machine is called.
    public init(
        _ settings: WebSettings, board: FleetBoard, store: String?, names: [String],
        words: FleetWords = .none
    ) {
        self.settings = settings
        hub = EventHub(board)
        snapshots = SnapshotDesk(board)
        desk = StoreDesk(path: store, words: words)
        state = Monitor(State(router: PageRouter(settings, names: names)))
    }

    public func change(words: FleetWords) { desk.change(words: words) }

    // MARK: Beginning and end

    /// Serves from now on. It lives until `stop`.
    public func start() throws(Fault) {
        guard var address = BindAddress(settings.bind, settings.port) else {
            throw Fault(description: "web: \(settings.bind) is not an address")
        }
        if settings.tls != nil, rivulet_http_has_tls() == 0 {
            throw Fault(
                description: "web: this machine's libmicrohttpd has no TLS; leave out certificate "
                    + "and key, and put a proxy in front")
        }
        errno = 0
        let started = withUnsafePointer(to: &address.storage) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { start(at: $0) }
        }
        guard let started else { throw refusal(errno) }
        daemon.withLock { $0 = DaemonPointer(pointer: started) }
        guard hub.start() else {
            stop()
            throw Fault(
                description: "web: no thread can be started: \(String(cString: strerror(EAGAIN)))")
        }
    }

    private func start(at address: UnsafePointer<sockaddr>) -> OpaquePointer? {
        var options = rivulet_http_options()
        options.address = address
        options.connections = Self.connectionsMax
        options.idle_seconds = Self.idleSeconds
        options.connection_memory = Self.connectionMemory
        // Kept until `stop` lets go of it.
        let context = Unmanaged.passRetained(self).toOpaque()
        let key = (settings.tls?.key ?? []).map { CChar(bitPattern: $0) } + [0]
        let certificate = (settings.tls?.certificate ?? []).map { CChar(bitPattern: $0) } + [0]
        let started = key.withUnsafeBufferPointer { key in
            certificate.withUnsafeBufferPointer { certificate in
                if settings.tls != nil {
                    options.key = key.baseAddress
                    options.certificate = certificate.baseAddress
                }
                return rivulet_http_start(
                    &options, handleRequest, context, requestCompleted, connectionNoticed)
            }
        }
        if started == nil { Unmanaged<FleetPage>.fromOpaque(context).release() }
        return started
    }

    private func refusal(_ code: Int32) -> Fault {
        let place = "web: \(settings.bind) port \(settings.port)"
        switch code {
        case EADDRINUSE:
            return Fault(description: "\(place) is taken by another program; choose another port")
        case EACCES, EPERM:
            return Fault(description: "\(place) needs root; choose a port from 1024")
        case EADDRNOTAVAIL:
            return Fault(description: "\(place): this machine has no such address")
        case 0 where settings.tls != nil:
            return Fault(
                description: "\(place): certificate and key do not belong together, or are no PEM")
        default: return Fault(description: "\(place): \(String(cString: strerror(code)))")
        }
    }

    /// Ends all connections. What reads from a store that hangs is waited for 3 s, then left alone.
    public func stop() {
        let daemon = daemon.withLock { daemon in
            defer { daemon = nil }
            return daemon?.pointer
        }
        guard let daemon else { return }
        let socket = MHD_quiesce_daemon(daemon)
        if socket >= 0 { close(socket) }
        state.change { $0.isStopping = true }
        hub.stop()
        let isFree = state.wait(
            milliseconds: 3_000, until: { $0.workCount == 0 }, { $0.workCount == 0 })
        // libmicrohttpd cannot end while a connection is suspended.
        guard isFree else { return }
        MHD_stop_daemon(daemon)
        Unmanaged.passUnretained(self).release()
    }

    // MARK: Connections and requests, on libmicrohttpd's thread

    fileprivate func noticed(_ connection: OpaquePointer, isOpen: Bool) {
        let socket = rivulet_http_socket(connection)
        let surplus: Int32? = state.change { state in
            if isOpen { return state.connections.opened(connection, socket: socket) }
            state.connections.closed(connection)
            return nil
        }
        // libmicrohttpd sees its end, and cleans up.
        if let surplus, surplus >= 0 { shutdown(surplus, Int32(SHUT_RDWR)) }
    }

    fileprivate func began(_ connection: OpaquePointer) {
        state.change { $0.connections.busy(connection) }
    }

    fileprivate func ended(_ connection: OpaquePointer) {
        let socket = rivulet_http_socket(connection)
        state.change { $0.connections.wait(connection, socket: socket) }
    }

    fileprivate func handle(_ exchange: Exchange, method: String, path: String) -> MHD_Result {
        if let response = exchange.response { return exchange.send(response) }
        let request = exchange.request(method: method, path: path)
        let answer = state.change { $0.router.answer(request, now: MonotonicClock.now()) }
        switch answer {
        case .response(let response): return exchange.send(response)
        case .events: return sendEvents(exchange, isHead: method == "HEAD")
        case .export(let query): return sendExport(exchange, query, isHead: method == "HEAD")
        case .snapshot(let form): return later(exchange) { snapshots.answer(form, $0) }
        case .query(let query): return later(exchange) { desk.answer(query, $0) }
        }
    }

    /// Nothing happens on the connection until somebody else has the response.
    private func later(
        _ exchange: Exchange, _ ask: (@escaping @Sendable (PageResponse) -> Void) -> Void
    ) -> MHD_Result {
        guard begin() else { return .NO }
        exchange.suspend()
        ask { [self] response in
            exchange.finish(response)
            end()
        }
        return .YES
    }

    private func begin() -> Bool {
        state.change { state in
            guard !state.isStopping else { return false }
            state.workCount += 1
            return true
        }
    }

    private func end() { state.change { $0.workCount -= 1 } }

    private func sendEvents(_ exchange: Exchange, isHead: Bool) -> MHD_Result {
        let type = "text/event-stream"
        if isHead { return exchange.send(PageResponse(type: type, [])) }
        guard let reader = hub.reader(on: exchange.connection) else {
            var busy = PageResponse(503, "too many pages are open; try again later")
            busy.headers.append(("Retry-After", "30"))
            return exchange.send(busy)
        }
        // A proxy in front is not to wait for the end, which does not come.
        return exchange.send(reader, type: type, [("X-Accel-Buffering", "no")])
    }

    private func sendExport(
        _ exchange: Exchange, _ query: ExportQuery, isHead: Bool
    ) -> MHD_Result {
        let type = "text/csv; charset=utf-8"
        if isHead { return exchange.send(PageResponse(type: type, [])) }
        let stream = ExportStream(exchange.connection)
        let isTaken = state.change { state in
            guard !state.isStopping, state.exportCount < Self.exportsMax else { return false }
            state.exportCount += 1
            state.workCount += 1
            return true
        }
        let isStarted =
            isTaken
            && startThread { [self] in
                stream.fill(query, from: desk)
                state.change { state in
                    state.exportCount -= 1
                    state.workCount -= 1
                }
            }
        guard isStarted else {
            var busy = PageResponse(503, "too many downloads at once; try again")
            busy.headers.append(("Retry-After", "10"))
            return exchange.send(busy)
        }
        return exchange.send(
            stream, type: type,
            [("Content-Disposition", "attachment; filename=\"readings.csv\"")])
    }
}

/// MHD_AccessHandlerCallback.
private func handleRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, url: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    uploadCount: UnsafeMutablePointer<Int>?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let url, let method, let state else { return .NO }
    guard let raw = state.pointee else {
        // The headers are there; what is answered waits for a body that may follow.
        Unmanaged<FleetPage>.fromOpaque(context).takeUnretainedValue().began(connection)
        state.pointee = Unmanaged.passRetained(Exchange(connection)).toOpaque()
        return .YES
    }
    let exchange = Unmanaged<Exchange>.fromOpaque(raw).takeUnretainedValue()
    if let uploadCount, uploadCount.pointee > 0 {
        guard exchange.takesUpload(uploadCount.pointee) else { return .NO }
        uploadCount.pointee = 0
        return .YES
    }
    return Unmanaged<FleetPage>.fromOpaque(context).takeUnretainedValue()
        .handle(exchange, method: String(cString: method), path: String(cString: url))
}

/// MHD_RequestCompletedCallback.
private func requestCompleted(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, code: MHD_RequestTerminationCode
) {
    guard let raw = state?.pointee else { return }
    state?.pointee = nil
    Unmanaged<Exchange>.fromOpaque(raw).release()
    guard let context, let connection else { return }
    Unmanaged<FleetPage>.fromOpaque(context).takeUnretainedValue().ended(connection)
}

/// MHD_NotifyConnectionCallback.
private func connectionNoticed(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection else { return }
    Unmanaged<FleetPage>.fromOpaque(context).takeUnretainedValue()
        .noticed(connection, isOpen: rivulet_http_is_opened(code) != 0)
}

/// An address for bind(2).
private struct BindAddress {
    var storage = sockaddr_storage()

    init?(_ text: String, _ port: UInt16) {
        var four = sockaddr_in()
        var six = sockaddr_in6()
        if inet_pton(AF_INET, text, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { target in
                withUnsafeBytes(of: four) { target.copyBytes(from: $0) }
            }
        } else if inet_pton(AF_INET6, text, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { target in
                withUnsafeBytes(of: six) { target.copyBytes(from: $0) }
            }
        } else {
            return nil
        }
    }
}

import CMicroHTTPD
import Glibc
import NearbyCore
import Synchronization

/// One request and its response. Lives from the request's first line until libmicrohttpd says that
/// it is over.
final class Exchange: @unchecked Sendable {
    private enum Phase {
        case new
        /// Somebody works on it; the connection is suspended.
        case waiting
        case ready(PageResponse)
    }

    let connection: OpaquePointer
    private let phase = Mutex(Phase.new)
    /// Bytes of a body that nobody wants.
    private var uploadedCount = 0

    init(_ connection: OpaquePointer) { self.connection = connection }

    /// Whether more of a body may come; it is thrown away.
    func takesUpload(_ count: Int) -> Bool {
        uploadedCount += count
        return uploadedCount <= 65_536
    }

    /// What has been made ready meanwhile.
    var response: PageResponse? {
        phase.withLock { phase in
            if case .ready(let response) = phase { return response }
            return nil
        }
    }

    /// On libmicrohttpd's thread: nothing more happens on the connection until `finish`.
    func suspend() {
        phase.withLock { $0 = .waiting }
        MHD_suspend_connection(connection)
    }

    /// On any thread, once after `suspend`: the handler is called again.
    func finish(_ response: PageResponse) {
        phase.withLock { $0 = .ready(response) }
        MHD_resume_connection(connection)
    }

    // MARK: What was asked

    func request(method: String, path: String) -> PageRequest {
        var request = PageRequest(path: path)
        request.method = method
        request.host = header("Host")
        request.accept = header("Accept")
        request.site = header("Sec-Fetch-Site")
        for name in ["node", "channel", "from", "to", "points", "at"] {
            request.query[name] = value(.GET_ARGUMENT_KIND, name)
        }
        request.login = login
        request.source = source
        return request
    }

    private func header(_ name: String) -> String? { value(.HEADER_KIND, name) }

    private func value(_ kind: MHD_ValueKind, _ name: String) -> String? {
        MHD_lookup_connection_value(connection, kind, name).map { String(cString: $0) }
    }

    private var login: PageRequest.Login? {
        var password: UnsafeMutablePointer<CChar>?
        guard let user = MHD_basic_auth_get_username_password(connection, &password) else {
            return nil
        }
        defer {
            MHD_free(user)
            MHD_free(password)
        }
        return PageRequest.Login(
            user: String(cString: user), password: password.map { String(cString: $0) } ?? "")
    }

    private var source: String {
        guard let address = rivulet_http_source(connection) else { return "" }
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                String(UInt32(bigEndian: $0.pointee.sin_addr.s_addr), radix: 16)
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                withUnsafeBytes(of: address.pointee.sin6_addr) { bytes in
                    // Of an IPv4 address written as one of IPv6 the end counts.
                    let isFour = bytes.prefix(10).allSatisfy { $0 == 0 }
                    return (isFour ? bytes.suffix(4) : bytes.prefix(8)).map {
                        String($0, radix: 16)
                    }
                    .joined(separator: ".")
                }
            }
        default: return ""
        }
    }

    // MARK: What is answered

    /// On libmicrohttpd's thread.
    func send(_ response: PageResponse) -> MHD_Result {
        if response.body.count > Self.copiedMax {
            return send(
                BodyBytes(response.body), status: response.status, type: response.type,
                response.headers, count: UInt64(response.body.count))
        }
        let made = response.body.withUnsafeBytes { bytes in
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY)
        }
        return send(made, status: response.status, type: response.type, response.headers)
    }

    /// Larger bodies are shared by all that they are sent to: a fleet has megabytes, and whoever
    /// reads slowly would keep a copy.
    private static let copiedMax = 65_536

    /// A body that comes bit by bit.
    ///
    /// - Parameter count: its bytes; unknown unless given.
    func send(
        _ source: some BodySource, status: UInt32 = 200, type: String,
        _ headers: [(name: String, value: String)], count: UInt64 = .max
    ) -> MHD_Result {
        let raw = Unmanaged.passRetained(BodyBox(source)).toOpaque()
        let made = MHD_create_response_from_callback(
            count, 32_768,
            { raw, _, buffer, count in
                guard let raw, let buffer else { return -2 }
                return Unmanaged<BodyBox>.fromOpaque(raw).takeUnretainedValue().source
                    .read(UnsafeMutableRawBufferPointer(start: buffer, count: count))
            }, raw,
            { raw in
                guard let raw else { return }
                Unmanaged<BodyBox>.fromOpaque(raw).takeRetainedValue().source.close()
            })
        if made == nil {
            Unmanaged<BodyBox>.fromOpaque(raw).release()
            source.close()
        }
        return send(made, status: status, type: type, headers)
    }

    private func send(
        _ response: OpaquePointer?, status: UInt32, type: String,
        _ headers: [(name: String, value: String)]
    ) -> MHD_Result {
        guard let response else { return .NO }
        defer { MHD_destroy_response(response) }
        for (name, value) in PageResponse.alwaysHeaders + headers + [("Content-Type", type)] {
            MHD_add_response_header(response, name, value)
        }
        return MHD_queue_response(connection, status, response)
    }
}

/// Where a body comes from that is not there at once.
protocol BodySource: AnyObject {
    /// On libmicrohttpd's thread, when there is room: how many bytes were written; 0 after
    /// suspending the connection; `BodyEnd.done` or `BodyEnd.broken`.
    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int

    /// Nobody reads any more.
    func close()
}

enum BodyEnd {
    static let done = -1
    static let broken = -2
}

private final class BodyBox {
    let source: any BodySource

    init(_ source: any BodySource) { self.source = source }
}

/// A body that is there already.
private final class BodyBytes: BodySource {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard !rest.isEmpty else { return BodyEnd.done }
        let count = min(buffer.count, rest.count)
        buffer.copyBytes(from: rest.prefix(count))
        rest = rest.dropFirst(count)
        return count
    }

    func close() {}
}

import CLinux
import Glibc
import NearbyCore

extension Limits {
    /// Clients of the control socket at one time; further ones are refused.
    public static let controlClientsMax = 8
    /// A request line, bytes.
    public static let controlRequestBytesMax = 1_024
    /// What waits for one client, bytes; a client that lets more gather is dropped.
    static let controlOutputBytesMax = 1 << 20
}

/// A unix stream socket on which local programs ask the agent: one line in, lines of text out.
///
/// A reply ends with a line of a lone dot; a line of the reply that begins with a dot gets another
/// one in front (the transparency of RFC 5321 §4.5.2).
public final class ControlSocket {
    /// Names a client as long as it is connected.
    public struct ClientID: Hashable, Comparable, Sendable {
        fileprivate let value: UInt64

        public static func < (left: ClientID, right: ClientID) -> Bool { left.value < right.value }
    }

    /// What the handler makes of a request.
    public enum Reply: Sendable {
        /// The whole reply.
        case lines([String])
        /// The reply goes on: `send` adds lines, `finish` ends it.
        case open([String])
    }

    public let path: String
    public private(set) var drops = DropCounters()
    private let loop: EventLoop
    private let listener: FileDescriptor
    private let inode: UInt64
    private let handler: (ClientID, String) -> Reply
    private var clients: [ClientID: ControlConnection] = [:]
    private var lastClient: UInt64 = 0
    /// The handler runs: what it calls must not call it again.
    private var isAnswering = false

    /// Serves `path` from now on. The socket is for its owner only (0600); with `group` (a group
    /// id) for that group too (0660). A socket left behind by a dead agent is removed, one that is
    /// served is not.
    public init(
        path: String, group: UInt32? = nil, loop: EventLoop,
        handler: @escaping (ClientID, String) -> Reply
    ) throws(ControlError) {
        self.path = path
        self.loop = loop
        self.handler = handler
        (listener, inode) = try Self.listen(path, group)
        do {
            try loop.register(listener.raw) { [unowned self] _ in accept() }
        } catch {
            throw .system(error)
        }
    }

    /// Adds a line to a client's open reply. False if the client is gone.
    @discardableResult
    public func send(_ line: String, to client: ClientID) -> Bool {
        guard let connection = clients[client] else { return false }
        connection.append([line], isEnd: false)
        flush(client)
        return clients[client] != nil
    }

    /// Ends a client's open reply.
    public func finish(_ client: ClientID) {
        guard let connection = clients[client] else { return }
        connection.append([], isEnd: true)
        advance(client)
    }

    public func isConnected(_ client: ClientID) -> Bool { clients[client] != nil }

    /// Stops serving, drops all clients and removes the path if it is still ours.
    public func close() {
        for client in clients.keys.sorted() { drop(client) }
        loop.unregister(listener.raw)
        var status = stat()
        if lstat(path, &status) == 0, UInt64(status.st_ino) == inode { unlink(path) }
    }

    // MARK: Clients

    private func accept() {
        for _ in 0..<Limits.controlClientsMax {
            let raw = clinux_accept(listener.raw)
            guard raw >= 0, let file = try? FileDescriptor(taking: raw, from: "accept4") else {
                return
            }
            guard clients.count < Limits.controlClientsMax else {
                drops.count(.controlClientRefused)
                ControlConnection.refuse(file)
                continue
            }
            lastClient += 1
            let client = ClientID(value: lastClient)
            clients[client] = ControlConnection(file)
            let isRegistered: Void? = try? loop.register(file.raw) { [unowned self] readiness in
                serve(client, readiness)
            }
            if isRegistered == nil { clients[client] = nil }
        }
    }

    private func serve(_ client: ClientID, _ readiness: EventLoop.Readiness) {
        guard let connection = clients[client] else { return }
        if readiness.contains(.hangup) { return drop(client) }
        if readiness.contains(.readable), !connection.read() { return drop(client) }
        advance(client)
    }

    /// Answers the requests that are complete, one after the other, and sends what there is to
    /// send.
    private func advance(_ client: ClientID) {
        if !isAnswering {
            isAnswering = true
            while let connection = clients[client], answerNext(client, connection) {}
            isAnswering = false
        }
        flush(client)
    }

    /// True if a request was there, its reply is complete and the client may have another.
    private func answerNext(_ client: ClientID, _ connection: ControlConnection) -> Bool {
        guard !connection.isReplyOpen, !connection.isTooSlow else { return false }
        switch connection.nextRequest() {
        case .request(let line):
            connection.open()
            switch handler(client, line) {
            case .lines(let lines): connection.append(lines, isEnd: true)
            case .open(let lines): connection.append(lines, isEnd: false)
            }
        case .tooLong:
            drops.count(.controlRequestTooLong)
            let limit = Limits.controlRequestBytesMax
            connection.open()
            connection.append(["error: a request has at most \(limit) bytes"], isEnd: true)
            connection.endInput()
        case .incomplete: return false
        }
        return true
    }

    private func flush(_ client: ClientID) {
        guard let connection = clients[client] else { return }
        if connection.isTooSlow {
            drops.count(.controlClientSlow)
            return drop(client)
        }
        guard connection.write(), !connection.isDone else { return drop(client) }
        if connection.interest != connection.registeredInterest {
            connection.registeredInterest = connection.interest
            try? loop.setInterest(connection.interest, of: connection.file.raw)
        }
    }

    private func drop(_ client: ClientID) {
        guard let connection = clients.removeValue(forKey: client) else { return }
        loop.unregister(connection.file.raw)
    }

    // MARK: The path

    private static func listen(
        _ path: String, _ group: UInt32?
    ) throws(ControlError) -> (FileDescriptor, inode: UInt64) {
        guard let address = UnixAddress(text: path), !path.hasPrefix("@") else {
            throw .badPath(path)
        }
        try makeDirectory(of: path)
        try removeStale(path)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        do throws(SystemError) {
            let file = try FileDescriptor(taking: socket(AF_UNIX, kind, 0), from: "socket")
            // Before bind: the path is never open to others, not for a moment.
            guard fchmod(file.raw, 0o600) == 0 else { throw .last("fchmod") }
            guard address.withSockaddr({ bind(file.raw, $0, $1) }) == 0 else {
                throw .last("bind \(path)")
            }
            // Sockets are made with our own group; a sandbox may forbid chown(2) altogether.
            if let group, group != getegid() {
                guard chown(path, .max, group) == 0 else { throw .last("chown \(path)") }
            }
            guard chmod(path, group == nil ? 0o600 : 0o660) == 0 else {
                throw .last("chmod \(path)")
            }
            guard Glibc.listen(file.raw, Int32(Limits.controlClientsMax)) == 0 else {
                throw .last("listen")
            }
            var status = stat()
            lstat(path, &status)
            return (file, UInt64(status.st_ino))
        } catch {
            throw .system(error)
        }
    }

    /// The socket's own directory, such as /run/rivulet, is made if only that is missing. Others
    /// may look into it; the socket's own mode says who may connect.
    private static func makeDirectory(of path: String) throws(ControlError) {
        guard let directory = path.pathFolder, directory != "/" else { return }
        if mkdir(directory, 0o755) == 0 {
            // Whatever the umask is.
            chmod(directory, 0o755)
            return
        }
        // What is wrong otherwise shows when the socket is made.
        guard errno == EACCES || errno == EPERM || errno == EROFS || errno == ENOENT else { return }
        throw .noDirectory(path: directory, SystemError.last("mkdir \(directory)"))
    }

    private static func removeStale(_ path: String) throws(ControlError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        do throws(ControlError) {
            _ = try ControlClient(path: path)
        } catch .noAgent {
            unlink(path)
            return
        }
        throw .alreadyServed(path: path)
    }
}

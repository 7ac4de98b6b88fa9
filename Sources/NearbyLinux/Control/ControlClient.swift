import CLinux
import Glibc
import NearbyCore

/// Why the control socket could not be served or asked.
public enum ControlError: Error, Equatable, Sendable, CustomStringConvertible {
    case noAgent(path: String)
    case notPermitted(path: String)
    /// Another agent serves this path.
    case alreadyServed(path: String)
    /// Something that is not a socket is where our socket should go.
    case notASocket(path: String)
    /// The path that a client was told to connect to is not a socket.
    case noSocket(path: String)
    case badPath(String)
    /// The directory that a socket is to be made in is missing, and we may not make it.
    case noDirectory(path: String, SystemError)
    case timedOut(path: String, Duration)
    /// The agent closed the connection within a reply.
    case connectionClosed(path: String)
    case replyTooLong(limit: Int)
    case system(SystemError)

    public var description: String {
        switch self {
        case .noAgent(let path):
            "no node answers at \(path): is rivulet-agent or `rivulet collect` running here?"
        case .notPermitted(let path):
            "no permission for \(path): run this as the node's user, or with sudo"
        case .alreadyServed(let path):
            "another node serves \(path): stop it, or give this one a control socket of its own"
        case .notASocket(let path):
            "\(path) is not a socket: remove it, or choose another path"
        case .noSocket(let path):
            "\(path) is not a socket: give the control socket of a running node (its `control:` "
                + "setting)"
        case .badPath(let path): "'\(path)' cannot be a socket's path: it must have 1–107 bytes"
        case .noDirectory(_, let error): "no control socket there: \(error)"
        case .timedOut(let path, let limit):
            "the node at \(path) did not answer within \(limit.milliseconds) ms"
        case .connectionClosed(let path):
            "the node at \(path) closed the connection: it was stopping, or had too many clients"
        case .replyTooLong(let limit): "the node's reply has more than \(limit) bytes"
        case .system(let error): error.description
        }
    }
}

extension ControlError {
    /// Whether another place would do: the node may not make a socket in this one.
    package var concernsItsPlace: Bool {
        switch self {
        case .noDirectory, .badPath, .notPermitted: true
        case .system(let error): [EACCES, EPERM, EROFS, ENOENT, ENOTDIR].contains(error.code)
        default: false
        }
    }
}

extension Limits {
    /// A reply that the command line takes from an agent, bytes.
    static let controlReplyBytesMax = 16 << 20
}

/// The command line's side of the control socket. Blocks.
public final class ControlClient {
    private let file: FileDescriptor
    private let path: String
    private var waiting: [UInt8] = []

    public init(path: String) throws(ControlError) {
        self.path = path
        guard let address = UnixAddress(text: path) else { throw .badPath(path) }
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        do { file = try FileDescriptor(taking: socket(AF_UNIX, kind, 0), from: "socket") } catch {
            throw .system(error)
        }
        let descriptor = file.raw
        guard address.withSockaddr({ connect(descriptor, $0, $1) }) == 0 else {
            switch errno {
            case ECONNREFUSED where !Self.isSocket(path): throw .noSocket(path: path)
            case ENOENT, ECONNREFUSED: throw .noAgent(path: path)
            case EACCES, EPERM: throw .notPermitted(path: path)
            case EAGAIN: throw .timedOut(path: path, .zero)
            default: throw .system(.last("connect \(path)"))
            }
        }
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Sends one request and returns the lines of its reply.
    public func request(
        _ line: String, timeout: Duration = .seconds(5)
    ) throws(ControlError) -> [String] {
        let deadline = MonotonicClock.now() + timeout
        try send(line, deadline, timeout)
        var lines: [String] = []
        var count = 0
        while let next = try nextLine(deadline, timeout) {
            count += next.utf8.count + 1
            guard count <= Limits.controlReplyBytesMax else {
                throw .replyTooLong(limit: Limits.controlReplyBytesMax)
            }
            lines.append(next)
        }
        return lines
    }

    /// Sends one request and hands over the lines of its reply as they come, until the reply ends
    /// or `body` returns false. `timeout` is the longest silence; nil waits for ever.
    public func follow(
        _ line: String, timeout: Duration?, _ body: (String) -> Bool
    ) throws(ControlError) {
        let limit = timeout ?? .seconds(1 << 32)
        try send(line, MonotonicClock.now() + limit, limit)
        while let next = try nextLine(MonotonicClock.now() + limit, limit) {
            if !body(next) { return }
        }
    }

    private func send(_ line: String, _ deadline: Instant, _ limit: Duration) throws(ControlError) {
        var rest = Array(line.utf8.prefix { $0 != UInt8(ascii: "\n") })[...]
        rest.append(UInt8(ascii: "\n"))
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(file.raw, $0.baseAddress, $0.count, clinux_msg_nosignal())
            }
            if count > 0 {
                rest.removeFirst(count)
            } else if errno == EAGAIN {
                try wait(for: POLLOUT, deadline, limit)
            } else if errno == EPIPE || errno == ECONNRESET {
                // The agent may have said why before it closed; `nextLine` sees it.
                return
            } else if errno != EINTR {
                throw .system(.last("send"))
            }
        }
    }

    /// The next line of the reply without its stuffed dot; nil at the reply's end.
    private func nextLine(_ deadline: Instant, _ limit: Duration) throws(ControlError) -> String? {
        while true {
            if let end = waiting.firstIndex(of: UInt8(ascii: "\n")) {
                let line = waiting[..<end]
                waiting.removeFirst(end + 1)
                guard line.first == UInt8(ascii: ".") else {
                    return String(decoding: line, as: UTF8.self)
                }
                return line.count == 1 ? nil : String(decoding: line.dropFirst(), as: UTF8.self)
            }
            guard waiting.count <= Limits.controlReplyBytesMax else {
                throw .replyTooLong(limit: Limits.controlReplyBytesMax)
            }
            try fill(deadline, limit)
        }
    }

    private func fill(_ deadline: Instant, _ limit: Duration) throws(ControlError) {
        try wait(for: POLLIN, deadline, limit)
        var piece = [UInt8](repeating: 0, count: 16_384)
        let count = read(file.raw, &piece, piece.count)
        if count > 0 {
            waiting.append(contentsOf: piece.prefix(count))
        } else if count == 0 || errno == ECONNRESET {
            throw .connectionClosed(path: path)
        } else if errno != EAGAIN, errno != EINTR {
            throw .system(.last("read"))
        }
    }

    private func wait(
        for events: Int32, _ deadline: Instant, _ limit: Duration
    ) throws(ControlError) {
        var descriptor = pollfd(fd: file.raw, events: Int16(events), revents: 0)
        let rest = (deadline - MonotonicClock.now()).nanoseconds
        let milliseconds = rest <= 0 ? 0 : Int32(clamping: rest / 1_000_000 + 1)
        if poll(&descriptor, 1, milliseconds) == 0 { throw .timedOut(path: path, limit) }
    }
}

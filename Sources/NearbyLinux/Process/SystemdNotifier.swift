import CLinux
import Glibc
import NearbyCore

/// Tells systemd how the service is doing: sd_notify(3) without libsystemd.
///
/// Does nothing when the service was not started by systemd with `Type=notify`.
public struct SystemdNotifier: Sendable {
    /// NOTIFY_SOCKET: a path, or `@name` in the abstract namespace. Nil: nobody listens.
    private let address: String?
    /// How often `watchdog()` is to be called: half of what systemd allows; nil when it does not
    /// watch.
    public let watchdogInterval: Duration?

    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.
    public init() {
        self.init(
            socket: Self.variable("NOTIFY_SOCKET"),
            watchdogMicroseconds: Self.variable("WATCHDOG_USEC"),
            watchdogProcess: Self.variable("WATCHDOG_PID"))
    }

    init(socket: String?, watchdogMicroseconds: String?, watchdogProcess: String?) {
        address = socket.flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
        let isOurs = watchdogProcess == nil || watchdogProcess == "\(getpid())"
        let limit = watchdogMicroseconds.flatMap { Int64($0) } ?? 0
        watchdogInterval = address != nil && isOurs && limit > 0 ? .microseconds(limit / 2) : nil
    }

    /// The service is up. False if there was nobody to tell.
    @discardableResult
    public func ready() -> Bool { send("READY=1") }

    @discardableResult
    public func stopping() -> Bool { send("STOPPING=1") }

    /// SIGHUP came (Type=notify-reload wants the time with it); `ready` says when it is done.
    @discardableResult
    public func reloading() -> Bool {
        send("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.read(CLOCK_MONOTONIC) / 1_000)")
    }

    /// We are alive.
    @discardableResult
    public func watchdog() -> Bool { send("WATCHDOG=1") }

    /// One line for `systemctl status`.
    @discardableResult
    public func status(_ text: String) -> Bool {
        send("STATUS=" + String(text.map { $0.isNewline ? " " : $0 }))
    }

    private func send(_ text: String) -> Bool {
        guard let address, let name = UnixAddress(text: address) else { return false }
        let file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        let bytes = Array(text.utf8)
        let sent = name.withSockaddr { pointer, length in
            sendto(file, bytes, bytes.count, clinux_msg_nosignal(), pointer, length)
        }
        return sent == bytes.count
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }
}

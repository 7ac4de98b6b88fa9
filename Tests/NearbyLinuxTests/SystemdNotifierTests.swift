import Glibc
import NearbyCore
import Testing

@testable import NearbyLinux

@Suite struct SystemdNotifierTests {
    /// In a list of its own: Swift 6.0.3 crashes on an interpolation among a test's arguments.
    static let addresses = ["@rivulet-test-\(getpid())", temporaryPath("notify")]

    @Test(arguments: addresses)
    func systemdHearsEachState(address: String) throws {
        let listener = try NotifyListener(address)
        let notifier = SystemdNotifier(
            socket: address, watchdogMicroseconds: "1000000", watchdogProcess: "\(getpid())")
        #expect(notifier.ready())
        #expect(notifier.status("two\nlines"))
        #expect(notifier.watchdog())
        #expect(notifier.stopping())
        #expect(listener.next() == "READY=1")
        #expect(listener.next() == "STATUS=two lines")
        #expect(listener.next() == "WATCHDOG=1")
        #expect(listener.next() == "STOPPING=1")
        #expect(notifier.watchdogInterval == .milliseconds(500))
    }

    @Test func withoutSystemdNothingHappens() {
        for socket in [nil, "", "relative"] {
            let notifier = SystemdNotifier(
                socket: socket, watchdogMicroseconds: "1000000", watchdogProcess: nil)
            #expect(!notifier.ready())
            #expect(notifier.watchdogInterval == nil)
        }
    }

    @Test func aWatchdogForAnotherProcessIsNotOurs() {
        let other = SystemdNotifier(
            socket: "@x", watchdogMicroseconds: "1000000", watchdogProcess: "1")
        #expect(other.watchdogInterval == nil)
        let odd = SystemdNotifier(socket: "@x", watchdogMicroseconds: "-5", watchdogProcess: nil)
        #expect(odd.watchdogInterval == nil)
    }
}

/// What systemd has at the other end of NOTIFY_SOCKET.
private final class NotifyListener {
    private let file: FileDescriptor
    private let path: String

    init(_ address: String) throws {
        path = address
        unlink(path)
        let raw = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        file = try FileDescriptor(taking: raw, from: "socket")
        let name = try #require(UnixAddress(text: address))
        try #require(name.withSockaddr { bind(raw, $0, $1) } == 0)
    }

    deinit { unlink(path) }

    func next() -> String? {
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = recv(file.raw, &bytes, bytes.count, 0)
        return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

import CLinux
import Glibc
import NearbyCore
import NearbyLinux

/// Wakes a thread that waits: an eventfd, so that many rings are one.
final class Doorbell: Sendable {
    private let file: FileDescriptor

    init() throws(SystemError) {
        file = try FileDescriptor(
            taking: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), from: "eventfd")
    }

    func ring() {
        var one: UInt64 = 1
        write(file.raw, &one, 8)
    }

    /// Until it rings, or the time has come.
    func wait(until end: Instant) {
        let left = (end - MonotonicClock.now()).milliseconds + 1
        var entry = pollfd(fd: file.raw, events: Int16(POLLIN), revents: 0)
        if poll(&entry, 1, Int32(clamping: max(0, left))) > 0 {
            var rings: UInt64 = 0
            read(file.raw, &rings, 8)
        }
    }
}

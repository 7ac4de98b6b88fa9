import CLinux
import Glibc
import NearbyCore

/// One descriptor for two things to wait for: edges of a line, and the moment at which a bouncing
/// line has settled. Both stand in an epoll of their own.
final class LineWait: @unchecked Sendable {
    let descriptor: Int32
    private let alarm: Int32

    /// Nil where the process has no descriptors left; then errno says so.
    init?(for line: LineRequest) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        alarm = timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        for watched in [line.descriptor, alarm] {
            var event = epoll_event()
            event.events = EPOLLIN.rawValue
            guard epoll_ctl(descriptor, EPOLL_CTL_ADD, watched, &event) == 0 else { return nil }
        }
    }

    deinit {
        if alarm >= 0 { close(alarm) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Whether the line has an error to tell, as where its chip is gone.
    var hasFailed: Bool {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 2) { buffer in
            guard let events = buffer.baseAddress else { return false }
            let count = epoll_wait(descriptor, events, 2, 0)
            let failures = EPOLLERR.rawValue | EPOLLHUP.rawValue
            return buffer.prefix(Int(max(0, count))).contains { $0.events & failures != 0 }
        }
    }

    /// Lets the descriptor become readable then; nil: only by an edge.
    func setAlarm(to deadline: Instant?) {
        var setting = itimerspec()
        if let deadline {
            let nanoseconds = max(1, deadline.nanoseconds)
            setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
            setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        // Setting it anew also takes back that it was due.
        timerfd_settime(alarm, Int32(TFD_TIMER_ABSTIME), &setting, nil)
    }
}

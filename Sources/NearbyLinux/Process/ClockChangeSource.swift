import CLinux
import Glibc

/// Tells when somebody sets the wall clock, as an event of the loop: a timerfd on CLOCK_REALTIME
/// that never expires, and whose reading fails with ECANCELED after a jump
/// (TFD_TIMER_CANCEL_ON_SET). Slewing is no jump.
public final class ClockChangeSource {
    /// Seconds since 1970: the year 2200, which no kernel lets a clock be set to.
    private static let expiry: Int64 = 7_258_118_400

    private let file: FileDescriptor

    public init() throws(SystemError) {
        file = try FileDescriptor(
            taking: timerfd_create(CLOCK_REALTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK)),
            from: "timerfd_create")
        try arm()
    }

    /// Becomes readable when the clock was set.
    public var descriptor: Int32 { file.raw }

    /// Whether the clock was set since the last call. Waits for the next time either way.
    func takeChange() throws(SystemError) -> Bool {
        var expirations: UInt64 = 0
        let isChange = read(file.raw, &expirations, 8) < 0 && errno == ECANCELED
        if isChange { try arm() }
        return isChange
    }

    private func arm() throws(SystemError) {
        var setting = itimerspec()
        setting.it_value.tv_sec = Int(clamping: Self.expiry)
        let flags = Int32(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        let result = timerfd_settime(file.raw, flags, &setting, nil)
        // The call reports a jump that nobody has read yet, and arms all the same.
        guard result == 0 || errno == ECANCELED else { throw .last("timerfd_settime") }
    }
}

extension EventLoop {
    /// Calls `handler` whenever the wall clock was set.
    public func register(
        _ source: ClockChangeSource, handler: @escaping () -> Void
    ) throws(SystemError) {
        try register(source.descriptor) { _ in
            // Without the timer there is only the reading once a minute.
            if (try? source.takeChange()) != false { handler() }
        }
    }
}

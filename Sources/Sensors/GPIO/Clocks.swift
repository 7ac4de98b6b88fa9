import Glibc
import NearbyCore

/// The two clocks of one moment: the kernel dates edges by one, and readings have the other.
struct Clocks: Equatable {
    /// CLOCK_BOOTTIME.
    var now: Instant
    /// CLOCK_MONOTONIC, nanoseconds; without the time in suspend.
    var monotonic: Int64

    static func read() -> Clocks {
        let monotonic = nanoseconds(CLOCK_MONOTONIC)
        return Clocks(now: Instant(nanoseconds: nanoseconds(CLOCK_BOOTTIME)), monotonic: monotonic)
    }

    /// When it was on CLOCK_BOOTTIME; never later than now.
    func boottime(ofMonotonic nanoseconds: Int64) -> Instant {
        let age = max(0, monotonic.subtractingSaturating(nanoseconds))
        return max(.zero, now - .nanoseconds(age))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

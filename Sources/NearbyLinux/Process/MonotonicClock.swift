import CLinux
import Glibc
import NearbyCore

/// CLOCK_BOOTTIME: runs on through suspend, never jumps, knows nothing of the date.
public enum MonotonicClock {
    /// Nanoseconds since boot.
    public static func now() -> Instant { Instant(nanoseconds: read(CLOCK_BOOTTIME)) }

    static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

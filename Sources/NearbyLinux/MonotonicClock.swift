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

/// CLOCK_REALTIME and what it is worth.
public enum WallClock {
    /// How far the date may be trusted. The order is the order of trust.
    public enum Rank: UInt8, Comparable, Sendable {
        /// Nothing has set the clock since boot, as far as the kernel knows.
        case none = 0
        /// The kernel set it from a hardware clock at boot.
        case hardware = 1
        /// A time service (NTP, PTP, GPS) keeps it: `adjtimex` does not report TIME_ERROR.
        case synchronised = 2

        public static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
    }

    /// A reading of both clocks, taken together.
    public struct Reading: Sendable {
        public let monotonic: Instant
        /// Nanoseconds since 1970-01-01 UTC.
        public let unixNanoseconds: Int64
        public let rank: Rank
    }

    /// Reads the wall clock between two readings of the monotonic one and pairs it with their
    /// middle.
    public static func read() -> Reading {
        let before = MonotonicClock.now()
        let wall = MonotonicClock.read(CLOCK_REALTIME)
        let after = MonotonicClock.now()
        let middle = before + .nanoseconds((after - before).nanoseconds / 2)
        return Reading(monotonic: middle, unixNanoseconds: wall, rank: rank())
    }

    /// The rank at this moment. One system call, and one small file where no service keeps the
    /// time.
    public static func rank() -> Rank {
        let state = clinux_clock_state()
        let isSynchronised = state >= 0 && state != Self.timeError
        return rank(isSynchronised: isSynchronised, setFromHardware: hardwareClockSetTheTime())
    }

    /// TIME_ERROR of <sys/timex.h>.
    private static let timeError: Int32 = 5

    static func rank(isSynchronised: Bool, setFromHardware: Bool) -> Rank {
        isSynchronised ? .synchronised : setFromHardware ? .hardware : .none
    }

    /// `/sys/class/rtc/rtc0/hctosys` reads 1 when the kernel took the time from that clock at boot.
    private static func hardwareClockSetTheTime() -> Bool {
        let file = open("/sys/class/rtc/rtc0/hctosys", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var byte: UInt8 = 0
        return Glibc.read(file, &byte, 1) == 1 && byte == UInt8(ascii: "1")
    }
}

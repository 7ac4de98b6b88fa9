import CLinux
import Glibc
import NearbyCore

/// CLOCK_REALTIME and what it is worth.
///
/// Whether satellites keep it cannot be told from the kernel: a GPS receiver that feeds chrony or
/// ntpd looks like any time service, and STA_PPSSIGNAL only says that something pulses.
public enum WallClock {
    /// How far the date may be trusted. The order is the order of trust.
    public enum Rank: UInt8, Comparable, Sendable {
        /// Nothing has set the clock since boot, as far as the kernel knows.
        case none = 0
        /// The kernel set it from a hardware clock at boot.
        case hardware = 1
        /// A time service (NTP, PTP, GPS) keeps it.
        case synchronised = 2

        public static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
    }

    /// A reading of both clocks, taken together.
    public struct BothClocks: Sendable {
        public let monotonic: Instant
        /// Nanoseconds since 1970-01-01 UTC.
        public let unixNanoseconds: Int64
        public let rank: Rank

        /// Add this to a time of the monotonic clock to have nanoseconds since 1970-01-01 UTC.
        public var unixOffset: Duration {
            .nanoseconds(unixNanoseconds.subtractingSaturating(monotonic.nanoseconds))
        }
    }

    /// What adjtimex(2) says.
    struct KernelClock {
        var isSynchronised: Bool
        var maximumErrorMicroseconds: Int
        var estimatedErrorMicroseconds: Int
    }

    /// Reads the wall clock between two readings of the monotonic one and pairs it with their
    /// middle; of a few tries the one with the smallest gap, so that being preempted in between
    /// does no harm.
    ///
    /// - Parameter root: where /sys is found, for tests.
    public static func read(root: String = "") -> BothClocks {
        var best: (gap: Duration, middle: Instant, wall: Int64)?
        for _ in 0..<Self.tries {
            let before = MonotonicClock.now()
            let wall = MonotonicClock.read(CLOCK_REALTIME)
            let gap = MonotonicClock.now() - before
            if gap < best?.gap ?? .seconds(Int64.max) { best = (gap, before + gap / 2, wall) }
        }
        let (_, middle, wall) = best ?? (.zero, .zero, 0)
        let rank = rank(
            kernelClock(), setFromHardware: hardwareClockSetTheTime(root: root),
            unixNanoseconds: wall)
        return BothClocks(monotonic: middle, unixNanoseconds: wall, rank: rank)
    }

    private static let tries = 4
    /// STA_UNSYNC of <sys/timex.h>.
    private static let unsynchronisedBit: Int32 = 0x40
    /// TIME_ERROR of <sys/timex.h>.
    private static let timeError: Int32 = 5
    /// The kernel itself gives up at 16 s: NTP_PHASE_LIMIT of <linux/timex.h>.
    private static let maximumErrorLimitMicroseconds = 16_000_000
    private static let estimatedErrorLimitMicroseconds = 1_000_000

    static func rank(_ kernel: KernelClock, setFromHardware: Bool, unixNanoseconds: Int64) -> Rank {
        guard Limits.plausibleUnixSeconds.contains(unixNanoseconds / 1_000_000_000) else {
            return .none
        }
        let isKept =
            kernel.isSynchronised
            && kernel.maximumErrorMicroseconds < maximumErrorLimitMicroseconds
            && kernel.estimatedErrorMicroseconds < estimatedErrorLimitMicroseconds
        return isKept ? .synchronised : setFromHardware ? .hardware : .none
    }

    private static func kernelClock() -> KernelClock {
        var clock = clinux_kernel_clock()
        let state = clinux_read_kernel_clock(&clock)
        return KernelClock(
            isSynchronised: state >= 0 && state != timeError
                && clock.status & unsynchronisedBit == 0,
            maximumErrorMicroseconds: clock.maximum_error,
            estimatedErrorMicroseconds: clock.estimated_error)
    }

    /// `hctosys` reads 1 for the clock that the kernel took the time from at boot. A board with a
    /// clock of its own and a better one beside it may have several.
    static func hardwareClockSetTheTime(root: String) -> Bool {
        (0..<4).contains { number in
            let file = open("\(root)/sys/class/rtc/rtc\(number)/hctosys", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            var byte: UInt8 = 0
            return Glibc.read(file, &byte, 1) == 1 && byte == UInt8(ascii: "1")
        }
    }
}

import Glibc
import NearbyCore
import Testing

@testable import NearbyLinux

@Suite struct ClockTests {
    @Test func theMonotonicClockIsTimeSinceBoot() {
        let before = MonotonicClock.now()
        let after = MonotonicClock.now()
        #expect(before <= after)
        #expect(before > .zero)
    }

    @Test func theWallClockIsReadBesideTheMonotonicOne() {
        let before = MonotonicClock.now()
        let reading = WallClock.read()
        #expect(reading.monotonic >= before)
        #expect(reading.monotonic <= MonotonicClock.now())
        #expect(abs(Int64(time(nil)) - reading.unixNanoseconds / 1_000_000_000) <= 2)
    }

    @Test func aKeptClockRanksAboveOneSetAtBoot() {
        #expect(rank(kept: true, hardware: false) == .synchronised)
        #expect(rank(kept: false, hardware: true) == .hardware)
        #expect(rank(kept: false, hardware: false) == .none)
        #expect(WallClock.Rank.synchronised > .hardware)
        #expect(WallClock.Rank.hardware > .none)
    }

    @Test func anErrorThatTheKernelNoLongerBoundsIsNoSynchronisation() {
        #expect(rank(kept: true, hardware: false, maximumError: 15_999_999) == .synchronised)
        #expect(rank(kept: true, hardware: false, maximumError: 16_000_000) == .none)
        #expect(rank(kept: true, hardware: true, estimatedError: 1_000_000) == .hardware)
    }

    @Test func yearsThatCannotBeRightRankLowest() {
        let years: [(seconds: Int64, isPlausible: Bool)] = [
            (0, false), (946_684_800, false), (1_704_067_199, false), (1_704_067_200, true),
            (2_145_916_799, true), (2_145_916_800, false), (-1, false),
        ]
        for year in years {
            let rank = rank(kept: true, hardware: true, seconds: year.seconds)
            #expect(rank == (year.isPlausible ? .synchronised : .none), "\(year.seconds)")
        }
    }

    @Test func theClockThatTheKernelTookTheTimeFromIsFound() throws {
        let root = "/tmp/clock-tests-\(getpid())"
        for folder in ["", "/sys", "/sys/class", "/sys/class/rtc", "/sys/class/rtc/rtc1"] {
            mkdir(root + folder, 0o700)
        }
        let path = root + "/sys/class/rtc/rtc1/hctosys"
        defer {
            unlink(path)
            for folder in ["/sys/class/rtc/rtc1", "/sys/class/rtc", "/sys/class", "/sys", ""] {
                rmdir(root + folder)
            }
        }
        #expect(!WallClock.hardwareClockSetTheTime(root: root))
        for (text, isSet) in [("0\n", false), ("1\n", true), ("", false)] {
            let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
            #expect(write(file, text, text.utf8.count) == text.utf8.count)
            close(file)
            #expect(WallClock.hardwareClockSetTheTime(root: root) == isSet)
        }
    }

    @Test func theOffsetTakesOneClockToTheOther() {
        let reading = WallClock.read()
        let unix = (reading.monotonic + reading.unixOffset).nanoseconds
        #expect(unix == reading.unixNanoseconds)
    }

    /// Setting the clock of the machine under test is out of the question, so the registration is
    /// read back from the kernel: flag 1 is an absolute time, flag 2 "cancel on set".
    @Test func theKernelIsAskedToTellOfJumps() throws {
        let source = try ClockChangeSource()
        let text = contents("/proc/self/fdinfo/\(source.descriptor)")
        #expect(text.contains("clockid: 0\n"))
        #expect(text.contains("settime flags: 03\n"))
        #expect(try source.takeChange() == false)
    }

    @Test func aLoopWithAQuietClockTellsNothing() throws {
        let loop = try EventLoop()
        let source = try ClockChangeSource()
        var changes = 0
        try loop.register(source) { changes += 1 }
        try loop.run(until: MonotonicClock.now() + .milliseconds(20))
        #expect(changes == 0)
    }

    private func rank(
        kept: Bool, hardware: Bool, seconds: Int64 = 1_795_239_900, maximumError: Int = 0,
        estimatedError: Int = 0
    ) -> WallClock.Rank {
        let kernel = WallClock.KernelClock(
            isSynchronised: kept, maximumErrorMicroseconds: maximumError,
            estimatedErrorMicroseconds: estimatedError)
        return WallClock.rank(
            kernel, setFromHardware: hardware, unixNanoseconds: seconds * 1_000_000_000)
    }

    private func contents(_ path: String) -> String {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}

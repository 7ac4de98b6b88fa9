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
        #expect(WallClock.rank(isSynchronised: true, setFromHardware: false) == .synchronised)
        #expect(WallClock.rank(isSynchronised: false, setFromHardware: true) == .hardware)
        #expect(WallClock.rank(isSynchronised: false, setFromHardware: false) == .none)
        #expect(WallClock.Rank.synchronised > .hardware)
        #expect(WallClock.Rank.hardware > .none)
    }
}

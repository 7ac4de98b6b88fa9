import NearbyCore
import Telemetry
import Testing

@testable import Sampling

struct NewestReadingsTests {
    private let start = Instant(nanoseconds: 1_000_000_000_000)

    private func readings(
        _ channels: [ExpectedChannel] = [ExpectedChannel("a", "V")], areCertain: Bool = true
    ) -> NewestReadings {
        var readings = NewestReadings(
            expected: channels, areCertain: areCertain, expiry: .seconds(30))
        readings.begin(start)
        return readings
    }

    @Test func theFirstComesAtOnceAndThenOneAPeriod() {
        var readings = readings()
        #expect(readings.record([Measurement("a", "V", 1)], start).map(\.text) == ["a V 1"])
        #expect(readings.record([Measurement("a", "V", 2)], start).isEmpty)
        let later = start + .seconds(1)
        #expect(readings.record([Measurement("a", "V", 3)], later).isEmpty)
        let given = readings.sample(start + .seconds(10), reason: nil)
        #expect(given == [Measurement("a", "V", .value(DecimalValue(coefficient: 3)), at: later)])
        // Nothing new: what comes next is waited for.
        #expect(readings.sample(start + .seconds(20), reason: nil).isEmpty)
        let next = start + .seconds(21)
        #expect(readings.record([Measurement("a", "V", 4)], next).map(\.time) == [next])
        #expect(readings.record([Measurement("a", "V", 5)], next).isEmpty)
    }

    @Test func whatStaysAwayBecomesNull() {
        var readings = readings()
        #expect(readings.sample(start + .seconds(30), reason: nil).isEmpty)
        #expect(
            readings.sample(start + .seconds(31), reason: nil).map(\.text) == ["a V null:timeout"])
        #expect(
            readings.sample(start + .seconds(41), reason: .checksum).map(\.text)
                == ["a V null:checksum"])
        #expect(readings.record([Measurement("a", "V", 1)], start + .seconds(50)).count == 1)
        #expect(readings.sample(start + .seconds(80), reason: nil).isEmpty)
        #expect(
            readings.sample(start + .seconds(81), reason: nil).map(\.text) == ["a V null:expired"])
        readings.begin(start + .seconds(100))
        #expect(readings.sample(start + .seconds(130), reason: nil).isEmpty)
        #expect(
            readings.sample(start + .seconds(131), reason: nil).map(\.text) == ["a V null:timeout"])
    }

    @Test func aStandInGoesWhenOthersCome() {
        var readings = readings([ExpectedChannel("serial", "1")], areCertain: false)
        #expect(readings.nulls(.absent).map(\.text) == ["serial 1 null:absent"])
        _ = readings.record([Measurement("rh", "%RH", 40)], start)
        #expect(readings.nulls(.absent).map(\.text) == ["rh %RH null:absent"])
    }

    @Test func channelsAreBounded() {
        var readings = readings()
        let many = (0..<500).map { Measurement("c\($0)", "V", 1) }
        #expect(readings.record(many, start).count == Limits.channelsPerSensorMax - 1)
        #expect(readings.dropCount == 500 - Limits.channelsPerSensorMax + 1)
        #expect(readings.nulls(.absent).count == Limits.channelsPerSensorMax)
    }
}

import NearbyCore
import Sampling
import Telemetry
import Testing

@testable import AgentComposition
@testable import NodeShell

/// When a sensor's failure is worth telling, and how.
struct SensorHealthTests {
    private func seconds(_ count: Int64) -> Instant { Instant.zero + .seconds(count) }

    private func good(_ channel: String = "a") -> Measurement {
        Measurement(channel, "Cel", number: "21.50")
    }

    private func null(_ channel: String = "a", _ reason: NullReason = .commandFailed) -> Measurement
    {
        Measurement(channel, "Cel", .null(reason))
    }

    @Test func aFailureIsToldOnceAndItsEndToo() {
        var health = SensorHealth(now: .zero)
        var changes: [SensorHealth.Change] = []
        for second in Int64(0)..<30 {
            let measurement = (10..<20).contains(second) ? null() : good()
            let change = health.record([measurement], isWhole: true, now: seconds(second))
            if let change { changes.append(change) }
            if second == 12 {
                #expect(health.state == .failing)
                #expect(health.since == seconds(10))
                #expect(
                    health.problem("exit status 3: no bus", now: seconds(249))
                        == "no value (command-failed): exit status 3: no bus; "
                        + "the last was 21.50 °C, 4 min ago")
            }
        }
        #expect(changes == [.failed, .recovered])
        #expect(health.problem(nil, now: seconds(30)) == nil)
    }

    @Test func oneThatFailsNowAndThenIsToldEveryTenMinutes() {
        var health = SensorHealth(now: .zero)
        var failures = 0
        for second in Int64(0)..<1_200 {
            let measurement = second % 2 == 0 ? null() : good()
            let change = health.record([measurement], isWhole: true, now: seconds(second))
            if change == .failed { failures += 1 }
        }
        #expect(failures == 2)
    }

    @Test func someChannelsWithoutAValueAreNamed() {
        var health = SensorHealth(now: .zero)
        let change = health.record(
            [good("a"), null("c", .absent), null("b", .absent)], isWhole: true, now: .zero)
        #expect(change == .failed)
        #expect(health.state == .partly)
        #expect(
            health.problem(nil, now: .zero) == "2 of 3 channels without a value: b (absent)")
        // Worse is told too, at once, but no more than once in ten minutes.
        let worse = health.record([null("a"), null("b")], isWhole: true, now: seconds(1))
        #expect(worse == .failed)
        #expect(health.state == .failing)
        #expect(
            health.problem(nil, now: seconds(1))
                == "no value (command-failed); the last was a 21.50 °C, 1 s ago")
        let same = health.record([null("a")], isWhole: true, now: seconds(2))
        #expect(same == nil)
        let recovered = health.record([good("a")], isWhole: true, now: seconds(3))
        #expect(recovered == .recovered)
        let again = health.record([null("a")], isWhole: true, now: seconds(4))
        #expect(again == nil)
    }

    /// A recording has one bad line, and then is deleted.
    @Test func whatFailsWhollyIsToldAlsoSoonAfterAHiccup() {
        var health = SensorHealth(now: .zero)
        let steps: [([Measurement], SensorHealth.Change?)] = [
            ([good("a"), null("b")], .failed), ([good("a"), good("b")], .recovered),
            ([null("a"), null("b")], .failed), ([null("a"), null("b")], nil),
        ]
        for (second, step) in steps.enumerated() {
            let change = health.record(step.0, isWhole: true, now: seconds(Int64(second)))
            #expect(change == step.1)
        }
    }

    @Test func aSensorThatSpeaksByItselfKeepsItsOtherChannels() {
        var health = SensorHealth(now: .zero)
        _ = health.record([good("a")], isWhole: false, now: .zero)
        _ = health.record([null("b", .expired)], isWhole: false, now: .zero)
        #expect(health.state == .partly)
        _ = health.record([good("b")], isWhole: false, now: .zero)
        #expect(health.state == .good)
    }

    @Test func oneThatWarmsUpOrSaysNothingHasNoState() {
        var health = SensorHealth(now: .zero)
        #expect(health.record([null("a", .warmingUp)], isWhole: true, now: .zero) == nil)
        #expect(health.record([], isWhole: true, now: .zero) == nil)
        #expect(health.state == .starting)
        let text = JSONValue.object(health.members(now: seconds(3))).description
        #expect(
            text
                == "{\"state\":\"starting\",\"sinceSeconds\":3,\"channels\":0,"
                + "\"channelsWithoutValue\":0,\"reason\":null,\"last\":null}")
    }

    @Test func theJSONHasStateReasonAndLastValue() {
        var health = SensorHealth(now: .zero)
        _ = health.record([good()], isWhole: true, now: .zero)
        _ = health.record([null()], isWhole: true, now: seconds(5))
        let text = JSONValue.object(health.members(now: seconds(7))).description
        #expect(
            text
                == "{\"state\":\"failing\",\"sinceSeconds\":2,\"channels\":1,"
                + "\"channelsWithoutValue\":1,\"reason\":\"command-failed\",\"last\":"
                + "{\"channel\":\"a\",\"value\":\"21.50\",\"unit\":\"Cel\",\"ageSeconds\":7}}")
    }

    @Test func channelsAreBounded() {
        var health = SensorHealth(now: .zero)
        for number in 0..<1_000 {
            _ = health.record([good("c\(number)")], isWhole: false, now: .zero)
        }
        #expect(health.channelCount == Limits.channelsPerSensorMax)
    }

    @Test(arguments: [
        (0, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (7_200, "2 h"),
        (200_000, "2 d"),
    ])
    func agesAreShownInWholeUnits(_ seconds: Int64, _ text: String) {
        #expect(AgeText.text(.seconds(seconds)) == text)
    }
}

import NearbyCore
import Telemetry
import Testing

@testable import Sampling

struct PulseCounterTests {
    private func at(_ seconds: Int64) -> Instant {
        Instant(nanoseconds: seconds * 1_000_000_000)
    }

    /// A rain gauge: 0.2794 mm a tip, mm/h.
    private var rain: PulseCounter {
        PulseCounter(
            scale: DecimalValue(coefficient: 2_794, exponent: -4), unitTime: .seconds(3_600),
            now: .zero)
    }

    private func text(_ outcome: Outcome) -> String {
        switch outcome {
        case .value(let value): value.description
        case .null(let reason): "null:\(reason)"
        }
    }

    @Test func theTotalIsExact() {
        var rain = rain
        #expect(text(rain.total) == "0.0000")
        rain.add(3, at: at(1))
        #expect(text(rain.total) == "0.8382")
        rain.resume(1_000_000_000_000)
        #expect(rain.count == 1_000_000_000_003)
        #expect(text(rain.total) == "279400000000.8382")
    }

    @Test func aTotalThatDoesNotFitIsNull() {
        var rain = rain
        rain.resume(.max / 2_794 + 1)
        #expect(text(rain.total) == "null:out-of-range")
        #expect(text(rain.rate(now: at(1))) == "null:warming-up")
    }

    @Test func theCounterStopsAtItsEnd() {
        var rain = rain
        rain.resume(.max)
        rain.add(5, at: at(1))
        #expect(rain.count == .max)
        rain.resume(-5)
        rain.add(-5, at: at(2))
        #expect(rain.count == .max)
    }

    @Test func theRateCountsFromPulseToPulse() {
        var rain = rain
        #expect(text(rain.rate(now: at(10))) == "null:warming-up")
        rain.add(1, at: at(12))
        #expect(text(rain.rate(now: at(20))) == "null:warming-up", "how long it took is not known")
        // A tip a minute is 16.764 mm/h.
        rain.add(1, at: at(72))
        #expect(text(rain.rate(now: at(80))) == "16.7640000")
        #expect(text(rain.rate(now: at(90))) == "16.7640000", "none was due yet")
        rain.add(1, at: at(132))
        rain.add(1, at: at(192))
        #expect(text(rain.rate(now: at(192))) == "16.7640000")
    }

    @Test func theRateFallsWithSilence() {
        var rain = rain
        rain.add(1, at: at(0))
        rain.add(1, at: at(60))
        #expect(text(rain.rate(now: at(60))) == "16.7640000")
        #expect(text(rain.rate(now: at(120))) == "16.7640000")
        #expect(text(rain.rate(now: at(180))) == "8.3820000", "at most one in two minutes")
        #expect(text(rain.rate(now: at(60 + 3_599))) == "0.2794776")
        #expect(text(rain.rate(now: at(60 + 3_600))) == "0.0000000")
        // After two hours one more: a tip in two hours, seen from pulse to pulse.
        rain.add(1, at: at(60 + 7_200))
        #expect(text(rain.rate(now: at(60 + 7_200))) == "0.1397000")
    }

    /// After a restart on a dry day nobody waits an hour to be told so.
    @Test func atTheBeginningItIsTheMeanSinceThen() {
        var rain = rain
        #expect(text(rain.rate(now: at(299))) == "null:warming-up")
        #expect(text(rain.rate(now: at(300))) == "0.0000000")
        rain.add(1, at: at(420))
        // A tip in ten minutes, then in half an hour; and then none for an hour.
        #expect(text(rain.rate(now: at(600))) == "1.6764000")
        #expect(text(rain.rate(now: at(1_800))) == "0.5588000")
        #expect(text(rain.rate(now: at(420 + 3_599))) == "0.2502712")
        #expect(text(rain.rate(now: at(420 + 3_600))) == "0.0000000")
        rain.interrupt(now: at(10_000))
        #expect(text(rain.rate(now: at(10_299))) == "null:warming-up")
        #expect(text(rain.rate(now: at(10_300))) == "0.0000000")
        // Five seconds where the rate is one a second.
        var flow = PulseCounter(
            scale: DecimalValue(coefficient: 1), unitTime: .seconds(1), now: .zero)
        flow.add(2, at: at(1))
        #expect(text(flow.rate(now: at(4))) == "null:warming-up")
        #expect(text(flow.rate(now: at(5))) == "0.400")
    }

    @Test func aRateASecond() {
        var flow = PulseCounter(
            scale: DecimalValue(coefficient: 1), unitTime: .seconds(1), now: .zero)
        // 450 pulses a litre: 100 pulses in 3 s.
        for pulse in 0...100 {
            flow.add(1, at: Instant(nanoseconds: Int64(pulse) * 30_000_000))
        }
        #expect(text(flow.rate(now: at(3))) == "33.333")
        #expect(text(flow.rate(now: at(10))) == "0.142")
        #expect(text(flow.rate(now: at(63))) == "0.000")
    }

    @Test func anInterruptionBeginsTheRateAnew() {
        var rain = rain
        rain.add(1, at: at(0))
        rain.add(1, at: at(60))
        rain.interrupt(now: at(100))
        #expect(text(rain.rate(now: at(110))) == "null:warming-up")
        #expect(rain.count == 2)
    }

    @Test func aRateThatDoesNotFitIsNull() {
        var counter = PulseCounter(
            scale: DecimalValue(coefficient: .max, exponent: 127), unitTime: .seconds(3_600),
            now: .zero)
        counter.add(2, at: Instant(nanoseconds: 1))
        counter.add(2, at: Instant(nanoseconds: 2))
        #expect(text(counter.rate(now: Instant(nanoseconds: 2))) == "null:out-of-range")
        #expect(text(counter.total) == "null:out-of-range")
    }

    @Test func pulsesOfOneMomentAreNoRateYet() {
        var rain = rain
        rain.add(5, at: at(10))
        #expect(text(rain.rate(now: at(10))) == "null:warming-up")
        rain.add(1, at: at(70))
        // Four after the first, and one more, in a minute.
        #expect(text(rain.rate(now: at(70))) == "83.8200000")
    }
}

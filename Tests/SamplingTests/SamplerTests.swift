import NearbyCore
import Telemetry
import Testing

@testable import Sampling

struct SamplerTests {
    private func value(_ text: String) -> DecimalValue {
        (try? DecimalValue(parsing: text)) ?? DecimalValue(coefficient: .min)
    }

    /// What of these values is given, one a second.
    private func given(_ shape: ChannelShape, _ texts: [String], unit: String = "Cel") -> [String] {
        var sampler = Sampler(shape)
        return texts.enumerated().flatMap { second, text -> [String] in
            let outcome: Outcome = text == "-" ? .null(.failed) : .value(value(text))
            return sampler.shape(
                [Measurement("t", unit, outcome)], now: .zero + .seconds(second)
            ).map { $0.outcome.value?.description ?? "-" }
        }
    }

    @Test func withoutAShapeAllIsGivenAsItIs() {
        #expect(given(ChannelShape(), ["1", "1", "-", "-", "2"]) == ["1", "1", "-", "-", "2"])
    }

    @Test func whatDiffersLessThanTheDeadbandIsLeftOut() {
        var shape = ChannelShape()
        shape.deadband = .absolute(value("0.5"))
        #expect(
            given(shape, ["20", "20.4", "20.5", "20.9", "20.1", "20.0", "19.4"])
                == ["20", "20.5", "20.0", "19.4"])
    }

    @Test func aShareIsOfTheLastValueGiven() {
        var shape = ChannelShape()
        shape.deadband = .relative(value("10"))
        #expect(
            given(shape, ["100", "109", "110", "120", "121", "-5", "-5.4", "-5.5", "0", "0", "1"])
                == ["100", "110", "121", "-5", "-5.5", "0", "1"])
    }

    @Test func silenceEndsAfterItsTime() {
        var shape = ChannelShape()
        shape.deadband = .absolute(value("100"))
        shape.silence = .seconds(3)
        #expect(given(shape, ["1", "2", "3", "4", "5", "6", "7", "8"]) == ["1", "4", "7"])
    }

    @Test func aFailureAndItsEndAreGivenAtOnce() {
        var shape = ChannelShape()
        shape.deadband = .absolute(value("1"))
        shape.silence = .seconds(4)
        #expect(
            given(shape, ["5", "-", "-", "-", "-", "-", "5", "5"]) == ["5", "-", "-", "5"])
    }

    @Test func severalSamplesBecomeOne() {
        var shape = ChannelShape()
        shape.samples = 3
        #expect(given(shape, ["1", "900", "2", "3", "4", "5", "6"]) == ["2", "4"])
        shape.reduction = .mean
        #expect(given(shape, ["1", "2", "2", "-1", "-2", "-2"]) == ["1.7", "-1.7"])
        // A failure is told, and begins anew.
        #expect(given(shape, ["1", "-", "2", "2", "2"]) == ["-", "2.0"])
    }

    @Test func scaleOffsetAndUnitInThisOrder() {
        var shape = ChannelShape()
        shape.scale = value("2")
        shape.offset = value("-0.5")
        shape.unit = "[degF]"
        #expect(given(shape, ["10"]) == ["67.10"])
        // Where the channel measures something else, its unit stays.
        #expect(given(shape, ["10"], unit: "Pa") == ["19.5"])
    }

    @Test func aUnitOfAnotherQuantityIsToldOnceAndTheValueKeepsItsOwn() {
        var shape = ChannelShape()
        shape.unit = "m"
        var sampler = Sampler(ChannelShape(), channels: ["t": shape])
        // What is absent may have any unit.
        _ = sampler.shape([Measurement("t", "1", .null(.absent))], now: .zero)
        #expect(sampler.takeRefused() == [])
        let value = Measurement("t", "Cel", 215, exponent: -1)
        #expect(sampler.shape([value], now: .zero) == [value])
        let refused = sampler.takeRefused()
        #expect(refused == [.init(channel: "t", unit: "Cel", wanted: "m")])
        #expect(
            refused.first?.description == "t is in Cel, which cannot be converted to m, and is "
                + "given as it is; correct or leave out unit of t under channels")
        #expect(sampler.shape([value, Measurement("u", "Pa", 5)], now: .zero).count == 2)
        #expect(sampler.takeRefused() == [])
        shape.unit = "K"
        var able = Sampler(shape)
        #expect(able.shape([value], now: .zero).map(\.unit) == ["K"])
        #expect(able.takeRefused() == [])
    }

    @Test func channelsHaveShapesOfTheirOwn() {
        var renamed = ChannelShape()
        renamed.name = "bench"
        renamed.unit = "hPa"
        var silent = ChannelShape()
        silent.isLeftOut = true
        var sampler = Sampler(ChannelShape(), channels: ["p": renamed, "h": silent])
        let all = sampler.shape(
            [
                Measurement("t", "Cel", 21), Measurement("p", "Pa", 101_325),
                Measurement("h", "%RH", 40),
            ], now: .zero)
        #expect(
            all == [
                Measurement("t", "Cel", 21), Measurement("bench", "hPa", 101_325, exponent: -2),
            ])
        let failed = sampler.shape([Measurement("p", "Pa", .null(.absent))], now: .zero)
        #expect(failed == [Measurement("bench", "hPa", .null(.absent))])
    }

    @Test func whatDoesNotFitIsOutOfRange() {
        var shape = ChannelShape()
        shape.scale = value("1000000000")
        shape.offset = value("0.5")
        #expect(given(shape, ["9223372036854775807", "1"]) == ["-", "1000000000.5"])
    }

    /// Digits that 63 bits do not hold are rounded off; the value is not lost for them.
    @Test func aLongScaleRounds() {
        var shape = ChannelShape()
        shape.scale = value("1.00000000000001")
        #expect(given(shape, ["0.123456789012345"]) == ["0.1234567890123462346"])
    }

    @Test func noMoreChannelsThanASensorMayHave() {
        var shape = ChannelShape()
        shape.deadband = .absolute(value("1"))
        var sampler = Sampler(shape)
        for _ in 0..<2 {
            for index in 0..<200 {
                _ = sampler.shape([Measurement("c\(index)", "1", 1)], now: .zero)
            }
        }
        #expect(sampler.shape([Measurement("c0", "1", 1)], now: .zero).isEmpty)
        #expect(sampler.shape([Measurement("c199", "1", 1)], now: .zero).count == 1)
    }
}

import Telemetry
import Testing

@testable import Configuration

struct SamplingSettingsTests {
    private func decoded(_ keys: String) -> (SamplingSettings?, [String]) {
        let text = "trust: any\nsensors:\n  - {driver: system, \(keys)}\n"
        let outcome = Settings.decode(Array(text.utf8), file: "f")
        if case .good(let settings) = outcome { return (settings.sensors.first?.sampling, []) }
        return (nil, Sample.texts(outcome))
    }

    @Test func withoutKeysAllIsGiven() {
        let sampling = decoded("every: 1s").0
        #expect(sampling == SamplingSettings(shape: ChannelShape(), channels: [:]))
    }

    @Test func aDeadbandHasALimitOfSilence() {
        let shape = decoded("deadband: 0.5").0?.shape
        #expect(shape?.deadband == .absolute(DecimalValue(coefficient: 5, exponent: -1)))
        #expect(shape?.silence == .seconds(300))
        #expect(
            decoded("deadband: 2%").0?.shape.deadband == .relative(DecimalValue(coefficient: 2)))
        #expect(decoded("deadband: 2%, max-silence: 1h").0?.shape.silence == .seconds(3_600))
    }

    @Test func channelsStartFromTheSensor() {
        let sampling = decoded(
            "samples: 5, reduce: mean, channels: {uptime: {unit: h, name: up}, load.1m: "
                + "{leave-out: true, samples: 1}, memory.free: {scale: 2.5, offset: -1}}"
        ).0
        let up = sampling?.channels["uptime"]
        #expect(up?.unit == "h" && up?.name == "up" && up?.samples == 5 && up?.reduction == .mean)
        let load = sampling?.channels["load.1m"]
        #expect(load?.isLeftOut == true && load?.samples == 1)
        let memory = sampling?.channels["memory.free"]
        #expect(memory?.scale == DecimalValue(coefficient: 25, exponent: -1))
        #expect(memory?.offset == DecimalValue(coefficient: -1))
    }

    @Test(
        arguments: [
            ("deadband: little", "deadband is 'little'; it must be a number such as 0.5"),
            ("deadband: -1", "deadband is '-1'"),
            ("samples: 0", "samples is '0'; it must be a whole number from 1 to 60"),
            ("reduce: max", "reduce is 'max'; it must be one of median, mean"),
            ("channels: [a]", "channels must be a mapping"),
            ("channels: {a: {unit: hpa}}", "unit is hpa, to which nothing can be converted; did"),
            ("channels: {a: {scale: 0}}", "scale is 0"),
            ("channels: {a: {name: x}, b: {name: x}}", "two channels are called x"),
            ("channels: {a: {nam: x}}", "unknown key nam in sensors.channels; did you mean name?"),
        ] as [(String, String)])
    func mistakes(_ keys: String, _ expected: String) {
        let mistakes = decoded(keys).1
        #expect(mistakes.contains { $0.contains(expected) }, "\(mistakes)")
    }
}

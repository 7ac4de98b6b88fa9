import NearbyCore
import Sampling
import Telemetry

/// ADS1115: one conversion an input, at 128 samples a second.
///
/// Source: TI, ADS1113/4/5 data sheet SBAS444E (2024), §8.1.2 and §8.1.3.
///
///      15  14–12  11–9   8     7–5   4–0
///     +---+------+------+-----+-----+-------+
///     | 1 | input| gain |  1  | rate| 00011 |   configuration, register 1
///     +---+------+------+-----+-----+-------+
///
/// Bit 15 starts a conversion, and is read as 1 when it is done; bit 8: one conversion, then sleep;
/// 00011: no comparator. The result is in register 0, with the high byte first.
struct VoltageChip: I2CChip {
    let channels: [ExpectedChannel]
    private let inputs: [Int]
    private let gain: Int

    private static let names = [
        "ain0-ain1", "ain0-ain3", "ain1-ain3", "ain2-ain3", "ain0", "ain1", "ain2", "ain3",
    ]
    /// Volts of one step: full scale is 32,768 of them.
    private static let steps: [(coefficient: Int64, exponent: Int8)] = [
        (1_875, -7), (125, -6), (625, -7), (3_125, -8), (15_625, -9), (78_125, -10),
    ]
    private static let rate = 0b100
    /// 1/128 s, and the tenth by which the chip's clock may be off.
    private static let conversionMilliseconds = 9
    private static let pollsMax = 3

    /// `inputs`: 0 is AIN0 against AIN1, 1–3 AIN0, 1, 2 against AIN3, 4–7 AIN0–3 alone. `gain`: 0
    /// is ±6.144 V, then 4.096, 2.048, 1.024, 0.512, 0.256 V. Others are left out.
    init(inputs: [Int], gain: Int) {
        self.inputs = inputs.filter(Self.names.indices.contains)
        self.gain = Self.steps.indices.contains(gain) ? gain : 2
        channels = self.inputs.map { ExpectedChannel(Self.names[$0], "V") }
    }

    func sample(_ bus: any I2CBus, now: Instant) throws(I2CFault) -> [Measurement] {
        var measurements: [Measurement] = []
        for (input, channel) in zip(inputs, channels) {
            measurements.append(try convert(input, channel, bus))
        }
        return measurements
    }

    private func convert(
        _ input: Int, _ channel: ExpectedChannel, _ bus: any I2CBus
    ) throws(I2CFault) -> Measurement {
        let start: Int = 0x80 | input << 4 | gain << 1 | 1
        let rate: Int = Self.rate << 5 | 0b00011
        try bus.write(1, UInt8(start), UInt8(rate))
        bus.pause(milliseconds: Self.conversionMilliseconds)
        var polls = 0
        while try bus.transfer([1], read: 2).first ?? 0 < 0x80 {
            polls += 1
            guard polls <= Self.pollsMax else { return channel.null(.timeout) }
            bus.pause(milliseconds: 1)
        }
        let bytes = try bus.transfer([0], read: 2)
        guard bytes.count == 2 else { return channel.null(.failed) }
        let steps = Int16(bitPattern: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
        // At either end of the scale it may be any more.
        guard steps != .max, steps != .min else { return channel.null(.outOfRange) }
        let step = Self.steps[gain]
        return channel.value(Int64(steps) * step.coefficient, exponent: step.exponent)
    }
}

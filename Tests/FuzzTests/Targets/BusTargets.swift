import NearbyCore
import Telemetry

@testable import Sampling
@testable import Sensors

extension FuzzTarget {
    /// Chip 1 | what it answers, byte after byte; 0xff where a transfer begins: not acknowledged
    static let i2c = FuzzTarget("i2c") { bytes in
        guard let kind = bytes.first else { return }
        let bus = BabblingBus(bytes.dropFirst())
        var chip: any I2CChip =
            switch kind % 4 {
            case 0: TimeOfFlightChip()
            case 1: CarbonDioxideChip()
            case 2: VoltageChip(inputs: [0, 4, 7], gain: Int(kind >> 4))
            default: InputChip()
            }
        for turn in 0..<4 {
            let now = Instant.zero + .seconds(6 * Int64(turn))
            do throws(I2CFault) {
                let measurements = try chip.sample(bus, now: now)
                check(measurements, most: chip.channels.count)
                for measurement in measurements { inRange(measurement) }
            } catch {
                precondition(!error.message.isEmpty, "refused without a word")
                chip.restart()
            }
            // What I2CChip says of its waiting.
            precondition(bus.takePauses() <= 100, "it waits too long")
        }
    }

    /// What the parts can measure at all.
    private static func inRange(_ measurement: Measurement) {
        let ranges: [String: ClosedRange<Int64>] = [
            "mm": 0...8_190, "ppm": 1...40_000, "Cel": -45...130, "%RH": 0...100, "V": -7...7,
            "1": 0...1,
        ]
        guard let value = measurement.outcome.value else { return }
        let range = ranges[measurement.unit] ?? 0...0
        precondition(
            value >= DecimalValue(coefficient: range.lowerBound)
                && value <= DecimalValue(coefficient: range.upperBound), "\(measurement)")
    }
}

/// A device that answers anything.
private final class BabblingBus: I2CBus {
    private var answers: ArraySlice<UInt8>
    private var pauses = 0

    init(_ answers: ArraySlice<UInt8>) { self.answers = answers }

    func transfer(_ written: [UInt8], read count: Int) throws(I2CFault) -> [UInt8] {
        guard answers.first != 0xff else {
            answers.removeFirst()
            throw I2CFault(reason: .absent, message: "not acknowledged")
        }
        guard count > 0 else { return [] }
        let answer = answers.prefix(count)
        answers = answers.dropFirst(count)
        return answer + [UInt8](repeating: 0, count: count - answer.count)
    }

    func pause(milliseconds: Int) { pauses += milliseconds }

    func takePauses() -> Int {
        defer { pauses = 0 }
        return pauses
    }
}

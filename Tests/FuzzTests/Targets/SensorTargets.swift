import NearbyCore
import Telemetry

@testable import Sampling
@testable import Sensors

extension FuzzTarget {
    /// What sensors, programs and files say.
    static let sensors: [FuzzTarget] = [
        FuzzTarget("command-output") { bytes in
            let found = CommandOutput.parse(bytes, channel: "c", prefix: "p", unit: "1")
            precondition((found?.count ?? 0) <= Limits.channelsPerSensorMax, "too many channels")
        },
        FuzzTarget("decimal") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let value = try? DecimalValue(parsing: text) else { return }
            let again = try? DecimalValue(parsing: value.description)
            precondition(again == value, "\(value) is not what it was")
        },
        FuzzTarget("csv") { bytes in
            for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
                for cell in Recording.cells(String(line)) ?? [] {
                    _ = Recording.column(cell)
                    _ = Recording.milliseconds(cell)
                }
            }
        },
    ]

    /// What every driver promises of what it measured: as many channels as one sensor may have,
    /// with names and units that can be sent, none of them from the time to come.
    static func check(
        _ measurements: [Measurement], most: Int = Limits.channelsPerSensorMax,
        until now: Instant? = nil
    ) {
        precondition(measurements.count <= most, "\(measurements.count) measurements")
        for measurement in measurements {
            let unit = Unit(measurement.unit)
            precondition(unit != nil, "the unit of \(measurement)")
            let channel = unit.flatMap { ChannelDescription(name: measurement.channel, unit: $0) }
            precondition(channel != nil, "the name of \(measurement)")
            if let now, let time = measurement.time {
                precondition(time <= now, "\(measurement) is not yet")
            }
        }
    }
}

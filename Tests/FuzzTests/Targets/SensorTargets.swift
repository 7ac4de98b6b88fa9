import NearbyCore
import Telemetry

@testable import Sensors

extension FuzzTarget {
    /// What sensors, programs and files say.
    static let sensors = [
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
}

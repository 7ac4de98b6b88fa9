import Boards
import Configuration
import Glibc
import Sensors
import Telemetry

/// Reads sensors once, by the very drivers that the agent uses.
package enum SensorTrial {
    /// Decodes a list `sensors:` in YAML and reads each of them. A line for each channel:
    /// `name value unit`, or `name null (reason)`; mistakes in the YAML where it has any.
    package static func lines(ofSensorsIn yaml: String) -> [String] {
        // The rest of a configuration has defaults, but for who is let in.
        switch Settings.decode(Array(("trust: any\n" + yaml).utf8), file: "sensors") {
        case .bad(let mistakes): mistakes.map(\.description)
        case .good(let settings): settings.sensors.flatMap(lines(of:))
        }
    }

    private static func lines(of sensor: SensorSettings) -> [String] {
        lines(of: sensor.makeDriver(state: nil, pins: BoardPins()), pause: { sleep(1) })
    }

    /// A driver that tells differences (of the processor's use, of a counter) warms up with its
    /// first sample; then a second one follows after the pause.
    static func lines(of driver: any SensorDriver, pause: () -> Void) -> [String] {
        var measurements = driver.sample()
        if measurements.contains(where: { $0.outcome == .null(.warmingUp) }) {
            pause()
            measurements = driver.sample()
        }
        let remark = driver.remark.map { ["# \(driver.name): \($0)"] } ?? []
        guard !measurements.isEmpty else { return ["# \(driver.name): nothing to read"] + remark }
        return measurements.map(line) + remark
    }

    private static func line(of measurement: Measurement) -> String {
        switch measurement.outcome {
        case .null(let reason): return "\(measurement.channel) null (\(reason))"
        case .value(let value):
            let symbol = measurement.unit == "1" ? "" : Unit(measurement.unit)?.symbol ?? ""
            return "\(measurement.channel) \(value)" + (symbol.isEmpty ? "" : " \(symbol)")
        }
    }
}

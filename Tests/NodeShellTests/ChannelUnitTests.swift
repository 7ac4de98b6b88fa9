import Boards
import Configuration
import Sensors
import Telemetry
import Testing

@testable import NodeShell

/// The configuration knows units without asking a device; what it knows must be what comes.
struct ChannelUnitTests {
    /// Entries whose devices are not there: each channel is null, in its unit.
    static let entries: [String] = [
        "{driver: i2c, device: vl53l0x, bus: 255}",
        "{driver: i2c, device: scd4x, bus: 255, name: air}",
        "{driver: i2c, device: ads1115, bus: 255, inputs: [ain0, ain1-ain3]}",
        "{driver: i2c, device: pcf8574, bus: 255, name: box.1}",
        "{driver: serial, device: /none/tty, protocol: pms5003}",
        "{driver: serial, device: /none/tty, protocol: sds011, name: dust}",
        "{driver: serial, device: /none/tty, protocol: mh-z19}",
        "{driver: serial, device: /none/tty, protocol: nmea, name: boat}",
        "{driver: serial, device: /none/tty, protocol: line, unit: kWh, name: meter}",
        "{driver: serial, device: /none/tty, protocol: line, pattern: \"(.*) (.*)\", "
            + "groups: [a Cel, b Pa], name: x}",
        "{driver: gpio, chip: none, line: 1, name: rain, count: both, unit: mm}",
        "{driver: gpio, chip: none, line: 1, name: l, count: both, unit: l, rate: second}",
        "{driver: gpio, chip: none, line: 1, name: kw, count: both, unit: kWh, rate-unit: kW}",
        "{driver: gpio, chip: none, line: 1, name: door}",
        "{driver: command, run: [/bin/echo, \"5\"], name: co2, unit: ppm}",
        "{driver: thermal, zone: none}", "{driver: w1, ids: [28-0001a0115e01]}",
        "{driver: system}",
    ]

    @Test(arguments: entries)
    func whatIsKnownIsWhatComes(_ entry: String) {
        let yaml = Array("trust: any\nsensors: [\(entry)]\n".utf8)
        guard case .good(let settings) = Settings.decode(yaml, file: "f"),
            let sensor = settings.sensors.first
        else {
            Issue.record("refused: \(entry)")
            return
        }
        let measurements = sensor.makeDriver(state: nil, pins: BoardPins()).sample()
        #expect(!measurements.isEmpty)
        var known = 0
        for measurement in measurements {
            // Counts of particles have no unit that could be changed.
            guard let unit = sensor.driver.unit(of: measurement.channel) else { continue }
            #expect(unit == measurement.unit, "\(measurement.channel)")
            known += 1
        }
        #expect(known > 0)
    }
}

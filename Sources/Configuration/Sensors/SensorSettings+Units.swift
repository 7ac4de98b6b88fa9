import Telemetry

extension SensorSettings.Driver {
    /// What is wrong with a unit that a channel is to be changed into; nil if nothing is, as far as
    /// can be known without the device.
    func advice(against wanted: String, of channel: String) -> String? {
        // What is no unit that anything could be changed into was told of already.
        guard UnitConversion.knows(wanted), let unit = unit(of: channel), unit != wanted,
            UnitConversion(from: unit, to: wanted) == nil
        else { return nil }
        let name = PlainText.shown(channel)
        if unit == "1" {
            return "\(name) has no unit that could be changed; "
                + (takesUnit ? "say which it has with the key unit of the sensor" : "leave it out")
        }
        let targets = UnitConversion.targets(of: unit)
        return "\(name) is in \(PlainText.shown(unit)); "
            + (targets.isEmpty
                ? "leave it out" : "write \(targets.joined(separator: ", ")), or leave it out")
    }

    /// The unit in which the driver gives a channel; nil where only the device knows. Of `iio` and
    /// `hwmon` it is not known: a channel may have any label for its name.
    package func unit(of channel: String) -> String? {
        switch self {
        case .system: Self.unit(of: channel, in: Self.system)
        case .thermal, .w1: "Cel"
        case .power: Self.unit(of: channel, in: Self.power)
        case .gpio(let gpio): gpio.unit(of: channel)
        case .ble: Self.unit(of: channel, in: Self.advertised)
        case .serial(let serial): serial.unit(of: channel)
        case .i2c(let i2c): Self.unit(of: channel, in: i2c.device.units)
        case .command(let command): command.unit
        case .iio, .hwmon, .replay: nil
        }
    }

    /// Whether somebody says in the sensor's own `unit` what its numbers are.
    private var takesUnit: Bool {
        switch self {
        case .command: true
        case .serial(let serial): serial.spoken == .line && serial.pattern == nil
        case .gpio(let gpio): gpio.count != nil
        default: false
        }
    }

    /// Words by which a channel's name begins, or ends after a dot or altogether.
    fileprivate typealias Units = [(begin: String, end: String, unit: String)]

    fileprivate static func unit(of channel: String, in units: Units) -> String? {
        units.first { begin, end, _ in
            channel.hasPrefix(begin)
                && (end.isEmpty || channel == end || channel.hasSuffix("." + end))
        }?.unit
    }

    private static let system: Units = [
        ("load.", "", "1"), ("memory.", "", "B"), ("swap.", "", "B"), ("uptime", "", "s"),
        ("disk.use ", "", "%"), ("disk.free ", "", "B"), ("net.", "received", "B"),
        ("net.", "sent", "B"), ("net.", "signal", "dBm"), ("cpu.use", "", "%"),
        ("cpu.temperature", "", "Cel"), ("cpu", "frequency", "Hz"), ("undervoltage", "", "1"),
    ]

    private static let power: Units = [
        ("", "online", "1"), ("", "present", "1"), ("", "level", "%EL"), ("", "voltage", "V"),
        ("", "current", "A"), ("", "power", "W"), ("", "energy", "Wh"), ("", "charge", "Ah"),
        ("", "temperature", "Cel"), ("", "cycles", "count"), ("", "time-to-empty", "s"),
        ("", "time-to-full", "s"), ("", "charging", "1"), ("", "healthy", "1"),
    ]

    /// What all formats that have it give in one unit.
    private static let advertised: Units = [
        ("", "temperature", "Cel"), ("", "humidity", "%RH"), ("", "pressure", "Pa"),
        ("", "illuminance", "lx"), ("", "battery", "%EL"), ("", "voltage", "V"),
        ("", "co2", "ppm"), ("", "signal", "dBm"), ("", "tx-power", "dBm"),
    ]
}

extension GPIOSettings {
    /// Of the rate.
    public var unitOfRate: String { rateUnit ?? "\(unit)/\(rate == .second ? "s" : "h")" }

    fileprivate func unit(of channel: String) -> String? {
        switch channel {
        case name: count == nil ? "1" : unit
        case name + ".rate": unitOfRate
        default: nil
        }
    }
}

extension SerialSettings {
    fileprivate func unit(of channel: String) -> String? {
        if spoken == .line, pattern == nil { return unit }
        let own = name.map { channel.dropFirst($0.utf8.count + 1) } ?? channel[...]
        if spoken == .line { return channels.first { $0.name == own }?.unit }
        return units.first { $0.name == own }?.unit
    }

    private var units: [(name: String, unit: String)] {
        switch spoken {
        case .pms5003, .pms7003, .sds011: ["pm1", "pm2.5", "pm10"].map { ($0, "ug/m3") }
        case .mhz19: [("co2", "ppm"), ("temperature", "Cel")]
        case .nmea:
            [
                ("lat", "lat"), ("lon", "lon"), ("altitude", "m"), ("speed", "[kn_i]"),
                ("satellites", "1"), ("hdop", "1"), ("fix", "1"), ("fix.mode", "1"),
                ("satellites.seen", "1"),
            ]
        case .line: []
        }
    }
}

extension I2CSettings.Device {
    fileprivate var units: SensorSettings.Driver.Units {
        switch self {
        case .vl53l0x: [("", "distance", "mm")]
        case .scd4x: [("", "co2", "ppm"), ("", "temperature", "Cel"), ("", "humidity", "%RH")]
        case .ads1115:
            I2CSettings.inputs.map { ("", $0, "V") }
        case .pcf8574: (0..<8).map { ("", "p\($0)", "1") }
        }
    }
}

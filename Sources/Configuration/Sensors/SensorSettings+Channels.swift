extension SensorSettings.Driver {
    /// Says which of the names below `channels` no channel of this sensor can have, and which units
    /// its values cannot be changed into: what is meant would never happen.
    func checkChannels(_ section: Section, _ mistakes: MistakeList) {
        guard case .mapping(let pairs) = section.node("channels")?.value else { return }
        for (key, value) in pairs {
            guard let name = key.text else { continue }
            if let advice = advice(against: name) {
                mistakes.add(
                    key.mark,
                    "no channel of this sensor is called \(PlainText.shown(name)); \(advice)")
            } else if let node = value.node("unit"), let wanted = node.text,
                let advice = advice(against: wanted, of: name)
            {
                mistakes.add(node.mark, "unit is \(PlainText.shown(wanted)), and \(advice)")
            }
        }
    }

    /// Nil for a name that a channel may have, as far as can be known without the device.
    private func advice(against name: String) -> String? {
        switch self {
        case .iio(let iio): device(iio.device ?? "bme280", "temperature", name)
        case .hwmon(let hwmon): device(hwmon.device ?? "lm75", "temp1", name)
        case .w1(let w1): begins("w1.", w1.ids.first ?? "28-0001a0115e01", name)
        case .thermal(let thermal): begins("thermal.", thermal.zone ?? "cpu-thermal", name)
        case .power(let power): begins("power.", (power.supply ?? "BAT0") + ".voltage", name)
        case .ble(let ble):
            (ble.name ?? ble.address?.uppercased()).flatMap {
                begins($0 + ".", "temperature", name)
            }
        case .serial(let serial) where serial.spoken != .line:
            serial.name.flatMap { begins($0 + ".", serial.spoken.example, name) }
        case .i2c(let i2c): i2c.name.flatMap { begins($0 + ".", i2c.device.example, name) }
        case .gpio(let gpio):
            [gpio.name, gpio.name + ".rate"].contains(name)
                ? nil
                : gpio.count == nil
                    ? "there is only \(gpio.name)"
                    : "there are \(gpio.name) and \(gpio.name).rate"
        case .system, .command, .replay, .serial: nil
        }
    }

    /// The device's name is the kernel's, so only its place is known.
    private func device(_ device: String, _ quantity: String, _ name: String) -> String? {
        name.utf8.contains(UInt8(ascii: "."))
            ? nil
            : "names begin with the device's, such as \(PlainText.shown(device)).\(quantity): "
                + "`rivulet sensors --read` shows them"
    }

    private func begins(_ prefix: String, _ example: String, _ name: String) -> String? {
        name.hasPrefix(prefix)
            ? nil : "names begin with \(prefix), such as \(PlainText.shown(prefix + example))"
    }
}

extension SerialSettings.Spoken {
    /// One of its channels.
    fileprivate var example: String {
        switch self {
        case .pms5003, .pms7003, .sds011: "pm2.5"
        case .mhz19: "co2"
        case .nmea: "speed"
        case .line: "value"
        }
    }
}

extension I2CSettings.Device {
    /// One of its channels.
    fileprivate var example: String {
        switch self {
        case .vl53l0x: "distance"
        case .scd4x: "co2"
        case .ads1115: "ain0"
        case .pcf8574: "p0"
        }
    }
}

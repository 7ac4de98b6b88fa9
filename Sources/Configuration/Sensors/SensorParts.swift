/// Names of parts that people write where a driver's belongs.
enum SensorParts {
    /// What to write for one of them, such as `{driver: iio, device: bme280}`; nil if it is not
    /// known here. Case does not matter.
    static func entry(for word: String) -> String? {
        let word = word.lowercased()
        guard let (driver, keys, _) = table.first(where: { $0.words.contains(word) }) else {
            return nil
        }
        let rest = keys.map { $0 == "*" ? word : String($0) }.joined()
        return "{driver: \(driver)\(rest.isEmpty ? "" : ", " + rest)}"
    }

    /// In `keys`, `*` stands for the word itself: there the kernel calls the part by that name.
    private static let table: [(driver: String, keys: String, words: [String])] = [
        (
            "iio", "device: *",
            [
                "bme280", "bmp280", "bmp180", "bme680", "bmp380", "bh1750", "htu21", "si7020",
                "sps30", "sgp30", "scd30", "dht11",
            ]
        ),
        ("iio", "device: dht11", ["dht22", "dht21", "am2302", "dht"]),
        ("iio", "device: si7020", ["si7021"]),
        (
            "hwmon", "device: *",
            ["lm75", "tmp102", "sht3x", "sht4x", "aht10", "aht20", "ina219", "ina226", "ina238"]
        ),
        ("hwmon", "device: sht3x", ["sht30", "sht31", "sht35"]),
        ("hwmon", "device: sht4x", ["sht40", "sht41", "sht45"]),
        ("w1", "", ["ds18b20", "ds18s20", "ds1820", "ds1822", "w1-gpio", "1-wire", "onewire"]),
        ("i2c", "device: *", ["vl53l0x", "scd4x", "ads1115", "pcf8574"]),
        ("i2c", "device: scd4x", ["scd40", "scd41"]),
        ("serial", "device: /dev/serial0, protocol: *", ["pms5003", "pms7003", "sds011"]),
        ("serial", "device: /dev/serial0, protocol: mh-z19", ["mh-z19", "mhz19", "mh-z19b"]),
        ("serial", "device: /dev/ttyACM0, protocol: nmea", ["gps", "gnss", "nmea"]),
        ("ble", "", ["bluetooth", "ruuvi", "ruuvitag", "bthome", "xiaomi", "mibeacon", "pvvx"]),
        ("gpio", "pin: GPIO17, edges: both", ["button", "switch", "door", "pir"]),
        ("gpio", "pin: GPIO17, count: falling", ["pulse", "pulses", "counter", "rain"]),
        ("system", "", ["cpu", "memory", "disk", "wifi", "network"]),
    ]
}

import Telemetry

/// What a part can measure, by the name that its kernel driver gives it.
///
/// The ranges are those over which the data sheets say that the part measures or works; a value
/// outside comes from a broken wire, a wrong address or a damaged register, not from the world. A
/// part of which no document could be found is not here: it is believed.
struct SensorPart: Sendable {
    /// Whole units of what the channel is measured in.
    var ranges: [String: ClosedRange<Int64>]
    /// How long all its values together may stay as they are; nil where that means nothing: a
    /// thermometer of half a degree stands still for days.
    var staleAfter: Duration?

    func admits(_ value: DecimalValue, _ unit: String) -> Bool {
        guard let range = ranges[unit] else { return true }
        return value >= DecimalValue(coefficient: range.lowerBound)
            && value <= DecimalValue(coefficient: range.upperBound)
    }

    /// A part that the device tree describes may have its address behind its name: `dht11@4`.
    static func named(_ name: String) -> SensorPart? {
        table[String(name.prefix { $0 != "@" }).lowercased()]
    }

    private static let day = Duration.seconds(86_400)

    private static func thermometer(_ range: ClosedRange<Int64>) -> SensorPart {
        SensorPart(ranges: ["Cel": range], staleAfter: nil)
    }

    /// One that measures the air: two or more quantities, of which one always moves.
    private static func air(
        _ temperature: ClosedRange<Int64>, pressure: ClosedRange<Int64>? = nil,
        hasHumidity: Bool = true
    ) -> SensorPart {
        var ranges = ["Cel": temperature]
        if hasHumidity { ranges["%RH"] = 0...100 }
        if let pressure { ranges["Pa"] = pressure }
        return SensorPart(ranges: ranges, staleAfter: day)
    }

    private static let table: [String: SensorPart] = {
        var table: [String: SensorPart] = [:]
        for (names, part) in airTable + thermometers {
            for name in names.split(separator: " ") { table[String(name)] = part }
        }
        return table
    }()

    /// "Temperature range", "Operating range" and "Pressure range" of the data sheets: Aosong
    /// AM2302 (1), AHT10 1.1; Bosch BMP280 1.14, BME280, BMP388 1.0, BMP581 1.2; Sensirion SHT3x,
    /// SHT4x, SHTC1 3, SHTC3, SCD30 1.0, SCD4x 1.3; Silicon Labs Si7005 1.5, Si7020-A20; TE HTU21D;
    /// TI HDC1000 and HDC2080 ("functional"); ST HTS221.
    private static let airTable: [(names: String, part: SensorPart)] = [
        // The kernel's driver calls DHT11, DHT21 and DHT22 by one name.
        ("dht11 dht22 am2302", air(-40...80)),
        ("aht10 aht20 si7005", air(-40...85)),
        ("bmp085 bmp180 bmp280", air(-40...85, pressure: 30_000...110_000, hasHumidity: false)),
        ("bme280 bme680", air(-40...85, pressure: 30_000...110_000)),
        ("bmp380 bmp580", air(-40...85, pressure: 30_000...125_000, hasHumidity: false)),
        (
            "sht21 sht25 sht3x sht4x shtc3 si7020 htu21 htu31 hdc100x hdc1000 hdc1008 hdc1010"
                + " hdc1050 hdc1080 hdc2010 hdc3020", air(-40...125)
        ),
        ("sts3x", thermometer(-40...125)), ("shtc1 shtw1", air(-30...100)),
        ("hts221", air(-40...120)), ("scd30", air(-40...70)), ("scd40 scd41", air(-10...60)),
    ]

    /// Maxim's data sheets of the DS18B20, DS18S20, DS1822, DS1825, DS28EA00, MAX31850 (19-6725),
    /// MAX31855, MAX31865 and MAX6675; Documentation/hwmon/tmp102.rst, tmp103.rst, tmp108.rst,
    /// adt7410.rst; TI's TMP117 and TMP421; jc42.c (JEDEC JC 42.4, as which an MCP9808 appears);
    /// Melexis MLX90614 rev. 13.
    private static let thermometers: [(names: String, part: SensorPart)] = [
        ("ds18b20 ds18s20 ds1822", thermometer(-55...125)), ("w1_slave_temp", anyThermocouple),
        // The MAX31850 and MAX31851, which read thermocouples, have the DS1825's family number.
        ("ds1825", anyThermocouple), ("ds28ea00", thermometer(-40...85)),
        // A TMP421's remote diodes have a wider range than its own sensor.
        ("tmp102 tmp108 tmp117 tmp421 adt7410", thermometer(-55...150)),
        ("tmp103 jc42", thermometer(-40...125)), ("max31865", thermometer(-200...850)),
        // The kernel calls the MAX6675, 0 to 1,024 °C, and all MAX31855 so.
        ("maxim_thermocouple", thermometer(-270...1_800)), ("mlx90614", thermometer(-70...380)),
        // All of which the kernel's lm75 driver serves: guaranteed from −55 to 125 °C
        // (Documentation/hwmon/lm75.rst); their common register ends at 128.
        (
            "as6200 lm75 lm75a lm75b adt75 ds1775 ds75 ds7505 g751 max6625 max6626 mcp980x p3t1750"
                + " p3t1755 pct2075 stds75 stlm75 tcn75 tmp100 tmp101 tmp105 tmp1075 tmp112 tmp175"
                + " tmp275 tmp75 tmp75b tmp75c", thermometer(-55...128)
        ),
    ]

    private static let anyThermocouple = thermometer(-270...1_768)
}

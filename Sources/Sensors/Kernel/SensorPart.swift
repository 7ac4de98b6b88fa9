import Telemetry

/// What a part can measure, by the name that its kernel driver gives it.
///
/// The ranges are those of the data sheets' absolute measuring ranges; a value outside comes from a
/// broken wire, a wrong address or a damaged register, not from the world.
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
        var table: [String: SensorPart] = [
            // The kernel's driver calls DHT11, DHT21 and DHT22 by one name.
            "dht11": air(-40...80), "dht22": air(-40...80), "am2302": air(-40...80),
            "bmp085": air(-40...85, pressure: 30_000...110_000, hasHumidity: false),
            "bmp180": air(-40...85, pressure: 30_000...110_000, hasHumidity: false),
            "bmp280": air(-40...85, pressure: 30_000...110_000, hasHumidity: false),
            "bme280": air(-40...85, pressure: 30_000...110_000),
            "bme680": air(-40...85, pressure: 30_000...110_000),
            "bmp380": air(-40...85, pressure: 30_000...125_000, hasHumidity: false),
            "bmp580": air(-40...85, pressure: 30_000...125_000, hasHumidity: false),
            "sht21": air(-40...125), "sht3x": air(-40...125), "sts3x": thermometer(-40...125),
            "sht4x": air(-40...125), "shtc1": air(-40...125), "shtc3": air(-40...125),
            "si7005": air(-40...125), "si7020": air(-40...125), "htu21": air(-40...125),
            "hdc100x": air(-40...125), "hdc2010": air(-40...125), "hdc3020": air(-40...125),
            "aht10": air(-40...85), "aht20": air(-40...85), "hts221": air(-40...120),
            "scd30": air(-40...70), "scd40": air(-10...60), "scd41": air(-10...60),
            "ds18b20": thermometer(-55...125), "ds18s20": thermometer(-55...125),
            "ds1822": thermometer(-55...125), "ds1825": thermometer(-55...125),
            "ds28ea00": thermometer(-40...85), "w1_slave_temp": thermometer(-55...125),
            "tmp102": thermometer(-55...150), "tmp103": thermometer(-40...125),
            "tmp108": thermometer(-40...125), "tmp117": thermometer(-55...150),
            "tmp421": thermometer(-55...150), "mcp9808": thermometer(-40...125),
            "adt7410": thermometer(-55...150), "max31865": thermometer(-200...850),
            "max6675": thermometer(0...1_024), "max31855": thermometer(-270...1_800),
            "mlx90614": thermometer(-70...382),
        ]
        // All of which the kernel's lm75 driver serves.
        for name in [
            "lm75", "lm75a", "lm75b", "adt75", "at30ts74", "ds1775", "ds75", "ds7505", "g751",
            "mcp980x", "pct2075", "stds75", "stlm75", "tcn75", "tmp100", "tmp101", "tmp105",
            "tmp112", "tmp175", "tmp275", "tmp75", "tmp75b", "tmp75c",
        ] { table[name] = thermometer(-55...128) }
        return table
    }()
}

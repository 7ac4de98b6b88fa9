import Glibc

/// Ruuvi's tags: data formats 5 (RAWv2), 6 and E1 (docs.ruuvi.com, Bluetooth advertisements).
/// Integers are big-endian; all ones, or the lowest of a signed one, say that there is no value.
///
///     5:  format 1 | temperature 2 | humidity 2 | pressure 2 | acceleration 3 × 2 | power 2
///         | movements 1 | sequence 2 | address 6
///     6:  format 1 | temperature 2 | humidity 2 | pressure 2 | PM2.5 2 | CO₂ 2 | VOC 1 | NOx 1
///         | luminosity 1 | reserved 1 | sequence 1 | flags 1 | address 3
///     E1: format 1 | temperature 2 | humidity 2 | pressure 2 | PM1, 2.5, 4, 10 4 × 2 | CO₂ 2
///         | VOC 1 | NOx 1 | luminosity 3 | reserved 3 | sequence 3 | flags 1 | reserved 5
///         | address 6
enum RuuviFormat {
    static let company: UInt16 = 0x0499

    static func decode(
        _ data: ArraySlice<UInt8>
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var fields = FieldReader(data)
        switch try fields.bigEndian(1) {
        case 0x05: return try tag(&fields)
        case 0x06: return try air(&fields)
        case 0xe1: return try extendedAir(&fields)
        default: throw .unsupported
        }
    }

    private static func tag(
        _ fields: inout FieldReader
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var result = SensorAdvertisement()
        try climate(&fields, &result)
        for axis in ["x", "y", "z"] {
            let raw = try fields.signedBigEndian(2)
            // Thousandths of 9.80665 m/s².
            raw == -0x8000
                ? result.addAbsent("acceleration.\(axis)", "m/s2")
                : result.add("acceleration.\(axis)", "m/s2", raw * 980_665, -8)
        }
        let power = try fields.bigEndian(2)
        power >> 5 == 0x7ff
            ? result.addAbsent("battery.voltage", "V")
            : result.add("battery.voltage", "V", power >> 5 + 1_600, -3)
        power & 0x1f == 0x1f
            ? result.addAbsent("tx-power", "dBm")
            : result.add("tx-power", "dBm", (power & 0x1f) * 2 - 40)
        let movements = try fields.bigEndian(1)
        movements == 0xff
            ? result.addAbsent("movements", "count")
            : result.add("movements", "count", movements)
        let sequence = try fields.bigEndian(2)
        if sequence != 0xffff { result.sequence = UInt32(sequence) }
        _ = try fields.take(6)
        return result
    }

    private static func air(
        _ fields: inout FieldReader
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var result = SensorAdvertisement()
        try climate(&fields, &result)
        try particles(["pm2.5"], &fields, &result)
        let gases = try Gases(&fields)
        let light = try fields.bigEndian(1)
        // The code is the logarithm; what it stands for is told to two places.
        light == 0xff
            ? result.addAbsent("illuminance", "lx")
            : result.add(
                "illuminance", "lx",
                Int64(((exp(Double(light) * log(65_536) / 254) - 1) * 100).rounded()), -2)
        _ = try fields.take(1)
        result.sequence = UInt32(try fields.bigEndian(1))
        gases.add(to: &result, flags: try fields.bigEndian(1))
        _ = try fields.take(3)
        return result
    }

    private static func extendedAir(
        _ fields: inout FieldReader
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var result = SensorAdvertisement()
        try climate(&fields, &result)
        try particles(["pm1", "pm2.5", "pm4", "pm10"], &fields, &result)
        let gases = try Gases(&fields)
        let light = try fields.bigEndian(3)
        light == 0xff_ffff
            ? result.addAbsent("illuminance", "lx")
            : result.add("illuminance", "lx", light, -2)
        _ = try fields.take(3)
        // Format 6 has its lowest byte: of the two that one device sends, one is a repetition.
        result.sequence = UInt32(try fields.bigEndian(3) & 0xff)
        gases.add(to: &result, flags: try fields.bigEndian(1))
        _ = try fields.take(11)
        return result
    }

    /// Temperature in 0.005 °C, humidity in 0.0025 %, pressure in Pa above 50,000.
    private static func climate(
        _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        let temperature = try fields.signedBigEndian(2)
        temperature == -0x8000
            ? result.addAbsent("temperature", "Cel")
            : result.add("temperature", "Cel", temperature * 5, -3)
        let humidity = try fields.bigEndian(2)
        humidity == 0xffff
            ? result.addAbsent("humidity", "%RH")
            : result.add("humidity", "%RH", humidity * 25, -4)
        let pressure = try fields.bigEndian(2)
        pressure == 0xffff
            ? result.addAbsent("pressure", "Pa") : result.add("pressure", "Pa", pressure + 50_000)
    }

    private static func particles(
        _ names: [String], _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        for name in names {
            let raw = try fields.bigEndian(2)
            raw == 0xffff
                ? result.addAbsent(name, "ug/m3") : result.add(name, "ug/m3", raw, -1)
        }
    }

    /// CO₂ in ppm, and two indices whose lowest bits lie in the flags.
    private struct Gases {
        let carbonDioxide: Int64
        let volatile: Int64
        let nitrogen: Int64

        init(_ fields: inout FieldReader) throws(AdvertisementFault) {
            carbonDioxide = try fields.bigEndian(2)
            volatile = try fields.bigEndian(1)
            nitrogen = try fields.bigEndian(1)
        }

        func add(to result: inout SensorAdvertisement, flags: Int64) {
            carbonDioxide == 0xffff
                ? result.addAbsent("co2", "ppm") : result.add("co2", "ppm", carbonDioxide)
            let indices = [
                ("voc-index", volatile << 1 | flags >> 6 & 1),
                ("nox-index", nitrogen << 1 | flags >> 7 & 1),
            ]
            for (name, value) in indices {
                value == 0x1ff ? result.addAbsent(name, "1") : result.add(name, "1", value)
            }
            result.add("calibrating", isOn: flags & 1 == 1)
        }
    }
}

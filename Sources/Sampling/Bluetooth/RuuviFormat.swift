/// Ruuvi's tags: data formats 5 (RAWv2), C5 (the same without acceleration), 6 and E1, and 3
/// (RAWv1), which old firmware sends (docs.ruuvi.com, Bluetooth advertisements). Integers are
/// big-endian; all ones, or the lowest of a signed one, say that there is no value, but not in
/// format 3.
///
///     3:  format 1 | humidity 1 | temperature 1 + 1 | pressure 2 | acceleration 3 × 2 | voltage 2
///     5:  format 1 | temperature 2 | humidity 2 | pressure 2 | acceleration 3 × 2 | power 2
///         | movements 1 | sequence 2 | address 6
///     6:  format 1 | temperature 2 | humidity 2 | pressure 2 | PM2.5 2 | CO₂ 2 | VOC 1 | NOx 1
///         | luminosity 1 | reserved 1 | sequence 1 | flags 1 | address 3
///     E1: format 1 | temperature 2 | humidity 2 | pressure 2 | PM1, 2.5, 4, 10 4 × 2 | CO₂ 2
///         | VOC 1 | NOx 1 | luminosity 3 | reserved 3 | sequence 3 | flags 1 | reserved 5
///         | address 6
package enum RuuviFormat {
    package static let companyID: UInt16 = 0x0499

    package static func decode(
        _ data: ArraySlice<UInt8>
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var fields = FieldReader(data)
        var result = SensorAdvertisement()
        switch try fields.bigEndian(1) {
        case 0x03: try oldTag(&fields, &result)
        case 0x05:
            try climate(&fields, &result)
            try acceleration(&fields, &result, hasAbsent: true)
            try tag(&fields, &result)
        case 0xc5:
            try climate(&fields, &result)
            try tag(&fields, &result)
        case 0x06: try air(&fields, &result)
        case 0xe1: try extendedAir(&fields, &result)
        default: throw .unsupported
        }
        return result
    }

    // MARK: Formats

    private static func oldTag(
        _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        let humidity = try fields.bigEndian(1)
        // A sign and whole degrees, then hundredths.
        let degrees = try fields.bigEndian(1)
        let hundredths = try fields.bigEndian(1)
        guard hundredths < 100 else { throw .malformed }
        let magnitude = (degrees & 0x7f) * 100 + hundredths
        result.add("temperature", "Cel", degrees & 0x80 == 0 ? magnitude : -magnitude, -2)
        result.add("humidity", "%RH", humidity * 5, -1)
        result.add("pressure", "Pa", try fields.bigEndian(2) + 50_000)
        try acceleration(&fields, &result, hasAbsent: false)
        result.add("battery.voltage", "V", try fields.bigEndian(2), -3)
    }

    /// What formats 5 and C5 end with.
    private static func tag(
        _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        let power = try fields.bigEndian(2)
        let volts = power >> 5 == 0x7ff ? nil : power >> 5 + 1_600
        result.add("battery.voltage", "V", volts, -3)
        let sending = power & 0x1f == 0x1f ? nil : (power & 0x1f) * 2 - 40
        result.add("tx-power", "dBm", sending)
        result.add("movements", "count", try unsigned(1, &fields))
        result.sequence = try unsigned(2, &fields).map { UInt32($0) }
        _ = try fields.take(6)
    }

    private static func air(
        _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        try climate(&fields, &result)
        try particles(["pm2.5"], &fields, &result)
        let gases = try Gases(&fields)
        result.add("illuminance", "lx", try unsigned(1, &fields).map(illuminance), -2)
        _ = try fields.take(1)
        result.sequence = UInt32(try fields.bigEndian(1))
        gases.add(to: &result, flags: try fields.bigEndian(1))
        _ = try fields.take(3)
    }

    private static func extendedAir(
        _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        try climate(&fields, &result)
        try particles(["pm1", "pm2.5", "pm4", "pm10"], &fields, &result)
        let gases = try Gases(&fields)
        result.add("illuminance", "lx", try unsigned(3, &fields), -2)
        _ = try fields.take(3)
        // Format 6 has its lowest byte: of the two that one device sends, one is a repetition.
        result.sequence = try unsigned(3, &fields).map { UInt32($0 & 0xff) }
        gases.add(to: &result, flags: try fields.bigEndian(1))
        _ = try fields.take(11)
    }

    // MARK: Fields

    /// Nil where all bits are ones.
    private static func unsigned(
        _ byteCount: Int, _ fields: inout FieldReader
    ) throws(AdvertisementFault) -> Int64? {
        let raw = try fields.bigEndian(byteCount)
        return raw == 1 << Int64(8 * byteCount) - 1 ? nil : raw
    }

    /// Two bytes; nil where they are the lowest there is.
    private static func signed(
        _ fields: inout FieldReader
    ) throws(AdvertisementFault) -> Int64? {
        let raw = try fields.signedBigEndian(2)
        return raw == -0x8000 ? nil : raw
    }

    /// Temperature in 0.005 °C, humidity in 0.0025 %, pressure in Pa above 50,000.
    private static func climate(
        _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        result.add("temperature", "Cel", try signed(&fields).map { $0 * 5 }, -3)
        result.add("humidity", "%RH", try unsigned(2, &fields).map { $0 * 25 }, -4)
        result.add("pressure", "Pa", try unsigned(2, &fields).map { $0 + 50_000 })
    }

    /// The code is the logarithm, 254 that of 65,536; what it stands for is told in hundredths.
    private static func illuminance(_ code: Int64) -> Int64 {
        let light = (0..<code).reduce(1.0) { light, _ in light * 1.0446300614125956 }
        return Int64(((light - 1) * 100).rounded())
    }

    /// In thousandths of 9.80665 m/s².
    private static func acceleration(
        _ fields: inout FieldReader, _ result: inout SensorAdvertisement, hasAbsent: Bool
    ) throws(AdvertisementFault) {
        for axis in ["x", "y", "z"] {
            let raw = try hasAbsent ? signed(&fields) : fields.signedBigEndian(2)
            result.add("acceleration.\(axis)", "m/s2", raw.map { $0 * 980_665 }, -8)
        }
    }

    private static func particles(
        _ names: [String], _ fields: inout FieldReader, _ result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        for name in names { result.add(name, "ug/m3", try unsigned(2, &fields), -1) }
    }

    /// CO₂ in ppm, and two indices whose lowest bits lie in the flags.
    private struct Gases {
        let carbonDioxide: Int64?
        let volatile: Int64
        let nitrogen: Int64

        init(_ fields: inout FieldReader) throws(AdvertisementFault) {
            carbonDioxide = try RuuviFormat.unsigned(2, &fields)
            volatile = try fields.bigEndian(1)
            nitrogen = try fields.bigEndian(1)
        }

        func add(to result: inout SensorAdvertisement, flags: Int64) {
            result.add("co2", "ppm", carbonDioxide)
            let indices = [
                ("voc-index", volatile << 1 | flags >> 6 & 1),
                ("nox-index", nitrogen << 1 | flags >> 7 & 1),
            ]
            for (name, value) in indices { result.add(name, "1", value == 0x1ff ? nil : value) }
            result.add("calibrating", isOn: flags & 1 == 1)
        }
    }
}

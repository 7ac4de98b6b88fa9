import Testing

@testable import Configuration

/// What people get wrong in an entry under `sensors`, and what they are told.
struct SensorMistakeTests {
    static let aPartIsNoDriverExamples: [(String, String)] = [
        ("{driver: bme280}", "unknown driver bme280; write {driver: iio, device: bme280}"),
        ("{driver: DHT22, pin: 4}", "unknown driver DHT22; write {driver: iio, device: dht11}"),
        ("{driver: ds18b20}", "unknown driver ds18b20; write {driver: w1}"),
        (
            "{driver: pms5003}",
            "unknown driver pms5003; write {driver: serial, device: /dev/serial0, "
                + "protocol: pms5003}"
        ),
        ("{driver: ruuvi}", "unknown driver ruuvi; write {driver: ble}"),
        ("{driver: scd41}", "unknown driver scd41; write {driver: i2c, device: scd4x}"),
    ]

    @Test(arguments: aPartIsNoDriverExamples)
    func aPartIsNoDriver(_ entry: String, _ message: String) {
        #expect(Sample.mistakes("sensors: [\(entry)]") == ["2:20: " + message])
    }

    /// What is advised is right itself.
    @Test(arguments: ["bme280", "si7021", "sht31", "ds18b20", "mhz19", "gps", "scd40", "rain"])
    func whatIsAdvisedHasNoMistake(_ word: String) throws {
        let entry = try #require(SensorParts.entry(for: word))
        #expect(Sample.mistakes("sensors: [\(entry)]") == [])
    }

    @Test(arguments: [
        ("°C", "write Cel"), ("F", "write \"[degF]\", in quotation marks"),
        ("inHg", "write \"[in_i'Hg]\", in quotation marks"), ("mmHg", "write mm[Hg]"),
        ("mph", "write \"[mi_i]/h\", in quotation marks"),
        ("%RH", "leave it out: who measures in it gives it so"), ("hpa", "did you mean hPa?"),
    ])
    func aUnitAsPeopleWriteIt(_ unit: String, _ advice: String) {
        let entry = "sensors: [{driver: system, channels: {uptime: {unit: \"\(unit)\"}}}]"
        #expect(
            Sample.mistakes(entry) == [
                "2:54: unit is \(unit), to which nothing can be converted; \(advice)"
            ])
    }

    /// Who writes 48 has read 0x48 on the part, or has reckoned; nobody knows.
    @Test(arguments: [
        ("48", "write 0x48, or 0x30 if 48 is decimal"), ("4a", "write 0x4a"),
        ("72", "write 0x72, or 0x48 if 72 is decimal"), ("98", "write 0x62"),
        ("8", "write 0x8, or 0x08 if 8 is decimal"), ("200", "it must be 0x08 to 0x77"),
        ("0x07", "it must be 0x08 to 0x77"), ("0x+9", "it must be 0x08 to 0x77"),
        ("7", "it must be 0x08 to 0x77"),
    ])
    func anI2CAddressIsHexadecimal(_ address: String, _ advice: String) {
        let entry = "sensors: [{driver: i2c, device: ads1115, address: \(address)}]"
        #expect(Sample.mistakes(entry) == ["2:51: address is '\(address)'; \(advice)"])
    }

    @Test func anI2CAddressIsTakenAsTheDataSheetHasIt() {
        for (text, number) in [("0x48", 0x48), ("0x4A", 0x4a), ("0x08", 8), ("0x8", 8)] {
            let entry = "sensors: [{driver: i2c, device: ads1115, address: \(text)}]"
            guard case .i2c(let i2c)? = Sample.decode(entry).settings?.sensors.first?.driver else {
                Issue.record("\(text) is refused")
                continue
            }
            #expect(i2c.address == number)
        }
    }

    /// A list of lists is nothing that a key can be; `1x` only a text or a path.
    @Test(arguments: SensorSettings.kinds.map(\.name))
    func nonsenseIsAMistakeForEveryKey(_ driver: String) throws {
        let kind = try #require(SensorSettings.kinds.first { $0.name == driver })
        for key in kind.table.keys where key.name != "driver" {
            for value in ["[[]]", "1x"] {
                let found = Sample.mistakes(
                    "sensors: [{driver: \(driver), \(key.name): \(value)}]")
                switch key.form {
                case .text, .path: #expect(!found.isEmpty || value == "1x", "\(key.name)")
                default: #expect(!found.isEmpty, "\(key.name): \(value)")
                }
            }
        }
    }

    @Test func aUnitInBracketsNeedsQuotationMarks() {
        #expect(
            Sample.mistakes("sensors: [{driver: system, channels: {uptime: {unit: [degF]}}}]") == [
                "2:54: unit stands in brackets without quotation marks; write \"[degF]\""
            ])
    }

    static let aChannelThatCannotBeExamples: [(String, String, String)] = [
        (
            "driver: iio, device: bme280", "temperature",
            "names begin with the device's, such as bme280.temperature: "
                + "`rivulet sensors --read` shows them"
        ),
        ("driver: w1", "28-0001a0115e01", "names begin with w1., such as w1.28-0001a0115e01"),
        (
            "driver: i2c, device: scd4x, name: air", "co2",
            "names begin with air., such as air.co2"
        ),
        (
            "driver: gpio, pin: GPIO17, name: rain, count: falling", "GPIO17",
            "there are rain and rain.rate"
        ),
        ("driver: gpio, pin: GPIO17", "gpio17", "there is only GPIO17"),
    ]

    @Test(arguments: aChannelThatCannotBeExamples) func aChannelThatCannotBe(
        _ entry: String, _ name: String, _ advice: String
    ) {
        let messages = Sample.mistakes("sensors: [{\(entry), channels: {\(name): {scale: 2}}}]")
        #expect(messages.count == 1)
        #expect(
            messages.first?.hasSuffix(
                ": no channel of this sensor is called \(name); \(advice)") == true)
    }

    static let aChannelThatCanBeExamples: [String] = [
        "driver: iio, channels: {bme280@1-0076.pressure: {unit: hPa}}",
        "driver: w1, channels: {w1.28-0001a0115e01: {name: bed}}",
        "driver: ble, address: \"aa:bb:cc:dd:ee:ff\", channels: "
            + "{\"AA:BB:CC:DD:EE:FF.humidity\": {deadband: 1}}",
        "driver: ble, channels: {\"AA:BB:CC:DD:EE:FF.humidity\": {deadband: 1}}",
        "driver: gpio, pin: GPIO17, count: both, channels: {GPIO17.rate: {deadband: 1}}",
        "driver: serial, device: /dev/x, protocol: nmea, channels: {speed: {deadband: 1}}",
    ]

    @Test(arguments: aChannelThatCanBeExamples) func aChannelThatCanBe(_ entry: String) {
        #expect(Sample.mistakes("sensors: [{\(entry)}]") == [])
    }

    static let aUnitOfAnotherQuantityExamples: [(String, String, String, String)] = [
        (
            "driver: w1", "w1.28-0001a0115e01", "m",
            "w1.28-0001a0115e01 is in Cel; write K, [degF], mCel, or leave it out"
        ),
        (
            "driver: i2c, device: scd4x, name: air", "air.co2", "Cel",
            "air.co2 is in ppm; write %, /, /100, /1000, ppb, or leave it out"
        ),
        (
            "driver: serial, device: /dev/x, protocol: nmea, name: boat", "boat.lat", "km",
            "boat.lat is in lat; leave it out"
        ),
        (
            "driver: gpio, pin: GPIO5, name: rain, count: both", "rain", "mm",
            "rain has no unit that could be changed; say which it has with the key unit of the "
                + "sensor"
        ),
        (
            "driver: gpio, pin: GPIO5, name: door", "door", "ppm",
            "door has no unit that could be changed; leave it out"
        ),
        (
            "driver: ble, address: \"AA:BB:CC:DD:EE:FF\", name: tag", "tag.pressure", "kWh",
            "tag.pressure is in Pa; write MPa, [in_i'Hg], [psi], bar, hPa, kPa, mbar, mm[Hg], or "
                + "leave it out"
        ),
        (
            "driver: system", "disk.free /", "s",
            "disk.free / is in B; write GB, GiB, KiB, MB, MiB, bit, kB, or leave it out"
        ),
    ]

    /// What can be known without the device; the place is that of the unit.
    @Test(arguments: aUnitOfAnotherQuantityExamples) func aUnitOfAnotherQuantity(
        _ entry: String, _ channel: String, _ unit: String, _ advice: String
    ) {
        let before = "sensors: [{\(entry), channels: {\"\(channel)\": {unit: "
        #expect(
            Sample.mistakes(before + unit + "}}}]") == [
                "2:\(before.utf8.count + 1): unit is \(unit), and \(advice)"
            ])
    }

    static let aUnitOfTheQuantityOrOneThatOnlyTheDeviceKnowsExamples: [String] = [
        "driver: w1, channels: {w1.28-0001a0115e01: {unit: \"[degF]\"}}",
        "driver: iio, channels: {bme280.temperature: {unit: m}}",
        "driver: gpio, pin: GPIO5, count: both, unit: kWh, rate-unit: kW, "
            + "channels: {GPIO5: {unit: MJ}, GPIO5.rate: {unit: W}}",
        "driver: ble, channels: {\"AA:BB:CC:DD:EE:FF.distance\": {unit: cm}}",
        "driver: command, run: [/bin/co2], unit: ppm, channels: {co2: {unit: \"%\"}}",
        "driver: serial, device: /dev/x, protocol: pms7003, channels: {pm2.5: {unit: mg/m3}}",
    ]

    @Test(arguments: aUnitOfTheQuantityOrOneThatOnlyTheDeviceKnowsExamples)
    func aUnitOfTheQuantityOrOneThatOnlyTheDeviceKnows(_ entry: String) {
        #expect(Sample.mistakes("sensors: [{\(entry)}]") == [])
    }

    @Test(arguments: ["collector", "viewer"])
    func whoTakesReadingsHasNoSensors(_ role: String) {
        #expect(
            Sample.mistakes("role: \(role)\nsensors: [{driver: system}]") == [
                "3:10: a \(role) reads no sensors; leave them out, and run an agent beside it: "
                    + "deploy/examples/lone-board.yaml"
            ])
    }
}

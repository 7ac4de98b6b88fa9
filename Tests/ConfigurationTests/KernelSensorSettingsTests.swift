import Testing

@testable import Configuration

/// The keys of iio, hwmon, thermal, w1 and power.
struct KernelSensorSettingsTests {
    private func drivers(_ text: String) -> [SensorSettings.Driver] {
        Sample.decode(text).settings?.sensors.map(\.driver) ?? []
    }

    @Test func keysAreDecoded() throws {
        let found = drivers(
            """
            sensors:
              - {driver: iio, device: bme280, read: [temperature], stale-after: 2h}
              - {driver: iio, device: mcp3208, buffer: true, trigger: fast, frequency: 12.5}
              - {driver: hwmon, device: 1-0048}
              - {driver: thermal, zone: cpu-thermal}
              - {driver: w1, ids: [28-0001a0115e01, 10-000802824e58], stale-after: 1d}
              - {driver: power}
            """)
        try #require(found.count == 6)
        guard case .iio(let air) = found[0], case .iio(let adc) = found[1],
            case .hwmon(let chip) = found[2], case .thermal(let zone) = found[3],
            case .w1(let bus) = found[4], case .power(let power) = found[5]
        else {
            Issue.record("other drivers: \(found)")
            return
        }
        #expect(air.device == "bme280" && air.channels == ["temperature"] && !air.isBuffered)
        #expect(air.staleAfter == .seconds(7_200))
        #expect(adc.isBuffered && adc.trigger == "fast" && adc.frequency == "12.5")
        #expect(chip.device == "1-0048" && chip.staleAfter == .zero)
        #expect(zone.zone == "cpu-thermal")
        #expect(bus.ids == ["28-0001a0115e01", "10-000802824e58"])
        #expect(bus.staleAfter == .seconds(86_400))
        #expect(power.supply == nil)
    }

    static let mistakesAreToldExamples: [(String, String)] = [
        ("{driver: iio, buffer: true}", "2:33: buffer needs the key device: which device's buffer"),
        (
            "{driver: iio, device: a, trigger: t}",
            "2:45: trigger is of use only with buffer: true"
        ),
        (
            "{driver: iio, device: a, buffer: true, frequency: fast}",
            "2:61: frequency is 'fast'; it must be hertz such as 250 or 12.5, above 0 and at most "
                + "1000000"
        ),
        (
            "{driver: w1, ids: [28-0001A0115E01]}",
            "2:30: ids has '28-0001A0115E01'; it must be an id such as 28-0001a0115e01, of family "
                + "10, 22, 28, 3b or 42"
        ),
        (
            "{driver: w1, ids: []}",
            "2:29: ids is empty; leave it out to read all thermometers"
        ),
        (
            "{driver: hwmon, stale-after: 91d}",
            "2:40: stale-after is '91d'; it must be a duration such as 250ms, 10s, 5min, 2h or "
                + "90d, 0 to 90d"
        ),
        (
            "{driver: hwmon}, {driver: hwmon}",
            "2:28: the hwmon chip (all) is read already by the sensor in line 2; leave one out or "
                + "name it otherwise"
        ),
        (
            "{driver: iio}, {driver: iio, device: bme280}",
            "2:26: the IIO device bme280 is read already by the sensor in line 2; leave one out or "
                + "name it otherwise"
        ),
        (
            "{driver: w1, ids: [28-0001a0115e01, 28-0001a0115e02]}, "
                + "{driver: w1, ids: [28-0001a0115e03, 28-0001a0115e02]}",
            "2:66: the thermometer 28-0001a0115e02 is read already by the sensor in line 2; leave "
                + "one out or name it otherwise"
        ),
        (
            "{driver: w1, ids: [28-0001a0115e01]}, {driver: w1}",
            "2:49: the thermometer (all) is read already by the sensor in line 2; leave one out or "
                + "name it otherwise"
        ),
    ]

    @Test(arguments: mistakesAreToldExamples)
    func mistakesAreTold(_ sensor: String, _ expected: String) {
        #expect(Sample.mistakes("sensors: [" + sensor + "]") == [expected])
    }

    @Test(arguments: ["0", "0.0", "-1", "1e3", "1.", ".5", "1000001", "١", "1.2.3", "inf"])
    func aFrequencyIsAPlainNumber(_ text: String) {
        let sensor = "{driver: iio, device: a, buffer: true, frequency: \"" + text + "\"}"
        #expect(Sample.mistakes("sensors: [" + sensor + "]").count == 1)
    }
}

import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

struct DeviceRosterTests {
    private func device(_ name: String, _ location: String) -> KernelDevice {
        KernelDevice(entry: location, folder: "", name: name, label: nil, location: location)
    }

    @Test func aDeviceIsWhereItsBusHasIt() {
        let tree = SysfsTree()
        let places = [
            ("sys/devices/platform/soc/3f804000.i2c/i2c-1/1-0048/hwmon/hwmon0", "1-0048"),
            ("sys/devices/platform/dht11@4/hwmon1", "dht11@4"),
            ("sys/devices/virtual/thermal/thermal_zone0/hwmon2", "thermal_zone0"),
            ("sys/devices/virtual/hwmon/hwmon3", "hwmon3"),
            ("sys/devices/platform/hwmon4", "hwmon4"),
            ("sys/class/hwmon/hwmon5", "hwmon5"),
        ]
        for (number, place) in places.enumerated() {
            tree.device(place.0, as: "sys/class/hwmon/hwmon\(number)", ["name": "a\n"])
        }
        let found = KernelDevice.all(in: tree.root + "/sys/class/hwmon", prefix: "hwmon")
        #expect(found.map(\.location) == places.map(\.1))
    }

    /// hdc100x, si7005 and si7020 call themselves by their address.
    @Test func aNameThatIsTheAddressIsThatOfThePart() {
        let tree = SysfsTree()
        let parent = "sys/devices/platform/soc/3f804000.i2c/i2c-1/1-0040"
        tree.write(parent, ["name": "hdc1080\n"])
        tree.device(
            "\(parent)/iio:device0", as: "sys/bus/iio/devices/iio:device0",
            ["name": "1-0040\n", "in_temp_input": "126000\n"])
        let found = KernelDevice.all(in: tree.root + "/sys/bus/iio/devices", prefix: "iio:device")
        #expect(found.map(\.name) == ["hdc1080"])
        #expect(found.map(\.location) == ["1-0040"])
        #expect(
            IIODriver(device: "1-0040", root: tree.root).sample().map(\.text) == [
                "hdc1080.temperature Cel null:out-of-range"
            ])
    }

    @Test func devicesAreBoundedAndThoseWithOneNameAndPlaceAreToldApart() {
        let tree = SysfsTree()
        for number in 0..<100 {
            tree.device(
                "sys/devices/spi0.0/iio:device\(number)",
                as: "sys/bus/iio/devices/iio:device\(number)", ["name": "imu\n"])
        }
        let found = KernelDevice.all(in: tree.root + "/sys/bus/iio/devices", prefix: "iio:device")
        #expect(found.count == Limits.kernelDevicesMax)
        #expect(found.last?.entry == "iio:device63")
        #expect(found.first?.location == "spi0.0.iio:device0")
    }

    @Test func whatIsMissingIsNullAndTheLongestMissingMakeRoom() {
        var seen = SeenChannels()
        let first = (0..<100).map { Measurement("a\($0)", "V", 1) }
        let second = (0..<100).map { Measurement("b\($0)", "V", 1) }
        #expect(seen.completing(first).count == 100)
        let both = seen.completing(second)
        #expect(both.count == Limits.channelsPerSensorMax)
        #expect(both.filter { $0.outcome == .null(.absent) }.map(\.channel).first == "a72")
        #expect(seen.leftOutCount == 0)
        #expect(seen.completing([]).count == Limits.channelsPerSensorMax)
        #expect(seen.completing(first + second).count == Limits.channelsPerSensorMax)
        #expect(seen.leftOutCount == 72)
    }

    @Test func aDeviceRestsOnlyAsAWhole() {
        var watch = FrozenWatch()
        func look(_ temperature: Int64?, _ humidity: Int64, at seconds: Int64) -> Bool {
            let outcome = temperature.map { Outcome.value(DecimalValue(coefficient: $0)) }
            return watch.isFrozen(
                "dht",
                [
                    Measurement("t", "Cel", outcome ?? .null(.timeout)),
                    Measurement("h", "%RH", humidity),
                ], limit: .seconds(100), now: Instant(nanoseconds: seconds * 1_000_000_000))
        }
        #expect(!look(20, 40, at: 0))
        #expect(!look(20, 41, at: 60))
        #expect(!look(nil, 41, at: 120))
        #expect(!look(20, 41, at: 159), "a failure in between is no news")
        #expect(look(20, 41, at: 160))
        #expect(!look(21, 41, at: 161))
    }

    @Test func watchingIsBounded() {
        var watch = FrozenWatch()
        for number in 0..<1_000 {
            let values = [Measurement("t", "Cel", 1)]
            let isFrozen = watch.isFrozen("d\(number)", values, limit: .zero, now: .zero)
            #expect(isFrozen == (number < Limits.kernelDevicesMax))
        }
    }

    @Test func namesAreCutAtTheDevice() {
        let name = DeviceRoster.joined(String(repeating: "x", count: 80), "temperature")
        #expect(name.utf8.count == 63)
        #expect(name.hasSuffix("x.temperature"))
        #expect(DeviceRoster.joined("", String(repeating: "é", count: 80)).utf8.count <= 63)
    }

    @Test func rangesIncludeTheirEnds() throws {
        let part = try #require(SensorPart.named("DHT11@4"))
        for (text, isGood) in [
            ("-40", true), ("80.000", true), ("80.001", false), ("-40.1", false),
        ] {
            let value = try DecimalValue(parsing: text)
            #expect(part.admits(value, "Cel") == isGood)
        }
        #expect(part.admits(DecimalValue(coefficient: 5_000), "V"))
        #expect(SensorPart.named("unheard-of") == nil)
    }
}

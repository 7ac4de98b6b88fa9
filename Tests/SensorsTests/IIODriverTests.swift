import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

struct IIODriverTests {
    private let tree = SysfsTree()
    private let clock = ManualClock()

    private static let i2c = "sys/devices/platform/soc/3f804000.i2c/i2c-1"

    private func bme280(
        _ number: Int = 0, address: String = "1-0076", temperature: String = "21560"
    ) {
        tree.device(
            "\(Self.i2c)/\(address)/iio:device\(number)",
            as: "sys/bus/iio/devices/iio:device\(number)",
            [
                "name": "bme280\n", "in_temp_input": temperature + "\n",
                "in_pressure_input": "100.812050781\n", "in_humidityrelative_input": "45123\n",
                "in_temp_oversampling_ratio": "2\n", "uevent": "DEVTYPE=iio_device\n",
            ])
    }

    private func driver(
        _ device: String? = nil, channels: [String] = [], staleAfter: Duration = .zero
    ) -> IIODriver {
        IIODriver(
            device: device, channels: channels, staleAfter: staleAfter, root: tree.root,
            clock: clock.read)
    }

    @Test func aBME280IsRead() {
        bme280()
        #expect(
            driver().sample().map(\.text) == [
                "bme280.humidity %RH 45.123", "bme280.pressure Pa 100812.05",
                "bme280.temperature Cel 21.560",
            ])
    }

    @Test func aConverterIsScaledWithWhatItsChannelsShareAndNamedByItsLabels() {
        tree.device(
            "\(Self.i2c)/1-0048/iio:device3", as: "sys/bus/iio/devices/iio:device3",
            [
                "name": "ads1115\n", "in_voltage0_raw": "16000\n",
                "in_voltage0_scale": "0.125000000\n",
                "in_voltage1_raw": "-8\n", "in_voltage_scale": "2\n",
                "in_voltage1_label": "battery\n",
                "in_voltage0-voltage1_raw": "4\n", "in_voltage0-voltage1_scale": "broken\n",
            ])
        #expect(
            driver().sample().map(\.text) == [
                "ads1115.voltage0 V 2.000000", "ads1115.voltage0-voltage1 V null:failed",
                "ads1115.battery V -0.016",
            ])
        #expect(
            driver(channels: ["battery"]).sample().map(\.text) == ["ads1115.battery V -0.016"])
        #expect(
            driver(channels: ["voltage0"]).sample().map(\.text) == ["ads1115.voltage0 V 2.000000"])
    }

    @Test(arguments: ["bme280", "1-0077", "iio:device1", "1", "shed"])
    func aDeviceIsChosenByAnyOfItsNames(_ wanted: String) {
        bme280(0, address: "1-0076")
        bme280(1, address: "1-0077", temperature: "-3000")
        tree.write("\(Self.i2c)/1-0077/iio:device1", ["label": "shed\n"])
        let texts = driver(wanted, channels: ["temperature"]).sample().map(\.text)
        #expect(texts.contains("shed.temperature Cel -3.000"))
        #expect(texts.count == (wanted == "bme280" ? 2 : 1))
    }

    @Test func namesakesAreToldApartByWhereTheyAreAttached() {
        bme280(0, address: "1-0076")
        bme280(1, address: "1-0077")
        let names = driver(channels: ["temperature"]).sample().map(\.channel)
        #expect(names == ["bme280@1-0076.temperature", "bme280@1-0077.temperature"])
    }

    @Test func devicesComeAndGoAndAreTheSameWithAnotherNumber() {
        let all = driver(channels: ["temperature"])
        #expect(all.sample() == [])
        #expect(all.diagnostic == "no such device")
        bme280(0, address: "1-0076")
        #expect(all.sample().map(\.text) == ["bme280.temperature Cel 21.560"])
        bme280(1, address: "1-0077", temperature: "5000")
        #expect(
            all.sample().map(\.text) == [
                "bme280.temperature Cel 21.560", "bme280@1-0077.temperature Cel 5.000",
            ])
        tree.remove("sys/bus/iio/devices/iio:device0")
        tree.remove("\(Self.i2c)/1-0076")
        #expect(
            all.sample().map(\.text) == [
                "bme280@1-0077.temperature Cel 5.000", "bme280.temperature Cel null:absent",
            ])
        bme280(7, address: "1-0076", temperature: "22000")
        #expect(
            all.sample().map(\.text) == [
                "bme280@1-0077.temperature Cel 5.000", "bme280.temperature Cel 22.000",
            ])
    }

    @Test func oneThatIsNotThereIsNull() {
        #expect(driver("bmp280").sample().map(\.text) == ["bmp280 1 null:absent"])
    }

    @Test func whatCannotBeReadIsNullAndTheRestGoesOn() {
        bme280(temperature: "")
        tree.write("\(Self.i2c)/1-0076/iio:device0", ["in_humidityrelative_input": "wet\n"])
        #expect(
            driver().sample().map(\.text) == [
                "bme280.humidity %RH null:malformed", "bme280.pressure Pa 100812.05",
                "bme280.temperature Cel null:failed",
            ])
    }

    @Test func whatThePartCannotMeasureIsMarked() {
        bme280(temperature: "85001")
        tree.write(
            "\(Self.i2c)/1-0076/iio:device0",
            ["in_humidityrelative_input": "100000\n", "in_pressure_input": "29.999\n"])
        #expect(
            driver().sample().map(\.text) == [
                "bme280.humidity %RH 100.000", "bme280.pressure Pa null:out-of-range",
                "bme280.temperature Cel null:out-of-range",
            ])
    }

    /// The classic of a DHT22 that has hung itself up.
    @Test func aDHTThatRepeatsItselfForADayIsFrozen() {
        let folder = "sys/devices/platform/dht11@4/iio:device0"
        tree.device(
            folder, as: "sys/bus/iio/devices/iio:device0",
            [
                "name": "dht11@4\n", "in_temp_input": "23500\n",
                "in_humidityrelative_input": "41200\n",
            ])
        // The kernel's driver takes its name from the device tree.
        let dht = driver()
        _ = dht.sample()
        clock.advance(.seconds(86_399))
        #expect(dht.sample().map(\.text).last == "dht11@4.temperature Cel 23.500")
        clock.advance(.seconds(1))
        #expect(
            dht.sample().map(\.text) == [
                "dht11@4.humidity %RH null:frozen", "dht11@4.temperature Cel null:frozen",
            ])
        tree.write(folder, ["in_humidityrelative_input": "41300\n"])
        #expect(dht.sample().map(\.text).last == "dht11@4.temperature Cel 23.500")
    }

    @Test func aPartWithoutACommonTimeIsNeverFrozenUnlessAsked() {
        tree.device(
            "\(Self.i2c)/1-0018/iio:device0", as: "sys/bus/iio/devices/iio:device0",
            ["name": "mcp9600\n", "in_temp_input": "20000\n"])
        let (never, hour) = (driver(), driver(staleAfter: .seconds(3_600)))
        for reader in [never, hour] { _ = reader.sample() }
        clock.advance(.seconds(90 * 86_400))
        #expect(never.sample().map(\.text) == ["mcp9600.temperature Cel 20.000"])
        #expect(hour.sample().map(\.text) == ["mcp9600.temperature Cel null:frozen"])
    }

    /// The kernel calls every MAX31855 so.
    @Test func aThermocoupleIsBelievedWhereAThermometerIsNot() {
        for (number, name) in ["maxim_thermocouple", "tmp117"].enumerated() {
            tree.device(
                "sys/devices/spi0.\(number)/iio:device\(number)",
                as: "sys/bus/iio/devices/iio:device\(number)",
                ["name": name + "\n", "in_temp_raw": "4800\n", "in_temp_scale": "250\n"])
        }
        #expect(
            driver().sample().map(\.text) == [
                "maxim_thermocouple.temperature Cel 1200.00",
                "tmp117.temperature Cel null:out-of-range",
            ])
    }

    @Test func aQuaternionIsFourChannels() {
        tree.write(
            "sys/bus/iio/devices/iio:device0",
            [
                "name": "dev_rotation\n", "in_rot_quaternion_raw": "1 -2 3 4 \n",
                "in_rot_scale": "0.1\n", "in_rot_from_north_raw": "1 2\n",
            ])
        #expect(
            driver().sample().map(\.text) == [
                "dev_rotation.rotation.from.north deg null:malformed",
                "dev_rotation.rotation.quaternion.x 1 0.1",
                "dev_rotation.rotation.quaternion.y 1 -0.2",
                "dev_rotation.rotation.quaternion.z 1 0.3",
                "dev_rotation.rotation.quaternion.w 1 0.4",
            ])
    }

    @Test func channelsAreBoundedAndThoseLeftOutAreTold() {
        var files = ["name": "wide\n"]
        for index in 0..<200 { files["in_voltage\(index)_input"] = "1\n" }
        tree.write("sys/bus/iio/devices/iio:device0", files)
        let wide = driver()
        #expect(wide.sample().count == Limits.channelsPerSensorMax)
        #expect(wide.diagnostic == "1 device; 72 channels left out, there are too many")
    }

    @Test func namesOfAnyKindMakeUsableChannels() {
        tree.write(
            "sys/bus/iio/devices/iio:device0",
            [
                "name": "a\u{1}b" + String(repeating: "ü", count: 300) + "\n",
                "in_temp_input": "1\n",
            ])
        for measurement in driver().sample() {
            let description = ChannelDescription(name: measurement.channel)
            #expect(description != nil, "\(measurement.channel)")
            #expect(measurement.channel.hasSuffix(".temperature"))
        }
    }
}

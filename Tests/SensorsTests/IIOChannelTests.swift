import Telemetry
import Testing

@testable import Sensors

struct IIOChannelTests {
    @Test(arguments: [
        ("in_temp_input", "temperature"), ("in_humidityrelative_raw", "humidity"),
        ("in_voltage0_raw", "voltage0"), ("in_voltage0-voltage1_raw", "voltage0-voltage1"),
        ("in_accel_x_raw", "acceleration.x"), ("in_intensity0_ir_raw", "intensity0.ir"),
        ("in_voltage8_supply_raw", "voltage8.supply"),
        ("in_temp_ambient_raw", "temperature.ambient"),
        ("in_concentration_co2_raw", "concentration.co2"),
        ("in_massconcentration_pm2p5_input", "particles.pm2p5"),
        ("in_velocity_sqrt(x^2+y^2+z^2)_input", "velocity.sqrt(x^2+y^2+z^2)"),
        ("in_wonder_raw", "wonder"),
    ])
    func channelsHaveNames(_ attribute: String, _ name: String) throws {
        let channel = try #require(IIOChannel(attribute: attribute))
        #expect(channel.name == name)
        #expect(channel.attribute == attribute)
    }

    @Test(arguments: [
        "in__raw", "in_raw", "_raw", "in_", "", "in_0_raw", "out_voltage0_raw", "in_temp_scale",
        "in_timestamp_input", "in__input", "name",
    ])
    func otherAttributesAreNoChannels(_ attribute: String) {
        #expect(IIOChannel(attribute: attribute) == nil)
    }

    @Test func aScaleIsLookedForFromTheChannelToTheDevice() throws {
        let pair = try #require(IIOChannel(attribute: "in_voltage0-voltage1_raw"))
        #expect(
            pair.attributes("scale") == [
                "in_voltage0-voltage1_scale", "in_voltage-voltage_scale", "in_voltage_scale",
                "in_scale", "scale",
            ])
        let light = try #require(IIOChannel(attribute: "in_intensity0_ir_raw"))
        #expect(
            light.attributes("scale") == [
                "in_intensity0_ir_scale", "in_intensity_ir_scale", "in_intensity0_scale",
                "in_intensity_scale", "in_scale", "scale",
            ])
    }

    @Test func whatTheKernelHasConvertedIsPreferred() {
        let channels = IIOChannel.all(
            in: ["in_temp_raw", "in_temp_input", "in_temp_scale", "in_pressure_raw"])
        #expect(channels.map(\.attribute) == ["in_pressure_raw", "in_temp_input"])
    }

    /// Numbers as drivers print them, worked out by hand.
    @Test(arguments: [
        // ADS1115 at ±4.096 V: 0.125 mV a step.
        ("in_voltage0_raw", "16000", "0", "0.125000000", "V 2.000000"),
        ("in_voltage0_raw", "-1", "0", "0.125000000", "V -0.000125"),
        // MCP3208 at 3.3 V: 3300/4096 mV, a scale that the kernel cut off.
        ("in_voltage0_raw", "1234", "0", "0.805664062", "V 0.994189"),
        // AD7793, 24 bits, 139.7 nV a step: a tenth of a step stays.
        ("in_voltage0_raw", "8388608", "-8388607", "0.000139698", "V 0.00000014"),
        // HDC1080: (raw − 15887.515151) × 2.517700195 m°C.
        ("in_temp_raw", "26000", "-15887.515151", "2.517700195", "Cel 25.4602"),
        ("in_humidityrelative_raw", "32768", "0", "1.525878906", "%RH 50.0000"),
        // SCD41: per cent.
        ("in_concentration_co2_raw", "415", "0", "0.000100000", "ppm 415"),
        // MPL3115: kPa.
        ("in_pressure_raw", "405300", "0", "0.000250000", "Pa 101325.00"),
        // HMC5883L: gauss.
        ("in_magn_x_raw", "-300", "0", "0.000917431", "T -0.0000275229"),
        ("in_accel_z_raw", "16384", "0", "0.000598", "m/s2 9.797632"),
        ("in_capacitance0_raw", "2048000", "0", "0.001", "F 0.000002048000"),
        ("in_resistance_raw", "1000", "0", "0.5", "Ohm 500.0"),
    ])
    func rawValuesBecomeUnits(
        _ attribute: String, _ raw: String, _ offset: String, _ scale: String, _ expected: String
    ) throws {
        let channel = try #require(IIOChannel(attribute: attribute))
        let offset = try DecimalValue(parsing: offset)
        let scale = try DecimalValue(parsing: scale)
        let conversion = try #require(IIOConversion(channel, offset: offset, scale: scale))
        let value = try #require(conversion.value(DecimalValue(parsing: raw)))
        #expect("\(conversion.unit) \(value)" == expected)
    }

    @Test(arguments: [
        // DHT11, BMP280 and SPS30 give processed values.
        ("in_temp_input", "23500", "Cel 23.500"), ("in_temp_input", "-62", "Cel -0.062"),
        ("in_humidityrelative_input", "41200", "%RH 41.200"),
        ("in_pressure_input", "101.325234375", "Pa 101325.23"),
        ("in_massconcentration_pm2p5_input", "3.140000", "ug/m3 3.140"),
        ("in_illuminance_input", "12.345600", "lx 12.346"),
    ])
    func processedValuesBecomeUnits(
        _ attribute: String, _ text: String, _ expected: String
    ) throws {
        let channel = try #require(IIOChannel(attribute: attribute))
        let conversion = try #require(IIOConversion(channel))
        let value = try #require(conversion.value(DecimalValue(parsing: text)))
        #expect("\(conversion.unit) \(value)" == expected)
    }

    @Test func aRawValueWithoutAScaleIsABareNumber() throws {
        let channel = try #require(IIOChannel(attribute: "in_proximity_raw"))
        let conversion = try #require(IIOConversion(channel))
        #expect(conversion.unit == "1")
        #expect(conversion.value(DecimalValue(coefficient: 2_047))?.coefficient == 2_047)
        let none = DecimalValue(coefficient: 0)
        #expect(IIOConversion(channel, scale: none) == nil)
    }

    /// "If no offset or scale is present, output should be considered as processed with the unit in
    /// milliamps" (sysfs-bus-iio, in_currentX_raw).
    @Test func aCurrentWithoutAScaleIsInMilliamperes() throws {
        let channel = try #require(IIOChannel(attribute: "in_current0_raw"))
        let conversion = try #require(IIOConversion(channel))
        let value = try #require(conversion.value(DecimalValue(coefficient: 1_500)))
        #expect("\(conversion.unit) \(value)" == "A 1.500")
        let offset = DecimalValue(coefficient: 3)
        #expect(IIOConversion(channel, offset: offset)?.unit == "1")
    }

    @Test(arguments: [Int64.max, Int64.min, Int64.min + 1, 1 << 62, 9_999_999_999_999_999])
    func noNumberIsTooLargeToTry(_ raw: Int64) throws {
        let channel = try #require(IIOChannel(attribute: "in_voltage0_raw"))
        for text in ["0.805664062", "9223372036854775807", "1e120", "1e-120", "-0.5"] {
            let scale = try DecimalValue(parsing: text)
            for offset in [DecimalValue(coefficient: 0), scale] {
                let conversion = IIOConversion(channel, offset: offset, scale: scale)
                let value = conversion?.value(DecimalValue(coefficient: raw))
                guard offset.coefficient == 0 else { continue }
                guard let value else {
                    Issue.record("\(raw) × \(text) is none")
                    continue
                }
                let expected = Double(raw) * scale.double / 1_000
                #expect(abs(value.double - expected) <= abs(expected) * 1e-12)
            }
        }
    }
}

import Configuration
import Foundation
import Testing

@testable import Boards

struct AttachedSensorsTests {
    static let drivers = [
        "system", "iio", "hwmon", "thermal", "w1", "power", "gpio", "serial", "ble",
    ]

    /// A Raspberry Pi 4 as its kernel shows it, with a BME280, two DS18B20, a counter on the
    /// 1-Wire, a light sensor without a driver, a USB serial port and a UPS.
    private func raspberryPi() -> MachineRoot {
        let root = MachineRoot()
        let soc = "/sys/devices/platform/soc"
        let bme = "\(soc)/fe804000.i2c/i2c-1/1-0076/iio:device0"
        root.write(bme + "/name", "bme280\n")
        for file in [
            "in_temp_input", "in_pressure_input", "in_humidityrelative_input",
            "in_temp_oversampling_ratio", "sampling_frequency_available",
        ] {
            root.write("\(bme)/\(file)", "1\n")
        }
        root.link("/sys/bus/iio/devices/iio:device0", to: "../../.." + bme.dropFirst(4))
        root.write("/sys/bus/iio/devices/trigger0/name", "t\n")
        root.link(
            "/sys/bus/i2c/devices/i2c-1",
            to: "../../../devices/platform/soc/fe804000.i2c/i2c-1")
        root.write("\(soc)/fe804000.i2c/i2c-1/name", "bcm2835 (i2c@7e804000)\n")
        for (device, name) in [("1-0076", "bme280"), ("1-0023", "bh1750")] {
            let path = "\(soc)/fe804000.i2c/i2c-1/\(device)"
            root.write(path + "/name", name + "\n")
            root.link("/sys/bus/i2c/devices/\(device)", to: "../../.." + path.dropFirst(4))
        }
        root.makeFolder("/sys/bus/i2c/drivers/bmp280")
        root.link(
            "\(soc)/fe804000.i2c/i2c-1/1-0076/driver", to: root.path + "/sys/bus/i2c/drivers/bmp280"
        )
        for device in ["w1_bus_master1", "28-0316a2795bff", "28-0316a2795c00", "1d-0000000c1234"] {
            root.makeFolder("/sys/bus/w1/devices/\(device)")
        }
        root.write("/sys/class/thermal/thermal_zone0/type", "cpu-thermal\n")
        root.write("/sys/class/thermal/cooling_device0/type", "x\n")
        let devices = "/sys/devices"
        hwmon(root, 0, "cpu_thermal", "\(devices)/virtual/thermal/thermal_zone0", ["temp1_input"])
        hwmon(root, 1, "rpi_volt", "\(soc)/soc:firmware/hwmon", ["in0_lcrit_alarm"])
        hwmon(
            root, 2, "w1_slave_temp", "\(devices)/w1_bus_master1/28-0316a2795bff/hwmon",
            ["temp1_input"])
        hwmon(root, 3, "lm75", "\(soc)/fe804000.i2c/i2c-1/1-0048/hwmon", ["temp1_input"])
        hwmon(root, 10, "ups", "\(devices)/platform/power_supply/ups", ["in1_input"])
        root.write("/sys/class/power_supply/ups/type", "Battery\n")
        root.makeFolder("/sys/class/net/wlan0/wireless")
        root.makeFolder("/sys/class/net/eth0")
        root.write("/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0", "")
        root.makeFolder("/sys/class/bluetooth/hci0")
        root.makeFolder("/sys/class/bluetooth/hci0:11")
        root.link(
            "/sys/bus/gpio/devices/gpiochip0",
            to: "../../../devices/platform/soc/fe200000.gpio/gpiochip0")
        return root
    }

    private func hwmon(
        _ root: MachineRoot, _ number: Int, _ name: String, _ parent: String, _ values: [String]
    ) {
        let folder = "\(parent)/hwmon\(number)"
        root.write(folder + "/name", name + "\n")
        for value in values { root.write("\(folder)/\(value)", "0\n") }
        root.link("/sys/class/hwmon/hwmon\(number)", to: "../.." + folder.dropFirst(4))
    }

    @Test func everythingAttachedIsFound() {
        let root = raspberryPi()
        let entries = AttachedSensors(root: root.path).findings.compactMap { finding in
            finding.entry.map { (finding.isReady ? "" : "# ") + $0.driver + $0.text }
        }
        #expect(
            entries == [
                "system, every: 30s",
                "iio, device: bme280, every: 10s",
                "hwmon, device: lm75, every: 30s",
                "thermal, every: 30s",
                "w1, every: 30s",
                "power, every: 1min",
                "# gpio, pin: GPIO17, name: door, edges: both, bias: pull-up",
                "# serial, device: \"/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0\", "
                    + "protocol: line",
                "# ble, every: 30s",
            ])
    }

    @Test func whatIsToldOfThemIsWhatTheyAre() {
        let root = raspberryPi()
        let text = AttachedSensors(root: root.path).yaml(drivers: Self.drivers)
        for line in [
            "  # lm75 (1-0048): temp1_input\n",
            "  # bme280 (1-0076): humidityrelative, pressure, temp\n",
            "  # 1-Wire thermometers: 28-0316a2795bff, 28-0316a2795c00\n",
            "  # 1-Wire device 1d-0000000c1234: no thermometer, no driver of ours\n",
            "  # I²C device 1-0023 (bh1750) has no kernel driver: is its module there?\n",
            "  # thermal zones: cpu-thermal\n", "  # power supplies: ups (Battery)\n",
            "  # Wi-Fi: wlan0; ", "i2c-1 (bcm2835 (i2c@7e804000))", "Addresses are not tried out",
            "gpiochip0, fe200000.gpio", "  # Bluetooth: hci0. ",
            "  - {driver: iio, device: bme280, every: 10s}\n",
            "  # - {driver: gpio, pin: GPIO17, ", "  # - {driver: ble, every: 30s}\n",
        ] {
            #expect(text.contains(line), "\(line) is not in\n\(text)")
        }
        #expect(!text.contains("1-0076 (bme280) has no kernel driver"))
    }

    /// Whatever this version can read is good YAML for it; the rest is commented out.
    @Test func theYAMLIsAConfiguration() {
        let root = raspberryPi()
        let text = AttachedSensors(root: root.path).yaml(drivers: SensorSettings.names)
        switch Settings.decode(Array(("trust: any\n" + text).utf8), file: "f") {
        case .good(let settings): #expect(!settings.sensors.isEmpty)
        case .bad(let mistakes): Issue.record("\(mistakes)\n\(text)")
        }
        if !SensorSettings.names.contains("iio") {
            #expect(text.contains("# not in this version: - {driver: iio, device: bme280"))
        }
    }

    /// By where they are attached, which outlasts a boot; by number only where that is not known.
    @Test(arguments: [
        (["1-0076", "1-0077"], ["1-0076", "1-0077"]),
        (["1-0076", "1-0076"], ["iio:device0", "iio:device1"]),
        (["", ""], ["iio:device0", "iio:device1"]),
    ])
    func equalNamesAreToldApart(_ places: [String], _ keys: [String]) {
        let root = MachineRoot()
        for (number, place) in places.enumerated() {
            let entry = "/sys/bus/iio/devices/iio:device\(number)"
            let folder = place.isEmpty ? entry : "/sys/devices/i2c-1/\(place)/iio:device\(number)"
            root.write(folder + "/name", "bme280\n")
            root.write(folder + "/in_temp_input", "1\n")
            if !place.isEmpty { root.link(entry, to: "../../.." + folder.dropFirst(4)) }
        }
        let entries = AttachedSensors(root: root.path).findings.compactMap { $0.entry?.text }
        #expect(entries.dropFirst() == keys.map { ", device: \"\($0)\", every: 10s" }[...])
    }

    @Test func namesFromDevicesCannotBreakTheYAML() {
        let root = MachineRoot()
        let folder = "/sys/bus/iio/devices/iio:device0"
        root.write(folder + "/name", "a\"}, {driver: command, run: [/bin/sh]\u{7}}\n")
        root.write(folder + "/in_temp_input", "1\n")
        root.write("/sys/class/thermal/thermal_zone0/type", "x\r\n- {driver: system}\n")
        let text = AttachedSensors(root: root.path).yaml(drivers: ["system"])
        let plain = text.split(separator: "\n").filter { !$0.hasPrefix("  #") }
        #expect(plain == ["sensors:", "  - {driver: system, every: 30s}"])
    }

    /// libyaml's lines also end with these; what follows would be an entry.
    @Test(arguments: ["\u{85}", "\u{2028}", "\u{2029}"])
    func otherLineEndsDoNotEndAComment(_ end: String) {
        let root = MachineRoot()
        root.write(
            "/sys/class/thermal/thermal_zone0/type", "x\(end)  - {driver: thermal, every: 9s}\n")
        let text = AttachedSensors(root: root.path).yaml(drivers: ["system"])
        switch Settings.decode(Array(("trust: any\n" + text).utf8), file: "f") {
        case .good(let settings): #expect(settings.sensors.count == 1)
        case .bad(let mistakes): Issue.record("\(mistakes)\n\(text)")
        }
    }

    @Test func aNameThatTheConfigurationRefusesIsNotProposed() {
        let root = MachineRoot()
        let folder = "/sys/bus/iio/devices/iio:device0"
        root.write(folder + "/name", String(repeating: "n", count: 41) + "\n")
        root.write(folder + "/in_temp_input", "1\n")
        let entries = AttachedSensors(root: root.path).findings.compactMap { $0.entry?.text }
        #expect(entries.dropFirst() == [", device: \"iio:device0\", every: 10s"])
    }

    @Test func emptyMachineHasTheSystemOnly() {
        let root = MachineRoot()
        #expect(AttachedSensors(root: root.path).findings.count == 1)
    }

    @Test func busWithoutAThermometerSaysWhatToCheck() {
        let root = MachineRoot()
        root.makeFolder("/sys/bus/w1/devices/w1_bus_master1")
        let text = AttachedSensors(root: root.path).yaml(drivers: Self.drivers)
        #expect(text.contains("pull-up (4.7 kΩ to 3.3 V)"))
        #expect(!text.contains("driver: w1"))
    }

    @Test func numbersInNamesCount() {
        let names = ["hwmon10", "hwmon2", "hwmon", "i2c-1", "hwmon02"]
        let sorted = names.sorted(by: SystemTree.comesBefore)
        #expect(sorted == ["hwmon", "hwmon02", "hwmon2", "hwmon10", "i2c-1"])
    }
}

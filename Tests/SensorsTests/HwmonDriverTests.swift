import NearbyCore
import Telemetry
import Testing

@testable import Sensors

struct HwmonDriverTests {
    private let tree = SysfsTree()

    private func chip(_ number: Int, _ parent: String, _ files: [String: String]) {
        tree.device(
            "sys/devices/platform/\(parent)/hwmon/hwmon\(number)",
            as: "sys/class/hwmon/hwmon\(number)",
            files)
    }

    private func texts(_ device: String? = nil) -> [String] {
        HwmonDriver(device: device, root: tree.root).sample().map(\.text)
    }

    @Test func eachQuantityHasItsUnit() {
        chip(
            0, "board",
            [
                "name": "everything\n", "temp1_input": "21500\n", "temp1_label": "Core 0\n",
                "temp1_max": "80000\n", "temp1_crit": "90000\n", "temp10_input": "-10000\n",
                "temp2_input": "1\n", "in0_input": "12034\n", "curr1_input": "1500\n",
                "power1_average": "15123456\n", "power2_input": "2000000\n",
                "power2_average": "9\n",
                "energy1_input": "3600000000\n", "humidity1_input": "45123\n",
                "fan1_input": "1200\n", "fan1_target": "1300\n", "freq1_input": "1800000000\n",
                "pwm1": "255\n", "pwm1_enable": "0\n", "pwm2": "128\n", "pwm3": "256\n",
                "update_interval": "1000\n", "temp_input": "1\n", "fan": "1\n", "pwm": "1\n",
                "in99999_input": "1\n",
            ])
        #expect(
            texts() == [
                "everything.Core 0 Cel 21.500", "everything.temp2 Cel 0.001",
                "everything.temp10 Cel -10.000", "everything.humidity1 %RH 45.123",
                "everything.in0 V 12.034", "everything.curr1 A 1.500",
                "everything.power1 W 15.123456", "everything.power2 W 2.000000",
                "everything.energy1 J 3600.000000", "everything.fan1 1/min 1200",
                "everything.freq1 Hz 1800000000", "everything.pwm1 % 100.0",
                "everything.pwm2 % 50.2", "everything.pwm3 % null:out-of-range",
            ])
    }

    @Test func sensorsOfOneLabelAreToldApart() {
        chip(
            0, "board",
            [
                "name": "coretemp\n", "temp2_input": "40000\n", "temp2_label": "Core 0\n",
                "temp3_input": "41000\n", "temp3_label": "Core 0\n", "temp4_input": "42000\n",
                "temp4_label": "Core 0\n",
            ])
        #expect(
            texts() == [
                "coretemp.Core 0 Cel 40.000", "coretemp.Core 0.2 Cel 41.000",
                "coretemp.Core 0.3 Cel 42.000",
            ])
    }

    @Test func aFaultIsNullAndAnAlarmAChannel() {
        chip(
            0, "i2c-1/1-004c",
            [
                "name": "nct1008\n", "temp1_input": "20000\n", "temp1_fault": "0\n",
                "temp1_max_alarm": "0\n", "temp1_crit_alarm": "0\n", "temp2_input": "127000\n",
                "temp2_fault": "1\n", "temp2_max_alarm": "0\n", "temp2_crit_alarm": "1\n",
                "intrusion0_alarm": "1\n", "in0_lcrit_alarm": "0\n", "in1_alarm": "loud\n",
            ])
        #expect(
            texts() == [
                "nct1008.temp1 Cel 20.000", "nct1008.temp2 Cel null:failed",
                "nct1008.temp1.alarm 1 0", "nct1008.temp2.alarm 1 1", "nct1008.in0.alarm 1 0",
                "nct1008.in1.alarm 1 null:malformed", "nct1008.intrusion0 1 1",
            ])
    }

    @Test func whatIsSwitchedOffIsNoChannel() {
        chip(0, "x", ["name": "amd\n", "temp1_input": "20000\n", "temp1_enable": "0\n"])
        #expect(texts() == [])
        tree.write("sys/class/hwmon/hwmon0", ["temp1_enable": "1\n"])
        #expect(texts() == ["amd.temp1 Cel 20.000"])
    }

    @Test func chipsAreChosenAndOneDeadOneHurtsNobody() {
        chip(0, "i2c-1/1-0048", ["name": "lm75\n", "temp1_input": "21500\n"])
        chip(1, "i2c-1/1-0049", ["name": "lm75\n", "temp1_input": ""])
        chip(2, "w1/28-0001", ["name": "w1_slave_temp\n", "temp1_input": "20000\n"])
        #expect(
            texts() == ["lm75@1-0048.temp1 Cel 21.500", "lm75@1-0049.temp1 Cel null:failed"])
        #expect(texts("1-0048") == ["lm75.temp1 Cel 21.500"])
        #expect(texts("w1_slave_temp") == ["w1_slave_temp.temp1 Cel 20.000"])
        #expect(texts("tmp102") == ["tmp102 1 null:absent"])
    }

    @Test func whatThePartCannotMeasureIsMarked() {
        chip(0, "i2c-1/1-0048", ["name": "lm75\n", "temp1_input": "-55001\n"])
        #expect(texts() == ["lm75.temp1 Cel null:out-of-range"])
    }

    @Test func aChipThatVanishesIsNull() {
        chip(0, "i2c-1/1-0048", ["name": "lm75\n", "temp1_input": "21500\n"])
        let hwmon = HwmonDriver(device: nil, root: tree.root)
        #expect(hwmon.sample().map(\.text) == ["lm75.temp1 Cel 21.500"])
        tree.remove("sys/class/hwmon/hwmon0")
        #expect(hwmon.sample().map(\.text) == ["lm75.temp1 Cel null:absent"])
        #expect(hwmon.diagnostic == "no such chip")
    }
}

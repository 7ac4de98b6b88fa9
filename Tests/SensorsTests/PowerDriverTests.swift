import Telemetry
import Testing

@testable import Sensors

struct PowerDriverTests {
    private let tree = SysfsTree()

    private func texts(_ supply: String? = nil) -> [String] {
        PowerDriver(supply: supply, root: tree.root).sample().map(\.text)
    }

    @Test func aBatteryAndTheMainsAreRead() {
        tree.write("sys/class/power_supply/AC", ["type": "Mains\n", "online": "1\n"])
        tree.write(
            "sys/class/power_supply/BAT0",
            [
                "type": "Battery\n", "present": "1\n", "status": "Discharging\n",
                "capacity": "87\n", "voltage_now": "12043000\n", "current_now": "-1501000\n",
                "power_now": "18076543\n", "energy_now": "45000000\n", "charge_now": "3700000\n",
                "temp": "253\n", "cycle_count": "12\n", "time_to_empty_now": "7200\n",
                "health": "Good\n",
            ])
        #expect(
            texts() == [
                "power.AC.online 1 1", "power.BAT0.level %EL 87", "power.BAT0.voltage V 12.043000",
                "power.BAT0.current A -1.501000", "power.BAT0.power W 18.076543",
                "power.BAT0.energy Wh 45.000000", "power.BAT0.charge Ah 3.700000",
                "power.BAT0.temperature Cel 25.3", "power.BAT0.cycles count 12",
                "power.BAT0.time-to-empty s 7200", "power.BAT0.present 1 1",
                "power.BAT0.charging 1 -1", "power.BAT0.healthy 1 1",
            ])
        #expect(texts("AC") == ["power.AC.online 1 1"])
    }

    @Test func anEmptySlotAndWhatIsNotKnownAreNull() {
        tree.write(
            "sys/class/power_supply/BAT1",
            [
                "present": "0\n", "capacity": "0\n", "status": "Unknown\n", "health": "Dead\n",
                "voltage_now": "low\n",
            ])
        #expect(
            texts() == [
                "power.BAT1.level %EL null:absent", "power.BAT1.voltage V null:absent",
                "power.BAT1.present 1 0", "power.BAT1.charging 1 null:unspecified",
                "power.BAT1.healthy 1 0",
            ])
        #expect(texts("BAT7") == ["power.BAT7 1 null:absent"])
    }

    @Test func aSupplyThatVanishesIsNull() {
        tree.write("sys/class/power_supply/ups", ["capacity": "50\n"])
        let power = PowerDriver(supply: nil, root: tree.root)
        #expect(power.sample().map(\.text) == ["power.ups.level %EL 50"])
        #expect(power.diagnostic == "1 supply")
        tree.remove("sys/class/power_supply/ups")
        #expect(power.sample().map(\.text) == ["power.ups.level %EL null:absent"])
    }
}

struct ThermalDriverTests {
    private let tree = SysfsTree()

    private func zone(_ number: Int, _ type: String, _ temperature: String) {
        tree.device(
            "sys/devices/virtual/thermal/thermal_zone\(number)",
            as: "sys/class/thermal/thermal_zone\(number)",
            ["type": type + "\n", "temp": temperature + "\n"])
    }

    private func texts(_ zone: String? = nil) -> [String] {
        ThermalDriver(zone: zone, root: tree.root).sample().map(\.text)
    }

    @Test func eachZoneIsAChannel() {
        zone(0, "cpu-thermal", "48312")
        zone(1, "gpu-thermal", "")
        zone(2, "acpitz", "-1500")
        zone(10, "acpitz", "27800")
        #expect(
            texts() == [
                "thermal.cpu-thermal Cel 48.312", "thermal.gpu-thermal Cel null:failed",
                "thermal.acpitz@thermal_zone2 Cel -1.500",
                "thermal.acpitz@thermal_zone10 Cel 27.800",
            ])
        #expect(texts("cpu-thermal") == ["thermal.cpu-thermal Cel 48.312"])
        #expect(texts("10") == ["thermal.acpitz Cel 27.800"])
        #expect(texts("npu") == ["thermal.npu Cel null:absent"])
        let all = ThermalDriver(zone: nil, root: tree.root)
        #expect(all.diagnostic == "no such zone")
        _ = all.sample()
        #expect(all.diagnostic == "4 zones")
    }
}

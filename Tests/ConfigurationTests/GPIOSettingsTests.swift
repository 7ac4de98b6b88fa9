import Testing

@testable import Configuration

struct GPIOSettingsTests {
    private struct Missing: Error {}

    private func gpio(_ keys: String) throws -> GPIOSettings {
        let settings = Sample.decode("sensors: [{driver: gpio, \(keys)}]").settings
        guard case .gpio(let gpio) = settings?.sensors.first?.driver else { throw Missing() }
        return gpio
    }

    @Test func aDoor() throws {
        let door = try gpio(
            "pin: GPIO17, name: door, edges: both, bias: pull-up, active: low, debounce: 20ms")
        #expect(door.pin == "GPIO17" && door.chip == nil && door.line == nil)
        #expect(door.name == "door")
        #expect(door.edges == .both && door.count == nil)
        #expect(door.bias == .pullUp && door.isActiveLow)
        #expect(door.debounce == .milliseconds(20))
    }

    @Test func aRainGauge() throws {
        let rain = try gpio("pin: GPIO27, name: rain, count: falling, scale: 0.2794, unit: mm")
        #expect(rain.count == .falling && rain.edges == nil)
        #expect(rain.scale == "0.2794" && rain.unit == "mm")
        #expect(rain.rate == .hour && rain.rateUnit == nil)
        #expect(rain.bias == .asIs && !rain.isActiveLow && rain.debounce == .zero)
    }

    @Test func aPowerMeter() throws {
        let meter = try gpio(
            "chip: 0, line: 23, count: rising, scale: 0.001, unit: kWh, rate: hour, rate-unit: kW")
        #expect(meter.chip == "0" && meter.line == 23 && meter.pin == nil)
        #expect(meter.name == "0 line 23")
        #expect(meter.rateUnit == "kW")
    }

    @Test func aPlaceOnTheHeader() throws {
        let level = try gpio("pin: 11")
        #expect(level.pin == "11" && level.name == "11")
        #expect(level.edges == nil && level.count == nil)
    }

    @Test(arguments: [
        ("pin: GPIO1, count: rising, scale: much", "2:60: scale is 'much'; it must be a number"),
        ("pin: GPIO1, count: rising, scale: 1e3", "2:60: scale is '1e3'; it must be a number"),
        ("pin: GPIO1, count: rising, scale: .5", "2:60: scale is '.5'; it must be a number"),
        (
            "pin: GPIO1, count: rising, scale: 0.000",
            "2:60: scale is 0.000; it must be more than 0"
        ),
        ("pin: GPIO1, count: rising, scale: -1", "2:60: scale is -1; it must be more than 0"),
        (
            "pin: GPIO1, count: rising, scale: 1234567890.123456",
            "2:60: scale is '1234567890.123456'; it must be a number"
        ),
        (
            "pin: GPIO1, count: rising, edges: both",
            "2:60: a line is counted or its edges are told"
        ),
        ("pin: GPIO1, count: risng", "2:45: count is 'risng'; it must be one of rising, falling"),
        ("pin: GPIO1, scale: 2", "2:45: scale is for pulses; write count beside it"),
        ("pin: GPIO1, debounce: 20ms", "2:48: debounce is for edges"),
        ("pin: GPIO1, line: 4, chip: 0", "2:44: line and pin both say which line it is"),
        ("line: 4", "2:32: line needs the key chip beside it"),
        ("line: 4096, chip: 0", "2:32: line is '4096'; it must be a whole number from 0 to 1023"),
        ("chip: gpiochip0", "2:32: the gpio sensor needs the key pin, such as pin: GPIO17"),
        ("name: door", "2:11: the gpio sensor needs the key pin, such as pin: GPIO17"),
        ("pin: GPIO1, count: both, unit: l s", "2:57: unit has a space"),
        ("pin: GPIO1, bias: up", "2:44: bias is 'up'; it must be one of as-is, none, pull-up"),
    ])
    func mistakesAreToldWhereTheyAre(_ keys: String, _ message: String) {
        let mistakes = Sample.mistakes("sensors: [{driver: gpio, \(keys)}]")
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.hasPrefix(message) == true, "\(mistakes)")
    }

    @Test func twoChannelsOfOneNameAreRefused() {
        let text = """
            sensors:
              - {driver: gpio, pin: GPIO17, name: door}
              - {driver: command, run: [/bin/true], name: door}
              - {driver: gpio, pin: GPIO4}
              - {driver: gpio, pin: GPIO4, edges: both}
            """
        #expect(
            Sample.mistakes(text).map { String($0.prefix(60)) } == [
                "4:5: the channel door is read already by the sensor in line ",
                "6:5: the channel GPIO4 is read already by the sensor in line",
            ])
    }
}

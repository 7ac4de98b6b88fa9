import Testing

@testable import Configuration

struct SerialSettingsTests {
    private struct Missing: Error {}

    private func serial(_ keys: String) throws -> SerialSettings {
        let text = "sensors: [{driver: serial, device: /dev/serial0, \(keys)}]"
        guard case .serial(let serial) = Sample.decode(text).settings?.sensors.first?.driver else {
            throw Missing()
        }
        return serial
    }

    @Test func aDeviceNeedsItsPortAndWhatItSpeaks() throws {
        let dust = try serial("protocol: pms5003")
        #expect(dust.device == "/dev/serial0" && dust.spoken == .pms5003 && dust.baud == 9_600)
        #expect(dust.expiresAfter == nil && dust.name == nil && dust.pattern == nil)
        let fast = try serial("protocol: nmea, baud: 115200, expires-after: 5s, name: gps")
        #expect(fast.baud == 115_200 && fast.expiresAfter == .seconds(5) && fast.name == "gps")
    }

    @Test func aPatternsGroupsAreChannels() throws {
        let line = try serial(
            "protocol: line, pattern: 'T=([-0-9.]+) H=([0-9]+)', groups: [t Cel, h]")
        #expect(line.channels.map(\.name) == ["t", "h"])
        #expect(line.channels.map(\.unit) == ["Cel", "1"])
    }

    @Test(arguments: [
        ("protocol: pms", "protocol is 'pms'; it must be one of pms5003, pms7003, sds011"),
        ("protocol: sds011, baud: 9601", "baud is '9601'; it must be one of 1200, 2400"),
        ("protocol: nmea, pattern: '(x)'", "pattern is for protocol: line; leave it out"),
        ("protocol: line, pattern: '(', groups: [a]", "pattern is not a regular expression: "),
        ("protocol: line, pattern: '(a)(b)', groups: [a]", "pattern has 2 groups in brackets"),
        ("protocol: line, pattern: 'x'", "pattern has no group; put brackets around the number"),
        ("protocol: line, groups: [a]", "groups belong to a pattern"),
        ("protocol: line, pattern: '(x)', groups: [a b c]", "groups has 'a b c'; it must be"),
        ("protocol: line, pattern: '(x)', groups: [a], unit: V", "with a pattern the units"),
        ("protocol: line, unit: 'a b'", "unit has a space"),
        ("baud: 9600", "the serial sensor needs the key protocol"),
    ])
    func mistakesAreNamed(_ keys: String, _ message: String) {
        let text = "sensors: [{driver: serial, device: /dev/serial0, \(keys)}]"
        let mistakes = Sample.mistakes(text)
        #expect(mistakes.first?.contains(message) == true, "\(mistakes)")
    }

    @Test func aPortHasAFullPathAndOneSensor() {
        let relative = Sample.mistakes("sensors: [{driver: serial, device: ttyS0, protocol: nmea}]")
        #expect(relative == ["2:36: device must be a full path, such as /dev/serial0"])
        let port = "{driver: serial, device: /dev/serial0, protocol: nmea}"
        #expect(
            Sample.mistakes("sensors: [\(port), \(port)]").first?.contains(
                "the serial port /dev/serial0 is read already") == true)
    }
}

struct I2CSettingsTests {
    private struct Missing: Error {}

    private func i2c(_ keys: String) throws -> I2CSettings {
        let text = "sensors: [{driver: i2c, \(keys)}]"
        guard case .i2c(let i2c) = Sample.decode(text).settings?.sensors.first?.driver else {
            throw Missing()
        }
        return i2c
    }

    @Test(arguments: [
        ("vl53l0x", 0x29), ("scd4x", 0x62), ("ads1115", 0x48), ("pcf8574", 0x20),
    ])
    func eachDeviceHasItsAddress(_ device: String, _ address: Int) throws {
        let settings = try i2c("device: \(device)")
        #expect(settings.address == address && settings.bus == 1)
        #expect(try i2c("device: \(device), bus: 22, address: 0x77").address == 0x77)
        #expect(try i2c("device: \(device), bus: 22, address: 0x38").address == 0x38)
    }

    @Test func anADS1115HasInputsAndARange() throws {
        let standard = try i2c("device: ads1115")
        #expect(standard.inputs == [4, 5, 6, 7] && standard.gain == 1)
        let other = try i2c("device: ads1115, inputs: [ain0-ain1, ain3], range: 0.256")
        #expect(other.inputs == [0, 7] && other.gain == 5)
    }

    @Test(arguments: [
        ("device: bme280", "device is 'bme280'; it must be one of vl53l0x, scd4x"),
        ("device: scd4x, address: 0x7f", "address is '0x7f'; it must be 0x08 to 0x77"),
        ("device: scd4x, address: '-1'", "address is '-1'; it must be 0x08 to 0x77"),
        ("device: scd4x, inputs: [ain0]", "inputs is for device: ads1115; leave it out"),
        ("device: ads1115, inputs: [ain4]", "inputs has 'ain4'; it must be one of ain0-ain1"),
        ("device: ads1115, inputs: [ain0, ain0]", "inputs has one twice; leave it out"),
        ("device: ads1115, range: 5", "range is '5'; it must be one of 6.144"),
        ("bus: 1", "the i2c sensor needs the key device"),
    ])
    func mistakesAreNamed(_ keys: String, _ message: String) {
        let mistakes = Sample.mistakes("sensors: [{driver: i2c, \(keys)}]")
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.contains(message) == true, "\(mistakes)")
    }

    @Test func anAddressHasOneSensor() {
        let text = "sensors: [{driver: i2c, device: ads1115}, {driver: i2c, device: pcf8574, "
        #expect(Sample.mistakes(text + "address: 0x48}]").count == 1)
        #expect(Sample.mistakes(text + "address: 0x48, bus: 0}]").isEmpty)
    }
}

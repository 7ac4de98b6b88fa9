import Configuration
import Glibc
import Testing

@testable import Setup

/// What a service must be allowed, and whether a unit allows it.
struct ServiceTests {
    private func needs(
        _ lines: String, _ machine: MachineFacts = MachineFacts()
    ) throws -> ServiceNeeds {
        let text = "trust: any\n" + lines
        guard case .good(let settings) = Settings.decode(Array(text.utf8), file: "f") else {
            Issue.record("\(Settings.decode(Array(text.utf8), file: "f"))")
            throw CancellationError()
        }
        return ServiceNeeds(settings, on: machine)
    }

    private func dropIn(_ lines: String, _ machine: MachineFacts = MachineFacts()) throws -> String
    {
        ServiceDropIn(needs: try needs(lines, machine), configuration: "f").text
    }

    // MARK: Sensors and devices

    @Test(
        arguments: [
            ("{driver: gpio, pin: GPIO17}", ["char-gpiochip rw"]),
            ("{driver: i2c, device: scd4x}", ["char-89 rw"]),
            ("{driver: serial, device: /dev/ttyUSB0, protocol: nmea}", ["char-188 rw"]),
            ("{driver: serial, device: /dev/ttyACM1, protocol: nmea}", ["char-166 rw"]),
            ("{driver: serial, device: /dev/ttyAMA0, protocol: nmea}", ["char-204 rw"]),
            ("{driver: serial, device: /dev/ttyS0, protocol: nmea}", ["char-4 rw"]),
            (
                "{driver: serial, device: /dev/serial0, protocol: nmea}",
                ["char-204 rw", "char-4 rw"]
            ),
            (
                "{driver: serial, device: /dev/serial/by-id/usb-x, protocol: nmea}",
                ["char-188 rw", "char-166 rw"]
            ),
            ("{driver: serial, device: /dev/ttymxc2, protocol: nmea}", ["/dev/ttymxc2 rw"]),
            ("{driver: iio, device: mcp3008, buffer: true}", ["char-iio r"]),
            ("{driver: iio, device: bme280}", []), ("{driver: hwmon}", []),
            ("{driver: thermal}", []),
            ("{driver: w1}", []), ("{driver: power}", []), ("{driver: system}", []),
            ("{driver: ble}", []), ("{driver: command, name: x, run: [/bin/echo]}", []),
            ("{driver: replay, file: /srv/day.csv}", []),
        ] as [(String, [String])])
    func eachSensorHasItsDevices(_ sensor: String, _ devices: [String]) throws {
        #expect(try needs("sensors: [\(sensor)]").devices == devices)
    }

    @Test func aPortThatIsThereIsAllowedByItsOwnNumber() throws {
        let port = "sensors: [{driver: serial, device: /dev/gps, protocol: nmea}]"
        let machine = MachineFacts(majors: ["/dev/gps": 166])
        #expect(try needs(port, machine).devices == ["char-166 rw"])
        let text = "trust: any\n" + port.replacing("gps", with: "null")
        let outcome = Settings.decode(Array(text.utf8), file: "f")
        guard case .good(let settings) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(MachineFacts(settings).majors == ["/dev/null": 1])
    }

    @Test func severalOfAKindNeedItOnce() throws {
        let text = """
            status-led: {pin: GPIO24}
            sensors:
              - {driver: gpio, pin: GPIO17, name: a}
              - {driver: gpio, pin: GPIO27, name: b}
              - {driver: i2c, device: scd4x}
              - {driver: i2c, device: vl53l0x}
            """
        let needs = try needs(text)
        #expect(needs.devices == ["char-gpiochip rw", "char-89 rw"])
        #expect(needs.modules == ["i2c_dev"])
        #expect(try dropIn(text).contains("Wants=modprobe@i2c_dev.service\n"))
    }

    // MARK: Bluetooth

    @Test func bluetoothIsAllowedWhereItIsUsed() throws {
        let here = MachineFacts(hasBluetooth: true)
        #expect(try needs("role: relay", here).usesBluetooth)
        #expect(try !needs("role: relay").usesBluetooth)
        #expect(try !needs("role: relay\nlinks: {bluetooth: off}", here).usesBluetooth)
        #expect(try needs("role: relay\nlinks: {bluetooth: {adapter: hci0}}").usesBluetooth)
        #expect(try needs("sensors: [{driver: ble}]").usesBluetooth)
        let with = try dropIn("role: relay", here)
        #expect(with.contains("\nAmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW\n"))
        #expect(with.contains(" AF_BLUETOOTH\n"))
        let without = try dropIn("role: relay")
        #expect(!without.contains("CAP_NET_ADMIN") && !without.contains("AF_BLUETOOTH"))
        #expect(without.contains("\nAmbientCapabilities=\n"))
    }

    // MARK: Files

    @Test func filesBelowHomesAndTemporaryFoldersAreReached() throws {
        #expect(try needs("sensors: [{driver: replay, file: /home/pi/day.csv}]").readsHomes)
        #expect(
            try needs("sensors: [{driver: command, name: x, run: [/bin/sh, /root/x]}]").readsHomes)
        #expect(try needs("sensors: [{driver: system, disks: [/home]}]").readsHomes)
        #expect(try needs("sensors: [{driver: replay, file: /tmp/day.csv}]").usesTemporary)
        #expect(try !needs("sensors: [{driver: replay, file: /srv/day.csv}]").readsHomes)
    }

    @Test func foldersOfTheUsersChoiceAreWritten() throws {
        let text = """
            role: collector
            state: /srv/rivulet
            control: /run/rivulet/c.sock
            collector: {store: "/data/50% full/x.sqlite"}
            """
        #expect(try needs(text).writtenFolders == ["/srv/rivulet", "/data/50% full"])
        #expect(try dropIn(text).contains("ReadWritePaths=\"-/data/50%% full\"\n"))
        #expect(try needs("role: collector").writtenFolders == [])
    }

    @Test func lightsAndBuffersWriteToTheKernelsFiles() throws {
        let light = try dropIn("role: relay\nstatus-led: {led: ACT}")
        #expect(light.contains("\nProtectKernelTunables=no\n"))
        #expect(light.contains("ExecStartPre=-+/bin/sh -c 'chgrp rivulet /sys/class/leds/ACT/"))
        let strange = try dropIn("role: relay\nstatus-led: {led: \"a'; rm -rf x\"}")
        #expect(!strange.contains("rm -rf"))
        let buffer = try dropIn("sensors: [{driver: iio, device: adc, buffer: true}]")
        #expect(buffer.contains("DeviceAllow=char-iio r\n"))
        #expect(buffer.contains("\nProtectKernelTunables=no\n"))
        #expect(try !dropIn("sensors: [{driver: system}]").contains("ProtectKernelTunables"))
    }

    // MARK: Units

    private func directives(_ texts: String...) -> UnitDirectives {
        var directives = UnitDirectives()
        for text in texts { directives.read(text) }
        return directives
    }

    @Test func laterFilesAddAndReset() {
        let unit = directives(
            "[Unit]\nA=1\n[Service]\nA = 2\r\n# A=3\nB=x \\\n y\nC=1\n[Install]\nA=4",
            "[Service]\nA=5\nC=\n")
        #expect(unit.all("A") == ["2", "5"])
        #expect(unit.words("B") == ["x", "y"])
        #expect(unit.all("C") == [])
        #expect(unit.all("D") == nil)
    }

    private let plain = """
        [Service]
        User=rivulet
        DevicePolicy=closed
        ProtectSystem=strict
        ProtectKernelTunables=yes
        ProtectHome=yes
        PrivateTmp=yes
        RestrictAddressFamilies=AF_UNIX AF_INET
        """

    @Test func whatTheDropInGivesIsNotMissed() throws {
        let all = """
            state: /srv/rivulet
            status-led: {led: ACT}
            links: {bluetooth: {adapter: hci0}}
            sensors:
              - {driver: gpio, pin: GPIO17}
              - {driver: i2c, device: scd4x}
              - {driver: serial, device: /dev/serial0, protocol: nmea}
              - {driver: iio, device: adc, buffer: true}
              - {driver: replay, file: /home/x.csv}
              - {driver: command, name: y, run: [/tmp/x]}
            """
        let needs = try needs(all)
        #expect(needs.missing(in: directives(plain, try dropIn(all))) == [])
        #expect(
            needs.missing(in: directives(plain)) == [
                "DeviceAllow=char-gpiochip rw", "DeviceAllow=char-89 rw",
                "DeviceAllow=char-204 rw", "DeviceAllow=char-4 rw", "DeviceAllow=char-iio r",
                "RestrictAddressFamilies=AF_BLUETOOTH",
                "AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW", "ProtectKernelTunables=no",
                "ProtectHome=read-only", "PrivateTmp=no", "ReadWritePaths=/srv/rivulet",
            ])
    }

    @Test func aUnitThatKeepsNothingBackLacksNothing() throws {
        let needs = try needs(
            "links: {bluetooth: {adapter: hci0}}\nsensors: [{driver: gpio, pin: GPIO17}]")
        #expect(needs.missing(in: directives("[Service]\nUser=root\n")) == [])
    }

    @Test func aDropInForOtherSensorsLacksWhatIsNew() throws {
        let earlier = try dropIn("sensors: [{driver: gpio, pin: GPIO17}]")
        let needs = try needs(
            "sensors: [{driver: gpio, pin: GPIO17}, {driver: i2c, device: scd4x}]")
        #expect(needs.missing(in: directives(plain, earlier)) == ["DeviceAllow=char-89 rw"])
        // One without devices has a /dev of its own.
        let none = try dropIn("sensors: [{driver: system}]")
        #expect(none.contains("PrivateDevices=yes"))
        #expect(needs.missing(in: directives(plain, none)).count == 2)
    }
}

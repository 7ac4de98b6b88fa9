import Testing

@testable import Configuration

struct BLESettingsTests {
    private static let key = "231d39c1d7cc1ab1aee224cd096db932"
    private static let address = "address: \"A4:C1:38:8D:18:B2\""

    private func settings(_ keys: String) -> BLESettings? {
        guard
            case .good(let settings) = Sample.decode("sensors: [{driver: ble\(keys)}]"),
            case .ble(let ble) = settings.sensors.first?.driver
        else { return nil }
        return ble
    }

    @Test func allAreHeardWhereNoneIsNamed() throws {
        let ble = try #require(settings(""))
        #expect(ble.address == nil && ble.name == nil && ble.key == nil)
        #expect(ble.silentAfter == .seconds(900))
    }

    @Test func aSensorHasAnAddressANameAndAKey() throws {
        let ble = try #require(
            settings(", \(Self.address), name: fern, key: \(Self.key), silent-after: 1h"))
        #expect(ble.address == "A4:C1:38:8D:18:B2")
        #expect(ble.name == "fern")
        #expect(ble.key?.count == 16 && ble.key?.first == 0x23 && ble.key?.last == 0x32)
        #expect(ble.silentAfter == .seconds(3_600))
    }

    @Test func theKeyIsReadFromAFileOfItsOwner() throws {
        let folder = TemporaryFolder()
        let file = folder.write("key", " \(Self.key.uppercased())\n")
        let ble = try #require(settings(", \(Self.address), key-file: \(file)"))
        #expect(ble.key?.first == 0x23)
        let open = folder.write("open", Self.key, mode: 0o644)
        let mistakes = Sample.mistakes(
            "sensors: [{driver: ble, \(Self.address), key-file: \(open)}]")
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.contains("others can read it (0644)") == true)
    }

    @Test(arguments: [
        "key: 231d39c1d7cc1ab1aee224cd096db93", "key: 231d39c1d7cc1ab1aee224cd096db93g",
        "key: [1]", "key-file: 231d39c1d7cc1ab1aee224cd096db932",
        "key-file: 231d39c1d7cc1ab1aee224cd096db93",
        "key: 231d39c1d7cc1ab1aee224cd096db932, key-file: /etc/key", "key-file: /nowhere/key",
        "name: \"\"",
    ])
    func mistakesAreNamedAndKeysAreNot(_ keys: String) {
        let mistakes = Sample.mistakes("sensors: [{driver: ble, \(Self.address), \(keys)}]")
        #expect(mistakes.count == 1)
        #expect(mistakes.allSatisfy { !$0.contains("231d39c1") })
    }

    @Test(arguments: [
        "{driver: ble, address: \"A4:C1:38:8D:18\"}", "{driver: ble, address: A4-C1-38-8D-18-B2}",
        "{driver: ble, name: fern}", "{driver: ble, key: 231d39c1d7cc1ab1aee224cd096db932}",
        "{driver: ble, silent-after: 5s}", "{driver: ble}, {driver: ble}",
        "{driver: ble, address: \"A4:C1:38:8D:18:B2\"}, "
            + "{driver: ble, address: \"a4:c1:38:8d:18:b2\"}",
    ])
    func mistakesAreNamed(_ sensors: String) {
        #expect(Sample.mistakes("sensors: [\(sensors)]").count == 1)
    }

    @Test func withoutBluetoothNothingIsHeard() {
        let mistakes = Sample.mistakes(
            "links: {bluetooth: off}\nsensors: [{driver: system}, {driver: ble}]")
        #expect(mistakes.count == 1)
        #expect(mistakes.first?.contains("bluetooth: off") == true)
        #expect(mistakes.first?.hasPrefix("3:") == true)
    }

    @Test func oneBesideAllTheOthersIsFine() {
        guard
            case .good(let settings) = Sample.decode(
                "sensors: [{driver: ble, \(Self.address)}, {driver: ble}]")
        else {
            Issue.record("refused")
            return
        }
        #expect(settings.sensors.count == 2)
    }
}

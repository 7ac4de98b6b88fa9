import Testing

@testable import Configuration

struct BluetoothSettingsTests {
    private func settings(_ links: String) throws -> Settings {
        guard case .good(let settings) = Sample.decode("links: \(links)") else {
            throw Missing()
        }
        return settings
    }

    private struct Missing: Error {}

    @Test func leftOutItIsUsedWithoutBeingAskedFor() throws {
        for links in ["{}", "{bluetooth: auto}"] {
            let bluetooth = try settings(links).bluetooth
            #expect(bluetooth.isOn && !bluetooth.isAsked)
            #expect(bluetooth.adapter == nil && bluetooth.peers.isEmpty)
        }
    }

    @Test func eachLinkCanBeSwitchedOff() throws {
        #expect(try !settings("{bluetooth: off}").bluetooth.isOn)
        #expect(try settings("{bluetooth: off}").udp.isOn)
        #expect(try !settings("{udp: off}").udp.isOn)
        #expect(try settings("{udp: {port: 9}}").udp.isOn)
    }

    @Test func theControllerHasANameOrAnAddress() throws {
        #expect(try settings("{bluetooth: {adapter: hci1}}").bluetooth.adapter == "hci1")
        let address = "\"00:AA:01:00:00:42\""
        let bluetooth = try settings("{bluetooth: {adapter: \(address), peers: [\(address)]}}")
            .bluetooth
        #expect(bluetooth.adapter == "00:AA:01:00:00:42")
        #expect(bluetooth.peers == ["00:AA:01:00:00:42"])
        #expect(bluetooth.isOn && bluetooth.isAsked)
    }

    @Test(arguments: [
        "{bluetooth: {adapter: eth0}}", "{bluetooth: {adapter: hci65535}}",
        "{bluetooth: {adapter: \"00:AA:01:00:00:4\"}}", "{bluetooth: {peers: [\"x\"]}}",
        "{bluetooth: on}", "{bluetooth: {power: on}}", "{udp: no}",
    ])
    func mistakesAreNamed(_ links: String) {
        #expect(Sample.mistakes("links: \(links)").count == 1)
    }
}

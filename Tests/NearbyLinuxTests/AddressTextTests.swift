import NearbyCore
import NearbyLinux
import Testing

@Suite struct AddressTextTests {
    @Test(arguments: [
        ("10.0.0.5:4577", TransportAddress.ipv4(address: 0x0a00_0005, port: 4577), String?.none),
        ("[fd00::5]:1", .ipv6(high: 0xfd00_0000_0000_0000, low: 5, port: 1), nil),
        ("[fe80::1%eth0]:65535", .ipv6(high: 0xfe80_0000_0000_0000, low: 1, port: 65535), "eth0"),
        ("[::]:9", .ipv6(high: 0, low: 0, port: 9), nil),
    ])
    func textAndAddressAreTheSame(
        text: String, address: TransportAddress, interface: String?
    ) throws {
        let parsed = try AddressText(parsing: text)
        #expect(parsed.address == address)
        #expect(parsed.interface == interface)
        #expect(parsed.description == text)
    }

    @Test func aMissingPortIsFilledInOrRefused() throws {
        #expect(try AddressText(parsing: "10.0.0.5", defaultPort: 7).description == "10.0.0.5:7")
        #expect(try AddressText(parsing: "fd00::5", defaultPort: 7).description == "[fd00::5]:7")
        #expect(try AddressText(parsing: "[fd00::5]", defaultPort: 7).description == "[fd00::5]:7")
        #expect(throws: AddressText.Fault.missingPort("fd00::5")) {
            try AddressText(parsing: "fd00::5")
        }
    }

    @Test func aLinkLocalAddressNeedsItsInterface() {
        #expect(throws: AddressText.Fault.missingInterface("[fe80::1]:4577")) {
            try AddressText(parsing: "[fe80::1]:4577")
        }
    }

    @Test(arguments: ["10.0.0.5:0", "10.0.0.5:65536", "10.0.0.5:+1", "10.0.0.5:", "[::1]:x"])
    func badPortsAreRefused(text: String) {
        #expect(throws: AddressText.Fault.badPort(text)) { try AddressText(parsing: text) }
    }

    @Test(arguments: [
        "", ":", "[", "[]", "[]:1", "[::1", "[10.0.0.5]:1", "10.0.0:1", "host:1", "[::1]1",
        "10.0.0.5%e:1",
        "[fe80::1%]:1", "::1%:1",
    ])
    func whatIsNoAddressIsRefused(text: String) {
        #expect(throws: AddressText.Fault.notAnAddress(text)) { try AddressText(parsing: text) }
    }

    @Test func scopesAreKnownFromTheAddress() {
        #expect(TransportAddress.ipv6(high: 0xfe80 << 48, low: 1, port: 0).isLinkScoped)
        #expect(TransportAddress.ipv6(high: 0xfebf << 48, low: 1, port: 0).isLinkScoped)
        #expect(!TransportAddress.ipv6(high: 0xfec0 << 48, low: 1, port: 0).isLinkScoped)
        #expect(!TransportAddress.ipv6(high: 0xfd00 << 48, low: 1, port: 0).isLinkScoped)
        #expect(BeaconGroups.ipv6.isLinkScoped)
        #expect(BeaconGroups.ipv6.isMulticast)
        #expect(BeaconGroups.ipv4.isMulticast)
        #expect(BeaconGroups.broadcast.isMulticast)
        #expect(!TransportAddress.ipv4(address: 0x0a00_00ff, port: 0).isMulticast)
    }

    @Test func theGroupsReadAsDocumented() {
        #expect(AddressText(address: BeaconGroups.ipv4).description == "239.255.114.118:24577")
        #expect(AddressText(address: BeaconGroups.ipv6).description == "[ff12::7276:6c74]:24577")
    }
}

import Glibc
import NearbyCore
import Testing

@testable import NearbyLinux

@Suite struct NetlinkTests {
    @Test func aLinkAndItsAddressesAreRead() throws {
        var table = InterfaceTable { $0 == "wlan0" ? .wifi : .ethernet }
        apply(link("wlan0", index: 3), to: &table)
        apply(address([10, 0, 0, 5], index: 3), to: &table)
        apply(address([0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1], index: 3), to: &table)
        let interface = try #require(table.interfaces.first)
        #expect(interface.link == LinkID(value: 3))
        #expect(interface.name == "wlan0")
        #expect(interface.linkClass == .wifi)
        #expect(interface.mtu == 1500)
        #expect(interface.isRunning)
        #expect(interface.hasBroadcast)
        #expect(
            interface.addresses == [
                .ipv4(address: 0x0a00_0005, port: 0), .ipv6(high: 0xfe80 << 48, low: 1, port: 0),
            ])
    }

    @Test func anAddressStillBeingCheckedIsNotUsedYet() {
        var table = InterfaceTable { _ in .ethernet }
        apply(link("eth0", index: 2), to: &table)
        let host = [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
        apply(address(host, index: 2, flags: 0x40), to: &table)
        #expect(table.interfaces[0].addresses == [])
        apply(address(host, index: 2, flags: 0x80), to: &table)
        #expect(table.interfaces[0].addresses.count == 1)
        apply(address(host, index: 2, type: 21), to: &table)
        #expect(table.interfaces[0].addresses == [])
    }

    @Test func leavingABridgeIsNotLeavingTheMachine() {
        var table = InterfaceTable { _ in .ethernet }
        apply(link("eth0", index: 2), to: &table)
        apply(link("eth0", index: 2, family: UInt8(AF_BRIDGE), type: 17), to: &table)
        #expect(table.interfaces.count == 1)
        apply(link("eth0", index: 2, type: 17), to: &table)
        #expect(table.interfaces.isEmpty)
    }

    @Test func everyTruncationAndBitFlipIsHarmless() {
        let whole = link("eth0", index: 2) + address([10, 0, 0, 5], index: 2)
        for count in 0...whole.count {
            var table = InterfaceTable { _ in .ethernet }
            apply(Array(whole.prefix(count)), to: &table)
        }
        for bit in 0..<whole.count * 8 {
            var flipped = whole
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            var table = InterfaceTable { _ in .ethernet }
            apply(flipped, to: &table)
        }
    }

    @Test func interfacesAndAddressesAreBounded() {
        var table = InterfaceTable { _ in .ethernet }
        for index in 1...UInt32(Limits.interfacesMax + 10) {
            apply(link("e\(index)", index: index), to: &table)
        }
        #expect(table.interfaces.count == Limits.interfacesMax)
        for last in 0...UInt8(Limits.interfaceAddressesMax + 10) {
            apply(address([10, 0, 0, last], index: 1), to: &table)
        }
        #expect(table.interfaces[0].addresses.count == Limits.interfaceAddressesMax)
    }

    private func apply(_ bytes: [UInt8], to table: inout InterfaceTable) {
        for message in NetlinkMessage.all(in: bytes) { table.apply(message) }
    }
}

@Suite struct InterfaceSelectionTests {
    @Test func interfacesThatLeadToNoNeighboursAreLeftOut() {
        var tunnel = interface("hop0", index: 7)
        tunnel.isTunnel = true
        var port = interface("eth1", index: 8)
        port.isEnslaved = true
        let all = [
            loopback, interface("eth0", index: 2), interface("docker0", index: 3),
            interface("br-1f2e", index: 4), interface("veth12ab", index: 5),
            interface("tun0", index: 6),
            tunnel, port, interface("wlan0", index: 9), interface("br0", index: 10),
        ]
        #expect(names(InterfaceSelection().usable(all)) == ["br0", "eth0", "wlan0"])
    }

    @Test func namedInterfacesAreUsedAndNoOthers() {
        let all = [loopback, interface("eth0", index: 2), interface("docker0", index: 3)]
        #expect(names(InterfaceSelection(names: ["docker0"]).usable(all)) == ["docker0"])
        #expect(names(InterfaceSelection(names: ["lo", "eth0"]).usable(all)) == ["eth0", "lo"])
        #expect(names(InterfaceSelection(names: ["eth9"]).usable(all)) == [])
    }

    @Test func datagramsPassOverNamedInterfacesAndLoopbackOnly() {
        var down = interface("wlan0", index: 3)
        down.isRunning = false
        let all = [loopback, interface("eth0", index: 2), down, interface("eth1", index: 4)]
        let links = InterfaceSelection(names: ["eth0", "wlan0"]).configured(all)
        #expect(links == [LinkID(value: 1), LinkID(value: 2), LinkID(value: 3)])
        #expect(InterfaceSelection(names: ["eth9"]).configured(all) == [LinkID(value: 1)])
        #expect(InterfaceSelection().configured(all) == nil)
    }

    @Test func loopbackServesWhereThereIsNothingElse() {
        #expect(names(InterfaceSelection().usable([loopback])) == ["lo"])
        #expect(
            names(InterfaceSelection().usable([loopback, interface("docker0", index: 3)])) == ["lo"]
        )
        var down = interface("wlan0", index: 2)
        down.isRunning = false
        #expect(names(InterfaceSelection().usable([loopback, down])) == [])
    }

    @Test func withoutCarrierOrAddressALinkIsNotUsed() {
        var silent = interface("eth0", index: 2)
        silent.isRunning = false
        var bare = interface("eth1", index: 3)
        bare.addresses = []
        #expect(InterfaceSelection().usable([silent, bare]).isEmpty)
    }

    private var loopback: Interface {
        var interface = interface("lo", index: 1)
        interface.isLoopback = true
        return interface
    }

    private func interface(_ name: String, index: UInt32) -> Interface {
        Interface(
            link: LinkID(value: index), name: name, linkClass: .ethernet, mtu: 1500,
            isRunning: true,
            isLoopback: false, hasBroadcast: true, isEnslaved: false, isTunnel: false,
            addresses: [.ipv4(address: index, port: 0)])
    }

    private func names(_ links: [LinkID: Interface]) -> [String] {
        links.values.map(\.name).sorted()
    }
}

// What the kernel sends, in host order.

private func native<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value) { Array($0) }
}

private func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
    let padding = [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
    return native(UInt16(4 + value.count)) + native(type) + value + padding
}

private func message(_ type: UInt16, _ body: [UInt8]) -> [UInt8] {
    native(UInt32(16 + body.count)) + native(type) + native(UInt16(0)) + native(UInt64(0)) + body
}

/// RTM_NEWLINK (16) or RTM_DELLINK (17) of an Ethernet interface that is up and running.
private func link(
    _ name: String, index: UInt32, family: UInt8 = 0, type: UInt16 = 16
) -> [UInt8] {
    var body: [UInt8] = [family, 0]
    body += native(UInt16(1))
    body += native(index)
    body += native(UInt32(0x1_1043))
    body += native(UInt32(0))
    body += attribute(3, Array(name.utf8) + [0])
    body += attribute(4, native(UInt32(1500)))
    return message(type, body)
}

/// RTM_NEWADDR (20) or RTM_DELADDR (21).
private func address(
    _ host: [UInt8], index: UInt32, flags: UInt32 = 0x80, type: UInt16 = 20
) -> [UInt8] {
    let family = UInt8(host.count == 4 ? AF_INET : AF_INET6)
    let header = [family, 24, UInt8(flags & 0xff), 0] + native(index)
    return message(type, header + attribute(1, host) + attribute(8, native(flags)))
}

import NearbyCore
import NearbyLinux
import Testing

@Suite(.enabled(if: isRoot, needsRoot)) struct NamespaceTests {
    @Test func linksComeAndGoWithTheirCable() throws {
        let (here, there) = (try Namespace("links-a"), try Namespace("links-b"))
        let monitor = try here.inside { try InterfaceMonitor() }
        #expect(try monitor.reload() == [])
        try here.link("set lo up")
        #expect(try names(of: monitor, count: 1) == ["up lo"])
        try here.connect(to: there)
        #expect(try settled(monitor).map(\.name) == ["lan0"])
        let lan = try #require(monitor.usable.first)
        #expect(lan.addresses.contains(.ipv4(address: 0x0a4d_0001, port: 0)))
        #expect(lan.hasBroadcast)
        #expect(lan.linkClass == .ethernet)
        #expect(monitor.link(having: .ipv4(address: 0x0a4d_0001, port: 9)) == lan.link)
        try there.link("set lan0 down")
        #expect(try names(of: monitor, count: 1) == ["down lan0"])
        try there.link("set lan0 up")
        #expect(try names(of: monitor, count: 1).first == "up lan0")
        try here.link("delete lan0")
        #expect(try names(of: monitor, count: 2) == ["down lan0", "up lo"])
        try here.connect(to: there)
        #expect(try settled(monitor).first.map { $0.link != lan.link } == true)
    }

    @Test func changesThatFoundNoRoomAreFoundByAskingAgain() throws {
        let (here, there) = (try Namespace("flood-a"), try Namespace("flood-b"))
        try here.connect(to: there)
        let monitor = try here.inside { try InterfaceMonitor() }
        _ = try monitor.reload()
        #expect(try settled(monitor).map(\.name) == ["lan0"])
        var batch = ""
        for _ in 0..<3_000 { batch += "link set lan0 mtu 1400\nlink set lan0 mtu 1500\n" }
        try here.batch(batch + "link delete lan0\n")
        #expect(try names(of: monitor, count: 1) == ["down lan0"])
        #expect(try monitor.receive() == [])
        #expect(monitor.interfaces.map(\.name) == ["lo"])
    }

    @Test func beaconsAreHeardOverBothVersionsAndAnsweredByUnicast() throws {
        let (here, there) = (try Namespace("beacon-a"), try Namespace("beacon-b"))
        try here.connect(to: there)
        let (one, other) = (try Station(here), try Station(there))
        try one.update()
        try other.update()
        #expect(one.transport.multicast([1, 2, 3], on: one.lan))
        let heard = try [other.beaconInbox.next(), other.beaconInbox.next()].map {
            try #require($0)
        }
        for datagram in heard {
            #expect(datagram.bytes == [1, 2, 3])
            #expect(datagram.isMulticast)
            #expect(datagram.source.link == other.lan)
            #expect(datagram.source.address.port == one.transport.port)
            #expect(other.transport.send([9], to: datagram.source) == .sent)
            let answer = try #require(one.dataInbox.next())
            #expect(answer.bytes == [9])
            #expect(!answer.isMulticast)
            #expect(answer.source.address.port == other.transport.port)
        }
        #expect(Set(heard.map { isIPv6($0.source.address) }) == [true, false])
    }

    @Test func anIPv4BroadcastIsHeardWithoutAnyGroup() throws {
        let (here, there) = (try Namespace("cast-a"), try Namespace("cast-b"))
        try here.connect(to: there)
        let (one, other) = (try Station(here), try Station(there))
        try one.update()
        #expect(one.transport.broadcast([4], on: one.lan) == .sent)
        let heard = try #require(other.beaconInbox.next())
        #expect(heard.bytes == [4])
        #expect(heard.isMulticast)
        #expect(heard.destination == .ipv4(address: .max, port: 0))
    }

    @Test func aLinkThatWasDeletedAndMadeAgainIsHeardAgain() throws {
        let (here, there) = (try Namespace("again-a"), try Namespace("again-b"))
        try here.connect(to: there)
        let (one, other) = (try Station(here), try Station(there))
        try one.update()
        try other.update()
        let old = other.lan
        try here.link("delete lan0")
        #expect(try eventually { try other.update() && other.monitor.usable.isEmpty })
        #expect(other.beacons.links.isEmpty)
        #expect(!one.transport.multicast([1], on: one.lan))
        try here.connect(to: there)
        try one.update()
        try other.update()
        #expect(other.lan != old)
        #expect(one.transport.multicast([2], on: one.lan))
        let versions = [other.beaconInbox.next(), other.beaconInbox.next()]
        #expect(Set(versions.compactMap { $0.map { isIPv6($0.source.address) } }) == [true, false])
        #expect(versions.allSatisfy { $0?.bytes == [2] })
    }

    @Test func carrierThatComesBackIsJoinedAnew() throws {
        let (here, there) = (try Namespace("carrier-a"), try Namespace("carrier-b"))
        try here.connect(to: there)
        let (one, other) = (try Station(here), try Station(there))
        try one.update()
        try other.update()
        try there.run("sh -c 'echo 1 > /proc/sys/net/ipv6/conf/lan0/disable_ipv6'")
        try there.link("set lan0 down")
        try there.run("sh -c 'echo 0 > /proc/sys/net/ipv6/conf/lan0/disable_ipv6'")
        try there.link("set lan0 up")
        try one.update()
        try other.update()
        #expect(one.transport.multicast([3], on: one.lan))
        let versions = [other.beaconInbox.next(), other.beaconInbox.next()]
        #expect(Set(versions.compactMap { $0.map { isIPv6($0.source.address) } }) == [true, false])
    }

    @Test func agentsOfOneHostReachEachOtherOnTheLinkTheyNamed() throws {
        let (here, there) = (try Namespace("host-a"), try Namespace("host-b"))
        try here.link("set lo up")
        try here.connect(to: there)
        let (one, other) = (try Station(here), try Station(here))
        try one.update()
        try other.update()
        #expect(one.transport.multicast([5], on: one.lan))
        for _ in 0..<2 {
            let heard = try #require(other.beaconInbox.next())
            #expect(heard.source.link == other.lan)
            #expect(other.transport.send([6], to: heard.source) == .sent)
            let answer = try #require(one.dataInbox.next())
            #expect(answer.bytes == [6])
            #expect(answer.source.link == one.lan)
        }
    }

    @Test func theRouteTellsTheLinkOfAStaticAddress() throws {
        let (here, there) = (try Namespace("route-a"), try Namespace("route-b"))
        try here.connect(to: there)
        let station = try Station(here)
        try station.update()
        let (link, unknown) = try here.inside {
            (
                station.monitor.link(toward: .ipv4(address: 0x0a4d_0002, port: 1)),
                station.monitor.link(toward: .ipv4(address: 0x0102_0304, port: 1))
            )
        }
        #expect(link == station.lan)
        #expect(unknown == nil)
        #expect(station.monitor.link(named: "lan0") == station.lan)
        #expect(station.monitor.link(named: "\(station.lan.value)") == station.lan)
        #expect(station.monitor.link(named: "lan1") == nil)
    }

    private func isIPv6(_ address: TransportAddress) -> Bool {
        if case .ipv6 = address { true } else { false }
    }

    /// The next events, as words.
    private func names(of monitor: InterfaceMonitor, count: Int) throws -> [String] {
        var words: [String] = []
        _ = try eventually {
            for event in try monitor.receive() {
                switch event {
                case .up(let interface): words.append("up \(interface.name)")
                case .down(let interface): words.append("down \(interface.name)")
                case .changed: break
                }
            }
            return words.count >= count
        }
        return words
    }

    /// The links in use once `lan0` has both of its addresses.
    private func settled(_ monitor: InterfaceMonitor) throws -> [Interface] {
        _ = try eventually {
            _ = try monitor.receive()
            return monitor.usable.contains { $0.name == "lan0" && $0.addresses.count == 2 }
        }
        return monitor.usable
    }
}

/// The sockets of one agent, wired as a program wires them.
private final class Station {
    let monitor: InterfaceMonitor
    let transport: UDPTransport
    let beacons: BeaconSocket
    let dataInbox: Inbox
    let beaconInbox: Inbox

    init(_ namespace: Namespace) throws {
        (monitor, transport, beacons) = try namespace.inside {
            (try InterfaceMonitor(), try UDPTransport(), try BeaconSocket())
        }
        dataInbox = Inbox(transport)
        beaconInbox = Inbox(beacons)
        follow(try monitor.reload())
    }

    var lan: LinkID { monitor.usable.first { $0.name == "lan0" }?.link ?? LinkID(value: 0) }

    /// Takes what has changed, until lan0 has both of its addresses (or is gone).
    @discardableResult
    func update() throws -> Bool {
        try eventually(within: .seconds(4)) {
            follow(try monitor.receive())
            let lan = monitor.usable.first { $0.name == "lan0" }
            let isGone = !monitor.interfaces.contains { $0.name == "lan0" }
            return isGone || lan?.addresses.count == 2
        }
    }

    private func follow(_ events: [InterfaceEvent]) {
        for event in events {
            switch event {
            case .up(let interface), .changed(let interface): beacons.join(interface.link)
            case .down(let interface): beacons.leave(interface.link)
            }
        }
    }
}
